"""Sums of a function of the distances of labeled pairs under a factor of the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._marks import PairLabels
from .._utils._typing import Array
from ._scatter import FEW_ROWS, DistanceTerm, PairSums

# A list of differences has at most so many numbers of so many features: sweeping more is faster.
_MOST_LISTED, _MOST_FEATURES = 1 << 16, 20
# Of many rows, each has so many partners for each feature, and at most so many. Chosen on the sets
# of benchmarks/evidence that are for choosing, and on some of their features.
_PER_FEATURE, _MOST_PARTNERS = 4, 16


@dataclass(frozen=True)
class Differences:
    """Differences of the points of labeled pairs.

    Parameters
    ----------
    array : ndarray of shape (m, l)
        A column for each pair.
    similar : ndarray of bool of shape (l,) or None
        Which pairs are similar; None if none is.
    n_each : float
        Number of pairs that each stands for.
    """

    array: Array
    similar: Array | None
    n_each: float

    @staticmethod
    def are_few(labels: PairLabels, n_features: int) -> bool:
        """Say whether a list of the labeled pairs, or of a sample of them, would be short."""
        n = labels.n_labeled_rows
        return (
            len(labels.pairs) == 0
            and n_features <= _MOST_FEATURES
            and n * _n_steps(n, n_features) * n_features <= _MOST_LISTED
        )

    @classmethod
    def of(cls, X: Array, codes: Array, *, dissimilar: bool = False) -> Differences:
        """List the differences of the pairs of points of known class, or of a sample.

        In the sample, each row is paired with those at some distances from it in the order of the
        classes, as on a circle: this spreads its partners over the classes.

        Parameters
        ----------
        X : ndarray of shape (n, m)
            Points.
        codes : ndarray of int of shape (n,)
            Their class codes, in order.
        dissimilar : bool, default=False
            Whether to leave out the similar pairs.

        Examples
        --------
        >>> import numpy as np
        >>> found = Differences.of(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 1]))
        >>> found.array.tolist(), found.similar.tolist()
        ([[-1.0, -5.0, -4.0]], [True, False, False])
        """
        n, m = X.shape
        features = np.ascontiguousarray(X.T)
        if n <= FEW_ROWS:
            above = codes[:, np.newaxis] < codes if dissimilar else ~np.tri(n, dtype=bool)
            i, j = np.nonzero(above)
            found = features.take(i, axis=1) - features.take(j, axis=1)
            return cls(found, None if dissimilar else codes.take(i) == codes.take(j), 1.0)
        n_steps = _n_steps(n, m)
        steps = np.arange(1, 2 * n_steps, 2) * (n - 1) // (4 * n_steps)
        partners = np.arange(-n, 0) + steps[:, np.newaxis]  # numbers below zero count from the end
        found = features.take(partners, axis=1)
        found -= features[:, np.newaxis]
        found = found.reshape(m, -1)
        similar = (codes.take(partners) == codes).reshape(-1)
        n_all = n * (n - 1) // 2
        if dissimilar:
            found, similar = found.compress(~similar, axis=1), None
            n_all -= sum(k * (k - 1) // 2 for k in np.bincount(codes).tolist())
        return cls(found, similar, n_all / found.shape[1])


def _n_steps(n: int, n_features: int) -> int:
    """Return half the number of partners of a row."""
    most = (n - 1) // 2
    few = min(_PER_FEATURE * n_features, _MOST_PARTNERS) // 2
    return most if n <= FEW_ROWS else min(few, most)


class FactorSums:
    """Sums of ``term(||P (x_i - x_j)||^2)`` over labeled pairs, and their derivatives.

    Parameters
    ----------
    X : ndarray of shape (k, m)
        The points ``pairs.rows``.
    pairs : PairSums
        The pairs.
    listed : Differences, optional
        The differences of the pairs of `X` to use instead.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph._marks import PairLabels
    >>> X, sums = np.array([[0.0], [1.0], [3.0]]), PairSums(PairLabels.make(3, [0, 0, 1]))
    >>> def apart(d2, similar):
    ...     return d2[~similar].sum(), 1.0 * ~similar
    >>> FactorSums(X, sums).by_factor(np.array([[2.0]]), apart)  # 4 (9 + 4), and half of 4 (9 + 4)
    (52.0, array([[26.]]))
    """

    def __init__(self, X: Array, pairs: PairSums, listed: Differences | None = None) -> None:
        self.X, self.pairs, self.listed = X, pairs, listed

    def by_factor(self, P: Array, term: DistanceTerm) -> tuple[float, Array]:
        """Return the sum at the factor `P`, and half its derivative by it."""
        if self.listed is None:
            value, product = self.pairs.laplacian(self.X @ P.T, term)
            return value, product.T @ self.X
        Z = P @ self.listed.array
        value, weight = self._sum(Z, term)
        return value, (weight * Z) @ self.listed.array.T

    def by_metric(self, P: Array, term: DistanceTerm) -> tuple[float, Array]:
        """Return the sum at the factor `P`, and its derivative by the metric ``P'P``.

        The derivative is symmetric except for rounding errors.
        """
        if self.listed is None:
            value, product = self.pairs.laplacian(self.X @ P.T, term, self.X)
            return value, self.X.T @ product
        value, weight = self._sum(P @ self.listed.array, term)
        return value, (weight * self.listed.array) @ self.listed.array.T

    def _sum(self, Z: Array, term: DistanceTerm) -> tuple[float, Array]:
        assert self.listed is not None
        value, weight = term(np.einsum("rk,rk->k", Z, Z), self.listed.similar)
        weight *= self.listed.n_each
        return self.listed.n_each * value, weight
