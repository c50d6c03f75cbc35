"""From checked points and labels to a learned metric."""

from ._callback import FitState

__all__ = ["FitState"]
