"""Where metric-learn's users look for `MLKR`."""

from ..._utils._public import publish as _publish
from ._mlkr import MLKR

__all__ = ["MLKR"]

_publish(globals())
