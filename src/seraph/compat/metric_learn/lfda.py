"""Local Fisher discriminant analysis."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import eigh

from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ..._utils._warnings import warn
from ._base_metric import LabeledLearner
from ._starts import checked_components

__all__ = ["LFDA"]


def __dir__() -> list[str]:
    return __all__


# Share of the mean variance that makes a singular scatter invertible.
_RIDGE = 1e-6


class LFDA(LabeledLearner):
    """Local Fisher discriminant analysis, as in metric-learn.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    k : int, optional
        The neighbor whose distance is the scale of a point; at most 7, and fewer than there
        are features, if None.
    embedding_type : {"weighted", "orthonormalized", "plain"}, default="weighted"
        How the eigenvectors are scaled.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map.

    Examples
    --------
    >>> from seraph.compat.metric_learn import LFDA
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LFDA(n_components=2).fit(X, y).transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        n_components: int | None = None,
        k: int | None = None,
        embedding_type: str = "weighted",
        preprocessor: Any = None,
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.embedding_type = embedding_type
        super().__init__(preprocessor)

    def _learn(self, points: Array, codes: Array) -> Self:
        embeddings = ("weighted", "orthonormalized", "plain")
        check_choice("embedding_type", self.embedding_type, embeddings)
        m = points.shape[1]
        d = checked_components(self.n_components, m)
        check_number("k", self.k, low=1, integer=True, instead=None)
        if self.k is not None and self.k >= m:
            warn(f"k={self.k} is too large for {m} features: {m - 1} is used.")
        k = max(1, min(7 if self.k is None else self.k, m - 1))
        between, within = _scatters(points.astype(float) - points.mean(axis=0), codes, k)
        values, vectors = _leading(between, within, d)
        if self.embedding_type == "weighted":
            vectors = vectors * np.sqrt(np.maximum(values, 0.0))
        elif self.embedding_type == "orthonormalized":
            vectors = np.linalg.qr(vectors)[0]
        return self._adopt(vectors.T)


def _scatters(Z: Array, codes: Array, k: int) -> tuple[Array, Array]:
    """Return the scatters between and within classes, as metric-learn computes them.

    It differs from the paper (and `seraph.classic.LFDA`) in two places, which are kept: the scale
    of a point is the k-th entry of its row where the *columns* of distances are partitioned, and
    the scatter within is added to the one between, not subtracted.
    """
    n, m = Z.shape
    between, within = np.zeros((m, m)), np.zeros((m, m))
    for code in range(int(codes.max()) + 1):
        own = Z[codes == code]
        norms = np.einsum("ij,ij->i", own, own)
        squared = np.maximum(norms[:, np.newaxis] + norms - 2.0 * own @ own.T, 0.0)
        np.fill_diagonal(squared, 0.0)
        k = min(k, len(own) - 1)  # and stays so for the classes that follow
        scales = np.sqrt(np.partition(squared, k, axis=0)[:, k])
        products = np.outer(scales, scales)
        affinity = np.exp(
            -np.divide(squared, products, out=np.full_like(squared, np.inf), where=products > 0.0)
        )
        local = own.T @ (affinity.sum(axis=0)[:, np.newaxis] * own) - own.T @ affinity @ own
        total = own.sum(axis=0)
        between += local / n + (1.0 - len(own) / n) * own.T @ own + np.outer(total, total) / n
        within += local / len(own)
    between += within  # (the points are centered)
    return (between + between.T) / 2.0, (within + within.T) / 2.0


def _leading(between: Array, within: Array, d: int) -> tuple[Array, Array]:
    """Return the largest generalized eigenvalues and their vectors, as columns."""
    m = len(within)
    try:
        values, vectors = eigh(between, within)
    except np.linalg.LinAlgError:
        # Where no class has any spread, a share of that of all points keeps the map in bounds.
        spread = max(np.trace(within), _RIDGE * np.trace(between)) / m
        values, vectors = eigh(between, within + (_RIDGE * spread or 1.0) * np.eye(m))
    return values[::-1][:d], vectors[:, ::-1][:, :d]
