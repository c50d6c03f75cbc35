"""The objective of LMNN: points, their target neighbors and their impostors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._utils._typing import Array
from ._comparisons import smoothed_hinge
from ._distances import add_laplacian, distance_rows, pair_squares
from ._rows import class_ranges

# Entries of one tile of distances: 8 MB.
_TILE = 1 << 20
# Squared distance to a missing target neighbor; finite, so that 0 times it is 0.
_ABSENT = -1e200
# Pairs within the reach times this are remembered, for metrics close to the one at hand.
_BEYOND = 1.1
# At most this many pairs are remembered, and at most this share of all: the distance of a listed
# pair costs as much as those of about ten in a tile.
_MOST_PAIRS, _LARGEST_SHARE = 1 << 22, 1 / 16


class TripleSums(NamedTuple):
    """The objective at one metric."""

    exact: float
    smoothed: float  # with `smoothed_hinge`
    push: float  # sum of the weights of the triples, times the weight of the push
    laplacian: Array  # Lap(W) Y, for the weights W of the pairs in the gradient of `smoothed`


class _Neighborhood(NamedTuple):
    """All pairs of a point and one of another class that were near each other at a metric."""

    P: Array
    radii: Array  # how near, for each point
    pairs: Array


class Triples:
    """The objective over all triples of a point, one of its targets and an impostor.

    A triple has the hinge ``[u]_+`` of ``u = 1 + d2_ij - d2_il``, smoothed (`smoothed_hinge`).
    Summed over triples, its slopes are weights of pairs: positive for the pair (i, j), negative
    for (i, l).

    Parameters
    ----------
    points : ndarray of shape (n, m)
        Points, those of a class together.
    codes : ndarray of int of shape (n,)
        Their classes, in order.
    n_neighbors : int
        Number k of targets of a point: the nearest of its class.
    push_weight : float
        Weight of the hinges; the pull has the rest.
    width : float
        Width over which the hinge is smoothed.
    """

    def __init__(
        self,
        points: Array,
        codes: Array,
        *,
        n_neighbors: int,
        push_weight: float,
        width: float,
    ) -> None:
        self.points, self.push_weight, self.width = points, push_weight, width
        self.classes = class_ranges(codes)
        n, k = len(points), min(n_neighbors, int(np.bincount(codes).max()) - 1)
        # Where a point has fewer than k targets, it stands in itself, and is not `present`.
        self.targets = np.repeat(np.arange(n)[:, np.newaxis], k, axis=1)
        self.present = np.zeros((n, k), dtype=bool)
        for first, last in self.classes:
            some = min(k, last - first - 1)
            self.present[first:last, :some] = True
            members = points[first:last] - points[first:last].mean(axis=0)
            for rows, d2 in distance_rows(members, _TILE):
                self.targets[first + rows.start : first + rows.stop, :some] = first + _nearest(
                    d2, some
                )
        norms = np.linalg.norm(points - points.mean(axis=0), axis=1)
        self._longest_gaps = norms + norms.max(initial=0.0)
        self._near: _Neighborhood | None = None

    def at(self, P: Array, Y: Array | None = None) -> TripleSums:
        """Compute the objective at ``P'P``; `Y` is the mapped points if None."""
        mu, (n, k) = self.push_weight, self.targets.shape
        Z = self.points @ P.T
        Y = Z if Y is None else Y
        to_targets = Z[:, np.newaxis] - Z[self.targets]
        near = np.einsum("ikr,ikr->ik", to_targets, to_targets)
        pull = float(near.sum())
        near[~self.present] = _ABSENT
        # Points farther away than this are impostors for none of the targets.
        reach = near.max(axis=1) + (1.0 + 0.5 * self.width)
        exact = smoothed = weight = 0.0
        laplacian = np.zeros_like(Y)
        for rows, i, impostor, d2 in self._impostors(P, Z, reach):
            n_rows = rows.stop - rows.start
            u = near[rows][i] + (1.0 - d2)[:, np.newaxis]
            sharp, smooth, w = smoothed_hinge(u, self.width)
            exact, smoothed, weight = exact + sharp, smoothed + smooth, weight + float(w.sum())

            of_targets = np.stack([np.bincount(i, one, n_rows) for one in w.T], axis=1)
            together = np.where(self.present[rows], (1.0 - mu) + mu * of_targets, 0.0)
            targets = (np.repeat(np.arange(n_rows), k), self.targets[rows].ravel())
            pulled = csr_array((together.ravel(), targets), shape=(n_rows, n))
            pushed = csr_array((mu * w.sum(axis=1), (i, impostor)), shape=(n_rows, n))
            add_laplacian(laplacian, Y, rows, pulled - pushed)
        pull *= 1.0 - mu
        return TripleSums(pull + mu * exact, pull + mu * smoothed, mu * weight, laplacian)

    def _impostors(
        self, P: Array, Z: Array, reach: Array
    ) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield, for some rows at a time, the points within reach of them, of other classes.

        They come as the rows, an index into these, the other point, and the squared distance.
        """
        if self._near is not None and self._holds(self._near, P, reach):
            pairs = self._near.pairs
            d2 = pair_squares(Z, pairs)
            within = d2 < reach[pairs[:, 0]]
            yield slice(0, len(Z)), *pairs[within].T, d2[within]
            return
        n = len(Z)
        beyond, found, room = _BEYOND * reach, [], min(_MOST_PAIRS, int(_LARGEST_SHARE * n * n))
        for rows, d2 in distance_rows(Z, _TILE):
            for first, last in self.classes:
                if first < rows.stop and last > rows.start:
                    own = slice(max(first - rows.start, 0), max(last - rows.start, 0))
                    d2[own, first:last] = np.inf
            i, other = np.divmod(np.flatnonzero(d2 < beyond[rows, np.newaxis]), n)
            room -= len(i)
            if room >= 0:
                found.append(np.column_stack([i + rows.start, other]).astype(np.int32))
            squares = d2[i, other]
            within = squares < reach[rows][i]
            yield rows, i[within], other[within], squares[within]
        radii = np.sqrt(np.maximum(beyond, 0.0))
        self._near = _Neighborhood(P, radii, np.concatenate(found)) if room >= 0 else None

    def _holds(self, known: _Neighborhood, P: Array, reach: Array) -> bool:
        """Whether no other pair can be within reach at `P`.

        A pair has come closer by at most the norm of ``P - P0`` times its distance in X.
        """
        if P.shape != known.P.shape:
            return False
        change = float(np.linalg.norm(P - known.P, 2))
        nearest = known.radii - change * self._longest_gaps
        return bool(np.all(nearest >= np.sqrt(np.maximum(reach, 0.0))))


def _nearest(d2: Array, k: int) -> Array:
    """Return the columns of the k smallest numbers of each row, the first of equal ones.

    Examples
    --------
    >>> _nearest(np.array([[3.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0]]), 2).tolist()
    [[1, 3], [0, 1]]
    """
    if k == 0:
        return np.empty((len(d2), 0), dtype=int)
    i, j = np.nonzero(d2 <= np.partition(d2, k - 1, axis=1)[:, k - 1 : k])
    j = j[np.lexsort([d2[i, j], i])]
    nearest: Array = j[np.searchsorted(i, np.arange(len(d2)))[:, np.newaxis] + np.arange(k)]
    return nearest
