"""The errors of metric-learn, where its users look for them."""

from ..._utils._public import publish as _publish
from ._exceptions import NonPSDError, PreprocessorError

__all__ = ["NonPSDError", "PreprocessorError"]

_publish(globals())
