"""Sums over the labeled pairs: their scatter matrices, and any function of their distances.

Pairs that follow from class labels are never listed; they are swept in tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from .._pairs import PairLabels
from .._typing import Array
from ._rows import PairedRows, class_ranges

# Takes squared distances and whether the pairs are similar; returns the sum of the terms, and
# the derivative of each by its squared distance. A point with itself counts as a similar pair.
# It may overwrite the squared distances.
DistanceTerm = Callable[[Array, Array], tuple[float, Array]]

_TILE = 192  # largest side of a tile: a few arrays of doubles of this side fit the cache
_CHUNK = 1 << 18  # numbers gathered at a time for marked pairs
# A sample of the pairs of classes: groups of at most so many rows, more for many classes, with at
# least so many similar and dissimilar pairs in all of them together. Chosen on the sets of
# benchmarks/evidence that are for choosing: the mean error is that with all pairs, within 0.1.
_GROUP, _GROUP_PER_CLASS, _LEAST_SAMPLE = 64, 8, 100
# Squared distances below this share of the largest squared norm lose too many digits in
# ||a||^2 + ||b||^2 - 2 a'b, and are computed from the difference.
_CLOSE = 1e-8


class PairSums:
    """Sums over the labeled pairs.

    Its methods take arrays with a row for each point of a labeled pair, and for no
    other: ``X[sums.rows]`` for all points X.

    Parameters
    ----------
    labels : PairLabels
        Labels of the pairs.
    sampled : bool, default=False
        Whether `laplacian` may estimate the sum over the pairs of many rows of known class from
        a sample: the pairs within groups of rows, always the same. Each row is still in 30 pairs
        or more, and most of the noise of such a sum comes from the rows, not from which of them
        are paired (Blom, 1976, on incomplete U-statistics).

    Attributes
    ----------
    rows : ndarray of int of shape (k,)
        Row numbers of these points: by class first, then those in marked pairs only.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph._pairs import PairLabels
    >>> X = np.array([[0.0], [9.0], [1.0], [3.0]])
    >>> sums = PairSums(PairLabels.make(4, y=[0, -1, 0, 1]))
    >>> points = X[sums.rows]
    >>> similar, dissimilar = sums.scatters(points)  # 1^2, and 2^2 + 3^2
    >>> round(similar.item(), 9), round(dissimilar.item(), 9)
    (1.0, 13.0)
    >>> sums.laplacian(points, lambda d2, similar: (d2[~similar].sum(), 1.0 * ~similar))[0]
    13.0
    """

    def __init__(self, labels: PairLabels, *, sampled: bool = False) -> None:
        paired = PairedRows.of(labels)
        self.rows, self._codes = paired.rows, paired.codes
        pairs = paired.pairs
        order = np.lexsort([pairs[:, 1], pairs[:, 0]])
        self._pairs, self._similar = pairs[order], labels.similar[order]
        counts = np.bincount(self._pairs[:, 0], minlength=len(self.rows))
        self._starts = np.concatenate([[0], np.cumsum(counts)])
        self._tiles = _tiles(len(self._codes))
        self._groups = _groups(self._codes, labels) if sampled else []

    def scatters(self, X: Array) -> tuple[Array, Array]:
        """Sum ``(x_i - x_j)(x_i - x_j)'`` over the similar and over the dissimilar pairs."""
        similar = self.similar_scatter(X)
        everything = self._marked_scatter(X, self._pairs)
        if len(self._codes):
            everything += all_pairs(X[: len(self._codes)])
        return similar, everything - similar

    def similar_scatter(self, X: Array) -> Array:
        """Sum the same over the similar pairs alone."""
        similar = self._marked_scatter(X, self._pairs[self._similar])
        for first, last in class_ranges(self._codes):
            similar += all_pairs(X[first:last])
        return similar

    def _marked_scatter(self, X: Array, pairs: Array) -> Array:
        m = X.shape[1]
        scatter: Array = np.zeros((m, m))
        for start, stop in _chunks(len(pairs), m):
            i, j = pairs[start:stop].T
            difference = X[i] - X[j]
            scatter += difference.T @ difference
        return scatter

    def laplacian(
        self, Z: Array, term: DistanceTerm, Y: Array | None = None
    ) -> tuple[float, Array]:
        """Sum ``term(||z_i - z_j||^2)`` over the pairs, and multiply the Laplacian by `Y`.

        The Laplacian is ``Lap(W) = diag(W 1) - W``, where W holds the derivatives of the terms.
        With ``Z = X P'``, the derivative of the sum by ``P`` is ``2 (Lap(W) Z)' X``, and that
        by ``A = P'P`` is ``X' Lap(W) X``.

        Parameters
        ----------
        Z : ndarray of shape (k, r)
            Points, mapped to where distances are measured.
        term : callable
            Takes squared distances and whether the pairs are similar, arrays of one shape;
            returns the sum of the terms and the array of their derivatives.
        Y : ndarray of shape (k, c), optional
            Matrix to multiply by the Laplacian; `Z` if None.

        Returns
        -------
        float
            The sum.
        ndarray of shape (k, c)
            ``Lap(W) Y``.
        """
        Y = Z if Y is None else Y
        value, product = self._marked(Z, term, Y)
        n = len(self._codes)
        if n == 0:
            return value, product
        if self._groups:
            return value + self._add_groups(Z, term, Y, product), product
        norms = _squared_norms(Z[:n])
        # A last column of ones makes the sums of the weights part of the product.
        wide = np.column_stack([Y[:n], np.ones(n)])
        total = np.zeros_like(wide)
        for k, rows in enumerate(self._tiles):
            for columns in self._tiles[k:]:
                d2 = _tile_of_distances(Z, norms, rows, columns)
                similar = self._codes[rows, np.newaxis] == self._codes[columns]
                here, weight = term(d2, similar)
                total[rows] += weight @ wide[columns]
                if rows is columns:  # this tile holds every pair twice
                    value += 0.5 * here
                else:
                    value += here
                    total[columns] += weight.T @ wide[rows]
        product[:n] += total[:, -1:] * Y[:n] - total[:, :-1]
        return float(value), product

    def _add_groups(self, Z: Array, term: DistanceTerm, Y: Array, product: Array) -> float:
        """Add the estimate from the groups to `product`, and return that of the value."""
        n, n_ordered = (
            len(self._codes),
            sum(rows.size * (rows.shape[1] - 1) for rows in self._groups),
        )
        scale = n * (n - 1) / n_ordered
        value = 0.0
        for rows in self._groups:
            Z_here, codes = Z[rows], self._codes[rows]
            Y_here = Z_here if Y is Z else Y[rows]
            similar = codes[:, :, np.newaxis] == codes[:, np.newaxis]
            here, weight = term(squared_distances(Z_here), similar)
            weight *= scale
            product[rows] += weight.sum(axis=2, keepdims=True) * Y_here - weight @ Y_here
            value += 0.5 * scale * here  # every pair is there twice
        return value

    def _marked(self, Z: Array, term: DistanceTerm, Y: Array) -> tuple[float, Array]:
        """Do the same for the marked pairs alone."""
        if len(self._pairs) == 0:
            return 0.0, np.zeros_like(Y)
        n, value, weights = len(Z), 0.0, np.empty(len(self._pairs))
        for start, stop in _chunks(len(self._pairs), Z.shape[1]):
            i, j = self._pairs[start:stop].T
            difference = Z[i] - Z[j]
            d2 = np.einsum("kr,kr->k", difference, difference)
            here, weights[start:stop] = term(d2, self._similar[start:stop])
            value += here
        first, second = self._pairs.T
        W = csr_array((weights, second, self._starts), shape=(n, n))
        degree = np.bincount(first, weights, n) + np.bincount(second, weights, n)
        return value, degree[:, np.newaxis] * Y - W @ Y - W.T @ Y


