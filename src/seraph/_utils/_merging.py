"""Agglomerative clustering, one merge at a time, with clusters that must stay apart."""

from __future__ import annotations

import numpy as np

from ._typing import Array


class Merging:
    """Clusters that are merged one pair at a time, and the distances between them.

    Distances to a merged cluster follow from those to its parts (Lance and Williams 1967). The
    nearest other cluster of each is kept, so that a merge takes O(n) time for most of them.
    """

    def __init__(self, distances: Array, linkage: str) -> None:
        n = len(distances)
        self.linkage = linkage
        self.distances = distances
        np.fill_diagonal(self.distances, np.inf)
        self.forbidden = np.eye(n, dtype=bool)
        self.sizes = np.ones(n)
        self.cluster = np.arange(n)  # of each point: the number of its first point
        self.n_clusters = n
        self.nearest = np.zeros(n, dtype=np.intp)
        self.gap = np.full(n, np.inf)

    def forbid(self, pairs: Array) -> None:
        """Let some clusters never be merged, and look up the nearest of each."""
        self.forbidden[pairs[:, 0], pairs[:, 1]] = True
        self.forbidden[pairs[:, 1], pairs[:, 0]] = True
        for row in np.flatnonzero(self.sizes > 0):
            self._look_up(int(row))

    def merge(self, a: int, b: int) -> None:
        """Merge cluster `b` into cluster `a`, whose first point comes before that of `b`."""
        d, na, nb = self.distances, self.sizes[a], self.sizes[b]
        if self.linkage == "average":
            joint = (na * d[a] + nb * d[b]) / (na + nb)
        elif self.linkage == "complete":
            joint = np.maximum(d[a], d[b])
        else:
            n = np.maximum(self.sizes, 1.0)
            joint = ((na + n) * d[a] + (nb + n) * d[b] - n * d[a, b]) / (na + nb + n)
        joint[[a, b]] = np.inf
        joint[self.sizes == 0] = np.inf
        d[a], d[:, a] = joint, joint
        d[b], d[:, b] = np.inf, np.inf
        barred = self.forbidden[a] | self.forbidden[b]
        self.forbidden[a], self.forbidden[:, a] = barred, barred
        self.sizes[a], self.sizes[b] = na + nb, 0.0
        self.cluster[self.cluster == b] = a
        self.n_clusters -= 1

    def merge_nearest(self) -> bool:
        """Merge the two nearest clusters that may be; return whether there were any."""
        a = int(np.argmin(self.gap))
        if np.isinf(self.gap[a]):
            return False
        b = int(self.nearest[a])
        a, b = min(a, b), max(a, b)
        self.merge(a, b)
        self.gap[b] = np.inf
        alive = self.sizes > 0
        stale = alive & np.isin(self.nearest, (a, b))
        stale[a] = True
        for row in np.flatnonzero(stale):
            self._look_up(int(row))
        # The merged cluster may be nearer to others than their nearest so far (with these
        # linkages, only by rounding), or still be their nearest.
        closer = alive & ~self.forbidden[a] & (self.distances[a] < self.gap)
        self.gap[closer], self.nearest[closer] = self.distances[a][closer], a
        return True

    def labels(self) -> Array:
        """Return the cluster of each point, numbered by their first points."""
        return np.unique(self.cluster, return_inverse=True)[1].reshape(-1)

    def _look_up(self, row: int) -> None:
        allowed = np.where(self.forbidden[row], np.inf, self.distances[row])
        self.nearest[row] = int(np.argmin(allowed))
        self.gap[row] = allowed[self.nearest[row]]
