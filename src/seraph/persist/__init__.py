"""Models on disk: files without pickle, ONNX graphs, and the learned map as a matrix."""

from .._utils._public import publish as _publish
from ._matrix import export, to_matrix
from ._model_files import load, read_versions, save
from ._onnx import to_onnx
from ._trusted import TRUSTED
from ._write import write_whole

__all__ = [
    "TRUSTED",
    "export",
    "load",
    "read_versions",
    "save",
    "to_matrix",
    "to_onnx",
    "write_whole",
]

_publish(globals())