def all_pairs(X: Array) -> Array:
    """Sum over all pairs of k points: k times their scatter about the mean."""
    centered = X - X.mean(axis=0)
    scatter: Array = len(X) * (centered.T @ centered)
    return scatter


def squared_distances(Z: Array) -> Array:
    """Return the squared distances between all rows of `Z`, or of each matrix in a stack.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    norms = np.einsum("...ir,...ir->...i", Z, Z)
    d2: Array = (-2.0 * Z) @ np.swapaxes(Z, -1, -2)
    d2 += norms[..., np.newaxis]
    d2 += norms[..., np.newaxis, :]
    np.einsum("...ii->...i", d2)[...] = 0.0
    close = d2 <= _CLOSE * norms.max()
    if np.count_nonzero(close) > norms.size:
        *stack, i, j = np.nonzero(close)
        difference = Z[(*stack, i)] - Z[(*stack, j)]
        d2[close] = np.einsum("kr,kr->k", difference, difference)
    return d2


def _squared_norms(Z: Array) -> Array:
    norms: Array = np.einsum("ir,ir->i", Z, Z)
    return norms


def _tile_of_distances(Z: Array, norms: Array, rows: slice, columns: slice) -> Array:
    """Return the squared distances between two ranges of rows of `Z`, of squared `norms`."""
    A, B = Z[rows], Z[columns]
    d2: Array = (-2.0 * A) @ B.T
    d2 += norms[rows, np.newaxis]
    d2 += norms[columns]
    limit = _CLOSE * max(norms[rows].max(), norms[columns].max())
    on_diagonal = len(d2) if rows == columns else 0
    if on_diagonal:
        d2.flat[:: on_diagonal + 1] = 0.0
    close = d2 <= limit
    if np.count_nonzero(close) > on_diagonal:
        i, j = np.divmod(np.flatnonzero(close), close.shape[1])  # faster than nonzero
        difference = A[i] - B[j]
        d2[i, j] = np.einsum("kr,kr->k", difference, difference)
    return d2


def _tiles(n: int) -> list[slice]:
    """Cut `n` rows into as few ranges as `_TILE` allows, about equally long."""
    edges = np.linspace(0, n, -(-n // _TILE) + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(edges)]


def _chunks(length: int, width: int) -> list[tuple[int, int]]:
    size = max(1, _CHUNK // max(1, width))
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def _groups(codes: Array, labels: PairLabels) -> list[Array]:
    """Divide the rows of ordered class `codes` into groups at random; [] if one would do.

    Each array holds groups of one size, a row for each, and no more than are summed at a time.
    """
    n_classes = int(codes.max(initial=-1)) + 1
    size = min(max(_GROUP, _GROUP_PER_CLASS * n_classes), _TILE)
    few = min(labels.n_similar, labels.n_dissimilar)
    n_groups = min(-(-len(codes) // size), few // _LEAST_SAMPLE)
    if n_groups < 2:
        return []
    order = np.random.default_rng(0).permutation(len(codes))
    size, n_longer = divmod(len(codes), n_groups)
    cut = n_longer * (size + 1)
    at_a_time = max(1, (_TILE // size) ** 2)
    return [
        stack[first : first + at_a_time]
        for stack in (order[:cut].reshape(-1, size + 1), order[cut:].reshape(-1, size))
        for first in range(0, len(stack), at_a_time)
    ]
