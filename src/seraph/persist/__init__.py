"""Models on disk: files without pickle, and ONNX graphs."""

from .._public import publish as _publish
from ._model_files import load, read_versions, save
from ._onnx import to_onnx
from ._trusted import TRUSTED

__all__ = ["TRUSTED", "load", "read_versions", "save", "to_onnx"]

_publish(globals())
