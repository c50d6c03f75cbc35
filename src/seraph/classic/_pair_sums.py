"""Sums over the labeled pairs: their scatter matrices, and any function of their distances.

Scatter matrices have a closed form; everything else is summed by `seraph._pairs`.
"""

from __future__ import annotations

import numpy as np

from .._marks import PairLabels
from .._pairs import BlockPairs, ListedPairs, PairFunction, sum_over_blocks, sum_over_list
from .._utils._typing import Array
from ._points import pair_differences, spread_rows, subtract_group_means

# Up to this number of rows of known class, all pairs (2,016 at most) are summed: one small tile.
_FEW_ROWS = 64
# Partners of a row in a sample: per class, and at most; more if otherwise the sample had fewer
# similar or dissimilar pairs than the last number. 8 and 100 were chosen on the sets for choosing
# of benchmarks/evidence: there, pairs within groups of that size were as good as all pairs. The
# last number limits the side of a tile, which has to fit the cache.
_PARTNERS_PER_CLASS, _MOST_PARTNERS, _LEAST_SAMPLE, _MOST_SIDE = 8, 192, 100, 192


class PairSums:
    """Sums over the labeled pairs.

    Its methods take arrays with a row for each point of a labeled pair, and for no other:
    ``X[sums.rows]`` for all points X. `rows` has those of known class first, whose classes are
    `codes`, then those in marked pairs only.

    If it is `sampled`, `laplacian` estimates the sum over the pairs of many rows of known class
    from a sample: each row with a few others, always the same. Most of the noise of such a sum
    comes from the rows, not from which of them are paired (Blom, 1976, on incomplete
    U-statistics).
    """

    def __init__(self, labels: PairLabels, *, sampled: bool = False) -> None:
        known = labels.rows_by_class
        side = _sample_size(len(known), labels) if sampled else 0
        self._pairs_each = 1.0  # how many pairs each of the sample represents
        if side:
            known = known[spread_rows(len(known))]
            self._pairs_each = (len(known) - 1) / (2 * side)
        in_marks_only = np.setdiff1d(labels.pairs, known)
        self.rows = np.concatenate([known, in_marks_only])
        position = np.zeros(len(labels.codes), dtype=np.intp)
        position[self.rows] = np.arange(len(self.rows))
        self._pairs = position[labels.pairs]
        self.codes, self._similar = labels.codes[known], labels.similar
        points, n_marked = np.empty(0), len(self._pairs)
        self._marked: ListedPairs | None = None
        if n_marked:
            q, ones = 1.0 * self._similar, np.ones(n_marked)
            self._marked = ListedPairs.make(self._pairs, q, ones, len(self.rows), like=points)
        if side:
            self._blocks = BlockPairs.of_groups(self.codes, side)
        else:
            self._blocks = BlockPairs.make(self.codes, labeled=True, like=points)

    def scatters(self, X: Array) -> tuple[Array, Array]:
        """Sum ``(x_i - x_j)(x_i - x_j)'`` over the similar and over the dissimilar pairs."""
        similar = self.similar_scatter(X)
        return similar, self.scatter(X) - similar

    def scatter(self, X: Array) -> Array:
        """Sum the same over all labeled pairs."""
        scatter = _listed_scatter(X, self._pairs)
        if len(self.codes):
            scatter += all_pairs(X[: len(self.codes)])
        return scatter

    def similar_scatter(self, X: Array) -> Array:
        """Sum the same over the similar pairs alone."""
        # As in `all_pairs`, in each class.
        inner = subtract_group_means(X[: len(self.codes)], self.codes)
        inner *= np.sqrt(np.bincount(self.codes))[self.codes, np.newaxis]
        return _listed_scatter(X, self._pairs[self._similar]) + inner.T @ inner

    def laplacian(
        self, Z: Array, function: PairFunction, Y: Array | None = None
    ) -> tuple[float, Array]:
        """Sum a function of ``||z_i - z_j||^2`` over the pairs, and multiply the Laplacian by `Y`.

        See `seraph._pairs`; `Y` is `Z` if None.
        """
        value, product, n = 0.0, np.zeros_like(Z if Y is None else Y), len(self.codes)
        if self._blocks.tasks:
            known = Z[:n]
            of = known if Y is None else Y[:n]
            part, _, product[:n] = sum_over_blocks(known, of, self._blocks, function)
            value += self._pairs_each * float(part)
            product *= self._pairs_each
        if self._marked is not None:
            marked = function, self._marked.q, self._marked.weights
            part, _, other = sum_over_list(Z, Z if Y is None else Y, self._marked, marked)
            value, product = value + float(part), product + other
        return value, product

    def by_factor(self, X: Array, P: Array, function: PairFunction) -> tuple[float, Array]:
        """Return the sum over ``||P (x_i - x_j)||^2`` and half its gradient with respect to P."""
        value, product = self.laplacian(X @ P.T, function)
        return value, product.T @ X

    def by_metric(self, X: Array, P: Array, function: PairFunction) -> tuple[float, Array]:
        """Return the sum and its gradient with respect to ``P'P``: symmetric up to rounding."""
        value, product = self.laplacian(X @ P.T, function, X)
        return value, X.T @ product


def all_pairs(X: Array) -> Array:
    """Sum over all pairs of k points: k times their scatter about the mean."""
    centered = X - X.mean(axis=0)
    scatter: Array = len(X) * (centered.T @ centered)
    return scatter


def _listed_scatter(X: Array, pairs: Array) -> Array:
    scatter: Array = np.zeros((X.shape[1], X.shape[1]))
    for _, gaps in pair_differences(X, pairs):
        scatter += gaps.T @ gaps
    return scatter


def _sample_size(n: int, labels: PairLabels) -> int:
    """Return the side of the squares of a sample: half the number of partners of a row.

    It is 0 if all pairs of the `n` rows of known class are to be summed.
    """
    few = min(labels.n_similar, labels.n_dissimilar)
    if n <= _FEW_ROWS or few == 0:
        return 0
    partners = min(_PARTNERS_PER_CLASS * (int(labels.codes.max()) + 1), _MOST_PARTNERS)
    partners = max(partners, -(-_LEAST_SAMPLE * (n - 1) // few))
    side = -(-partners // 2)
    # Fewer than three groups have no circle; and a larger square is no tile any more.
    return side if 3 * side <= n and side <= _MOST_SIDE else 0
