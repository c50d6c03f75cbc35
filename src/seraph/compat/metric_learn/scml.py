"""Where metric-learn's users look for `SCML`."""

from ..._utils._public import publish as _publish
from ._scml import SCML, SCML_Supervised

__all__ = ["SCML", "SCML_Supervised"]

_publish(globals())
