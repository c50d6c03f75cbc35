"""Where metric-learn's users look for `LSML`."""

from ..._utils._public import publish as _publish
from ._lsml import LSML, LSML_Supervised

__all__ = ["LSML", "LSML_Supervised"]

_publish(globals())
