"""Relevant component analysis, of chunks and of classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ... import classic
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ...classic._definite import power
from ._inputs import PointLearner
from ._starts import RIDGE, checked_components
from .constraints import Constraints, known_codes

__all__ = ["RCA", "RCA_Supervised"]


class RCA(PointLearner, arguments="n_components=None, preprocessor=None"):
    """Relevant component analysis of chunks, by `seraph.classic.RCA`."""

    def fit(self, X: Any, chunks: Any) -> Self:
        """Learn the metric."""
        return super().fit(X, chunks)

    def _learn(self, points: Array, chunks: Array) -> Self:
        chunks = np.asarray(chunks).astype(int)
        in_chunks = chunks != -1  # the other rows are not used, as in metric-learn
        _, chunk, sizes = np.unique(chunks[in_chunks], return_inverse=True, return_counts=True)
        if not (sizes > 1).any():
            raise ValueError(
                "No number is in chunks twice (-1 is none): RCA learns from points that belong "
                "together. Give them one number."
            )
        points, d = points[in_chunks], checked_components(self.n_components, points.shape[1])
        try:
            learned = classic.RCA(n_components=d, ridge=0.0).fit(points, chunk)
        except ValueError:  # the scatter is singular
            learned = classic.RCA(n_components=d, ridge=RIDGE).fit(points, chunk)
            warn(
                "The scatter within the chunks has no inverse. A millionth of the mean variance "
                "is added to it; drop features that depend on others, or pass more chunks."
            )
        # metric-learn divides the scatter by all rows; a chunk of one row adds none to it.
        P = np.sqrt(len(chunk) / sizes[sizes > 1].sum()) * learned.components_
        return self._adopt(P if d < points.shape[1] else power(P.T @ P, 0.5))


class RCA_Supervised(  # noqa: N801
    RCA,
    arguments="n_components=None, n_chunks=100, chunk_size=2, preprocessor=None, "
    "random_state=None",
    example="n_chunks=30",
):
    """Relevant component analysis of sampled chunks, by `seraph.classic.RCA`."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric."""
        return super().fit(X, y)

    def _prepared(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return points, and the numbers of sampled chunks."""
        points, y = self._points(X, y)
        check_number("n_chunks", self.n_chunks, low=1, integer=True)
        check_number("chunk_size", self.chunk_size, low=1, integer=True)
        check_classification_targets(y)
        sampler = Constraints(known_codes(y))
        return points, sampler.chunks(self.n_chunks, self.chunk_size, self.random_state)
