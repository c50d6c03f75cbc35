"""Sums over the labeled pairs: their scatter matrices, and any function of their distances.

Pairs that follow from class labels are not listed: scatter matrices have a closed form, and
everything else is summed tile by tile.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import coo_array

from .._marks import PairLabels
from .._utils._tiles import row_slices, upper_tiles
from .._utils._typing import Array
from ._distances import add_laplacian, pair_differences, pair_squares, squared_distances
from ._points import subtract_group_means
from ._rows import paired_rows, spread_rows

# Takes squared distances and whether the pairs are similar; returns the sum of the terms, and
# the derivative of each by its squared distance. A point with itself counts as a similar pair.
DistanceTerm = Callable[[Array, Array], tuple[float, Array]]
# Rows and columns of pairs: slices, row numbers, or stacks of row numbers of the same height.
Tile = tuple[slice | Array, slice | Array]

_TILE = 192  # largest side of a tile: a few arrays of doubles of this side fit the cache
# Up to this number of rows of known class, all pairs (2,016 at most) are summed: one small tile.
_FEW_ROWS = 64
# Partners of a row in a sample: per class, and at most; more if otherwise the sample had fewer
# similar or dissimilar pairs than the last number. 8 and 100 were chosen on the sets for choosing
# of benchmarks/evidence: there, pairs within groups of that size were as good as all pairs.
_PARTNERS_PER_CLASS, _MOST_PARTNERS, _LEAST_SAMPLE = 8, 192, 100


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
        n, self._pairs_each = len(known), 1.0
        self._tiles: list[Tile] = list(upper_tiles(n, _TILE))
        if sampled and (side := _sample_size(n, labels)):
            known = known[spread_rows(n)]
            self._tiles = _sample_tiles(n, side)
            self._pairs_each = (n - 1) / (2 * side)  # how many pairs each of the sample represents
        self.rows, self._pairs = paired_rows(labels, known)
        self.codes, self._similar = labels.codes[known], labels.similar

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
        self, Z: Array, term: DistanceTerm, Y: Array | None = None
    ) -> tuple[float, Array]:
        """Sum ``term(||z_i - z_j||^2)`` over the pairs, and multiply the Laplacian by `Y`.

        The Laplacian is ``Lap(W) = diag(W 1) - W``, where W holds the derivatives of the terms.
        With ``Z = X P'``, the derivative of the sum by ``P`` is ``2 (Lap(W) Z)' X``, and that
        by ``A = P'P`` is ``X' Lap(W) X``. `Y` is `Z` if None.
        """
        Y = Z if Y is None else Y
        product = np.zeros_like(Y)
        value = self._add_classes(Z, term, Y, product)
        if len(self._pairs):
            value += self._add_marks(Z, term, Y, product)
        return float(value), product

    def _add_classes(self, Z: Array, term: DistanceTerm, Y: Array, product: Array) -> float:
        """Add the pairs of rows of known class to `product`, and return their sum."""
        value = 0.0
        for rows, columns in self._tiles:
            similar = self.codes[rows][..., np.newaxis] == self.codes[columns][..., np.newaxis, :]
            part, W = term(squared_distances(Z[rows], Z[columns]), similar)
            on_diagonal = rows is columns  # such a tile holds every pair twice
            value += 0.5 * part if on_diagonal else part
            product[rows] += W.sum(axis=-1)[..., np.newaxis] * Y[rows] - W @ Y[columns]
            if not on_diagonal:
                W = np.swapaxes(W, -1, -2)
                product[columns] += W.sum(axis=-1)[..., np.newaxis] * Y[columns] - W @ Y[rows]
        product *= self._pairs_each
        return self._pairs_each * value

    def _add_marks(self, Z: Array, term: DistanceTerm, Y: Array, product: Array) -> float:
        """Add the marked pairs to `product`, and return their sum."""
        value, weights = term(pair_squares(Z, self._pairs), self._similar)
        W = coo_array((weights, tuple(self._pairs.T)), shape=(len(Z), len(Z)))
        add_laplacian(product, Y, slice(None), W.tocsr())
        return value

    def by_factor(self, X: Array, P: Array, term: DistanceTerm) -> tuple[float, Array]:
        """Return the sum of ``term(||P (x_i - x_j)||^2)``, and half its derivative by `P`."""
        value, product = self.laplacian(X @ P.T, term)
        return value, product.T @ X

    def by_metric(self, X: Array, P: Array, term: DistanceTerm) -> tuple[float, Array]:
        """Return the same sum, and its derivative by ``P'P``: symmetric up to rounding."""
        value, product = self.laplacian(X @ P.T, term, X)
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
    return side if 3 * side <= n and side <= _TILE else 0


def _sample_tiles(n: int, side: int) -> list[Tile]:
    """Pair groups of `side` rows with the next group, as on a circle.

    Many small tiles cost little more than one if they are stacked. Rows left over after cutting
    `n` rows into groups are paired with the first group.
    """
    groups = np.arange(n - n % side).reshape(-1, side)
    partners = np.roll(groups, -1, axis=0)
    parts = row_slices(len(groups), (_TILE // side) ** 2)
    tiles: list[Tile] = [(groups[part], partners[part]) for part in parts]
    if n % side:
        tiles.append((np.arange(n - n % side, n), groups[0]))
    return tiles
