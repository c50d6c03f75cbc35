"""Sums over the labeled pairs: their scatter matrices, and any function of their distances.

Pairs that follow from class labels are hardly ever listed; they are swept in tiles or in groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from .._marks import PairLabels
from .._utils._typing import Array, computed_once
from ._rows import PairedRows, spread_rows

# Takes squared distances and whether the pairs are similar; returns the sum of the terms, and
# the derivative of each by its squared distance. A point with itself counts as a similar pair.
# It may overwrite the squared distances.
DistanceTerm = Callable[..., tuple[float, Array]]

_TILE = 192  # largest side of a tile: a few arrays of doubles of this side fit the cache
_CHUNK = 1 << 18  # numbers gathered at a time
# A sample of the pairs of more rows of known class than the first number: groups have at most so
# many rows for each class, and all of them together at least so many similar and dissimilar pairs.
# Chosen on the sets of benchmarks/evidence that are for choosing: the mean error is that with all
# pairs, within 0.15.
FEW_ROWS = 64
_PER_CLASS, _LEAST_SAMPLE = 8, 100
# Squared distances below this share of the largest squared norm lose too many digits in
# ||a||^2 + ||b||^2 - 2 a'b, and are computed from the difference.
_CLOSE = 1e-8
# If more than one in so many are that short, all are computed from differences: it is faster.
_MANY = 8


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
        a sample: the pairs within groups of rows, always the same. Each row is still in 15 pairs
        or so, and most of the noise of such a sum comes from the rows, not from which of them
        are paired (Blom, 1976, on incomplete U-statistics).

    Attributes
    ----------
    rows : ndarray of int of shape (k,)
        Row numbers of these points: those of known class first, then those in marked pairs only.
    codes : ndarray of int of shape (c,)
        Class codes of the first c of them; in order, unless there is a sample.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph._marks import PairLabels
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
        n = len(paired.codes)
        n_groups = _n_groups(paired.codes, labels) if sampled else 1
        self._is_in_order = n_groups == 1
        if n_groups > 1:  # the rows of a group together
            paired = paired.reordered(spread_rows(n))
        self.rows, self.codes, pairs = paired.rows, paired.codes, paired.pairs
        self._pairs, self._similar = pairs, labels.similar
        if len(pairs):
            order = np.lexsort([pairs[:, 1], pairs[:, 0]])
            self._pairs, self._similar = pairs[order], labels.similar[order]
            self._starts = np.searchsorted(self._pairs[:, 0], np.arange(len(self.rows) + 1))
        self._n_groups = n_groups

    @computed_once
    def _groups(self) -> list[tuple[slice, int]]:
        """Ranges of equally long groups, and their length; [] if the rows are swept in tiles."""
        n = len(self.codes)
        return _groups(n, self._n_groups) if self._n_groups > 1 or 0 < n <= _TILE else []

    @property
    def is_by_class(self) -> bool:
        """Whether all labeled pairs follow from classes: they are all pairs of the `rows`."""
        return len(self._pairs) == 0

    def scatters(self, X: Array) -> tuple[Array, Array]:
        """Sum ``(x_i - x_j)(x_i - x_j)'`` over the similar and over the dissimilar pairs."""
        similar = self.similar_scatter(X)
        return similar, self.scatter(X) - similar

    def scatter(self, X: Array) -> Array:
        """Sum the same over all labeled pairs."""
        everything = self._marked_scatter(X, self._pairs)
        if len(self.codes):
            everything += all_pairs(X[: len(self.codes)])
        return everything

    def similar_scatter(self, X: Array) -> Array:
        """Sum the same over the similar pairs alone."""
        similar = self._marked_scatter(X, self._pairs[self._similar])
        if len(self.codes) == 0:
            return similar
        known, codes = X[: len(self.codes)], self.codes
        sizes = np.bincount(codes)
        by_class = known if self._is_in_order else known.take(np.argsort(codes), axis=0)
        means = np.add.reduceat(by_class, sizes.cumsum() - sizes, axis=0)
        means /= sizes[:, np.newaxis]
        roots = np.sqrt(sizes)
        for start, stop in _chunks(len(codes), X.shape[1]):  # as in `all_pairs`, of each class
            own = codes[start:stop]
            inner = known[start:stop] - means.take(own, axis=0)
            inner *= roots.take(own)[:, np.newaxis]
            similar += inner.T @ inner
        return similar

    def _marked_scatter(self, X: Array, pairs: Array) -> Array:
        m = X.shape[1]
        scatter: Array = np.zeros((m, m))
        if len(pairs) == 0:
            return scatter
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
        if len(self.codes) == 0:
            return self._marked(Z, term, Y)
        value, product = (self._in_groups if self._groups else self._in_tiles)(Z, term, Y)
        if len(self._pairs):
            marked, total = self._marked(Z, term, Y)
            total[: len(self.codes)] += product
            value, product = value + marked, total
        return float(value), product

    def _in_tiles(self, Z: Array, term: DistanceTerm, Y: Array) -> tuple[float, Array]:
        """Return the same sum and product for the pairs of all rows of known class alone."""
        n, value = len(self.codes), 0.0
        # A last column of ones makes the sums of the weights part of the product.
        wide = np.column_stack([Y[:n], np.ones(n)])
        total = np.zeros_like(wide)
        tiles = _tiles(n)
        for k, rows in enumerate(tiles):
            for columns in tiles[k:]:
                d2 = squared_distances(Z[rows], None if rows is columns else Z[columns])
                similar = self.codes[rows, np.newaxis] == self.codes[columns]
                here, weight = term(d2, similar)
                total[rows] += weight @ wide[columns]
                if rows is columns:  # this tile holds every pair twice
                    value += 0.5 * here
                else:
                    value += here
                    total[columns] += weight.T @ wide[rows]
        return value, total[:, -1:] * Y[:n] - total[:, :-1]

    def _in_groups(self, Z: Array, term: DistanceTerm, Y: Array) -> tuple[float, Array]:
        """Do the same with the pairs within groups, which stand for all."""
        value, scale, products = 0.0, self._pairs_each, []
        for rows, size in self._groups:
            similar = self._only_mask if len(self._groups) == 1 else self._mask(rows, size)
            here, weight = term(squared_distances(_stacked(Z[rows], size)), similar)
            value += 0.5 * here  # every pair is there twice
            laplacian = -scale * weight
            np.einsum("gii->gi", laplacian)[...] -= np.einsum("gij->gi", laplacian)
            products.append(_unstacked(laplacian @ _stacked(Y[rows], size)))
        return value * scale, products[0] if len(products) == 1 else np.concatenate(products)

    @computed_once
    def _only_mask(self) -> Array:
        """What `_mask` says if there is one range of groups only."""
        return self._mask(*self._groups[0])

    def _mask(self, rows: slice, size: int) -> Array:
        """Say which pairs within groups are similar."""
        codes = self.codes[rows].reshape(-1, size)
        same: Array = codes[:, :, np.newaxis] == codes[:, np.newaxis]
        return same

    @computed_once
    def _pairs_each(self) -> float:
        """Number of pairs that one within a group stands for."""
        n = len(self.codes)
        within = sum((rows.stop - rows.start) * (size - 1) for rows, size in self._groups)
        return n * (n - 1) / within if within else 1.0

    def _marked(self, Z: Array, term: DistanceTerm, Y: Array) -> tuple[float, Array]:
        """Return the same sum and product for the marked pairs alone."""
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


