"""Models on disk: files without pickle, ONNX graphs, and the learned map as a matrix."""

from .._utils._public import publish as _publish
from ._matrix import export, to_matrix
from ._model_files import TRUSTED, load, save
from ._onnx import to_onnx

__all__ = [
    "TRUSTED",
    "export",
    "load",
    "save",
    "to_matrix",
    "to_onnx",
]

_publish(globals())
