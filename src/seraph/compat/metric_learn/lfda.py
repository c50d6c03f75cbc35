"""Where metric-learn's users look for `LFDA`."""

from ..._utils._public import publish as _publish
from ._lfda import LFDA

__all__ = ["LFDA"]

_publish(globals())
