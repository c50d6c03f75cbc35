"""Where metric-learn's users look for `Constraints`."""

from ..._utils._public import publish as _publish
from ._constraints import Constraints, wrap_pairs

__all__ = ["Constraints", "wrap_pairs"]

_publish(globals())
