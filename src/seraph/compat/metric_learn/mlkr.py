"""Metric learning for kernel regression."""

from __future__ import annotations

from typing import Any

from ... import classic
from ._inputs import Descent
from ._parameters import LAST

__all__ = ["MLKR"]


class MLKR(Descent, arguments=f"n_components=None, init='auto', tol=None, max_iter=1000, {LAST}"):
    """Metric learning for kernel regression, by `seraph.classic.MLKR`."""

    _solver = classic.MLKR

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points and numbers."""
        return self._points(X, y, y_numeric=True)
