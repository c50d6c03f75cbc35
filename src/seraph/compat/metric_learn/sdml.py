"""Where metric-learn's users look for `SDML`."""

from ..._utils._public import publish as _publish
from ._sdml import SDML, SDML_Supervised

__all__ = ["SDML", "SDML_Supervised"]

_publish(globals())
