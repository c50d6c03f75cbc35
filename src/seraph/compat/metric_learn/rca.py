"""Where metric-learn's users look for `RCA`."""

from ..._utils._public import publish as _publish
from ._rca import RCA, RCA_Supervised

__all__ = ["RCA", "RCA_Supervised"]

_publish(globals())
