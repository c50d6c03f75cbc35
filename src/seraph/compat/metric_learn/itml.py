"""Where metric-learn's users look for `ITML`."""

from ..._utils._public import publish as _publish
from ._itml import ITML, ITML_Supervised

__all__ = ["ITML", "ITML_Supervised"]

_publish(globals())
