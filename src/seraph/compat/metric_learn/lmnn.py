"""Where metric-learn's users look for `LMNN`."""

from ..._utils._public import publish as _publish
from ._lmnn import LMNN

__all__ = ["LMNN"]

_publish(globals())
