"""The objective of LMNN: points, their target neighbors and their impostors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from .._utils._typing import Array
from ._comparisons import smoothed_hinge
from ._points import add_laplacian, class_ranges, distance_rows

# Entries of one tile of distances: 8 MB.
_TILE = 1 << 20
# Squared distance to a missing target neighbor; finite, so that 0 times it is 0.
_ABSENT = -1e200


class TripleSums(NamedTuple):
    """The objective at one metric."""

    exact: float
    smoothed: float  # with `smoothed_hinge`
    push: float  # sum of the weights of the triples, times the weight of the push
    laplacian: Array  # Lap(W) Y, for the weights W of the pairs in the gradient of `smoothed`


class Triples:
    """The objective over all triples of a point, one of its targets and an impostor.

    A triple has the hinge ``[u]_+`` of ``u = 1 + d2_ij - d2_il``, smoothed (`smoothed_hinge`).
    Summed over triples, its slopes are weights of pairs: positive for the pair (i, j), negative
    for (i, l).

    `points` are in the order of their classes `codes`; a point has the `n_neighbors` nearest of
    its class as targets. Hinges, smoothed over a `width`, have the weight `push_weight`; the pull
    has the rest.
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
        # Where a point has fewer than k targets, it is its own target, and is not `present`.
        self.targets = np.repeat(np.arange(n)[:, np.newaxis], k, axis=1)
        self.present = np.zeros((n, k), dtype=bool)
        for first, last in self.classes:
            count = min(k, last - first - 1)
            self.present[first:last, :count] = True
            members = points[first:last] - points[first:last].mean(axis=0)
            for rows, d2 in distance_rows(members, _TILE):
                nearest = first + np.argpartition(d2, max(count - 1, 0))[:, :count]
                self.targets[first + rows.start : first + rows.stop, :count] = nearest

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
        for rows, i, impostor, d2 in self._impostors(Z, reach):
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

    def _impostors(self, Z: Array, reach: Array) -> Iterator[tuple[slice, Array, Array, Array]]:
        """Yield, for some rows at a time, the points within reach of them, of other classes.

        They come as the rows, an index into these, the other point, and the squared distance.
        """
        for rows, d2 in distance_rows(Z, _TILE):
            for first, last in self.classes:
                if first < rows.stop and last > rows.start:
                    same = slice(max(first - rows.start, 0), max(last - rows.start, 0))
                    d2[same, first:last] = np.inf
            i, other = np.divmod(np.flatnonzero(d2 < reach[rows, np.newaxis]), len(Z))
            yield rows, i, other, d2[i, other]
