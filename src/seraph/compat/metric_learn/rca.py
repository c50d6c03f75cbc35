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
from ._base_metric import PointLearner
from ._starts import RIDGE, checked_components
from .constraints import Constraints, known_codes

__all__ = ["RCA", "RCA_Supervised"]


class _BaseRCA(PointLearner):
    def __init__(self, n_components: int | None = None, preprocessor: Any = None) -> None:
        self.n_components = n_components
        super().__init__(preprocessor)

    def _learn(self, points: Array, chunks: Array) -> Self:
        in_chunks = chunks != -1  # the other rows are not used, as in metric-learn
        if not in_chunks.any():
            raise ValueError(
                "All chunks are -1, none: RCA learns from points that belong together."
            )
        points, chunks = points[in_chunks], chunks[in_chunks]
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        try:
            learned = classic.RCA(n_components=d, ridge=0.0).fit(points, chunks)
        except ValueError:  # the scatter is singular
            learned = classic.RCA(n_components=d, ridge=RIDGE).fit(points, chunks)
            warn(
                "The scatter within the chunks has no inverse. A millionth of the mean variance "
                "is added to it; drop features that depend on others, or pass more chunks."
            )
        if d < m:
            return self._adopt(learned.components_)
        return self._adopt(power(learned.get_mahalanobis_matrix(), 0.5))


class RCA(_BaseRCA):
    """Relevant component analysis of chunks, by `seraph.classic.RCA`.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import RCA
    >>> X = [[0.0, 1.0], [0.1, 5.0], [3.0, 4.0], [3.2, 0.0], [1.5, 2.0]]
    >>> RCA().fit(X, [0, 0, 1, 1, -1]).transform(X).shape
    (5, 2)
    """

    def fit(self, X: Any, chunks: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        chunks : array-like of int of shape (n_samples,)
            Number of each point's chunk; -1 for none.
        """
        points, chunks = self._points(X, chunks)
        return self._learn(points, np.asarray(chunks).astype(int))


class RCA_Supervised(_BaseRCA):  # noqa: N801
    """Relevant component analysis of sampled chunks.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    n_chunks : int, default=100
        Number of chunks to sample.
    chunk_size : int, default=2
        Number of points in a chunk.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled chunks.

    Examples
    --------
    >>> from seraph.compat.metric_learn import RCA_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RCA_Supervised(n_chunks=30, random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        n_components: int | None = None,
        n_chunks: int = 100,
        chunk_size: int = 2,
        preprocessor: Any = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_components, preprocessor)
        self.n_chunks = n_chunks
        self.chunk_size = chunk_size
        self.random_state = random_state

    def _learn_labels(self, points: Array, y: Array) -> Self:
        check_number("n_chunks", self.n_chunks, low=1, integer=True)
        check_number("chunk_size", self.chunk_size, low=1, integer=True)
        check_classification_targets(y)
        sampler = Constraints(known_codes(y))
        chunks = sampler.chunks(self.n_chunks, self.chunk_size, self.random_state)
        return self._learn(points, chunks)
