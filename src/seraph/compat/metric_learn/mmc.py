"""Where metric-learn's users look for `MMC`."""

from ..._utils._public import publish as _publish
from ._mmc import MMC, MMC_Supervised

__all__ = ["MMC", "MMC_Supervised"]

_publish(globals())