def squared_distances(A: Array, B: Array | None = None) -> Array:
    """Return the squared distances between all rows of `A`, or of each matrix in a stack.

    With `B`, between the rows of `A` and those of `B`.

    Examples
    --------
    >>> import numpy as np
    >>> squared_distances(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[ 0., 25.],
           [25.,  0.]])
    """
    columns = A if B is None else B
    d2: Array = A @ np.swapaxes(columns, -1, -2)
    if B is None:
        itself = np.einsum("...ii->...i", d2)
        norms = others = itself.copy()
    else:
        itself = d2[..., :0]
        norms, others = (np.einsum("...ir,...ir->...i", one, one) for one in (A, B))
    d2 *= -2.0
    d2 += norms[..., np.newaxis]
    d2 += others[..., np.newaxis, :]
    itself[...] = np.inf
    limit = _CLOSE * float(norms.max() if B is None else max(norms.max(), others.max()))
    if d2.min() <= limit:
        close = np.flatnonzero(d2 <= limit)  # faster than the indices by dimension
        if d2.ndim == 2 and len(close) > d2.size // _MANY:  # as beside an outlier
            return cdist(A, columns, "sqeuclidean")
        for start, stop in _chunks(len(close), A.shape[-1]):
            flat = close[start:stop]
            i, j = np.divmod(flat, d2.shape[-1])
            j += i // d2.shape[-2] * d2.shape[-1]  # the place in the stack
            difference = _unstacked(A).take(i, axis=0) - _unstacked(columns).take(j, axis=0)
            d2.reshape(-1)[flat] = np.einsum("kr,kr->k", difference, difference)
    itself[...] = 0.0
    return d2


def _stacked(X: Array, size: int) -> Array:
    return X.reshape(len(X) // size, size, X.shape[1])


def _unstacked(X: Array) -> Array:
    return X.reshape(math.prod(X.shape[:-1]), X.shape[-1])


def _tiles(n: int) -> list[slice]:
    """Cut `n` rows into as few ranges as `_TILE` allows, about equally long."""
    n_tiles = -(-n // _TILE)
    return [slice(k * n // n_tiles, (k + 1) * n // n_tiles) for k in range(n_tiles)]


def _chunks(length: int, width: int) -> list[tuple[int, int]]:
    size = max(1, _CHUNK // max(1, width))
    return [(start, min(start + size, length)) for start in range(0, length, size)]


def _n_groups(codes: Array, labels: PairLabels) -> int:
    """Return the number of groups for rows of these class `codes`."""
    if len(codes) <= FEW_ROWS:
        return 1
    size = min(_PER_CLASS * (int(codes.max()) + 1), _TILE)
    few = min(labels.n_similar, labels.n_dissimilar)
    return max(1, min(-(-len(codes) // size), few // _LEAST_SAMPLE))


def _groups(n: int, n_groups: int) -> list[tuple[slice, int]]:
    """Cut `n` rows into groups; return ranges of equally long groups, and their length.

    A range holds no more groups than are summed at a time.
    """
    shorter, n_longer = divmod(n, n_groups)
    groups, start = [], 0
    for count, size in ((n_longer, shorter + 1), (n_groups - n_longer, shorter)):
        end = start + count * size
        step = size * max(1, (_TILE // size) ** 2)
        groups += [(slice(k, min(k + step, end)), size) for k in range(start, end, step)]
        start = end
    return groups
