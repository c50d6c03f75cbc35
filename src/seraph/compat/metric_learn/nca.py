"""Where metric-learn's users look for `NCA`."""

from ..._utils._public import publish as _publish
from ._nca import NCA

__all__ = ["NCA"]

_publish(globals())
