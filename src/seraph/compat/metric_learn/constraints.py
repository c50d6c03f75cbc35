"""Where metric-learn's users look for `Constraints`."""

from ._constraints import Constraints

__all__ = ["Constraints"]
