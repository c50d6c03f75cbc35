"""Choose the rows to label next: typical ones, of regions without a label."""

from __future__ import annotations

from warnings import catch_warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .._utils._typing import Array
from ..metrics._tiles import SquaredDistances

_NEIGHBORS = 20


def typical_rows(Z: Array, labeled: Array, n: int, rng: np.random.RandomState) -> Array:
    """Choose `n` rows without a label, one from each of the largest clusters without one.

    There are as many clusters as labeled and wanted rows together, so enough of them have no
    label. The row taken is the most typical: its neighbors in the cluster are nearest. `labeled`
    says which rows of the mapped points `Z` have a label. Returns row numbers, those of large
    clusters first.
    """
    chosen: list[int] = []
    k = min(int(labeled.sum()) + n, len(Z))
    points = Z if Z.shape[1] else np.zeros((len(Z), 1))
    # There may be fewer distinct points than clusters.
    with catch_warnings(action="ignore", category=ConvergenceWarning):
        cluster = KMeans(k, n_init=1, random_state=rng).fit_predict(points)
    covered = np.unique(cluster[labeled])
    sizes = np.bincount(cluster, minlength=k)
    sizes[covered] = 0
    d2 = SquaredDistances(points)
    for number in np.argsort(-sizes, kind="stable")[:n]:
        if sizes[number]:
            rows = np.flatnonzero(cluster == number)
            near = np.sort(d2(rows, rows), axis=1)[:, : _NEIGHBORS + 1]
            chosen.append(int(rows[np.argmin(np.sqrt(near).mean(axis=1))]))
    left = np.setdiff1d(np.flatnonzero(~labeled), chosen)  # where points coincide
    more = rng.permutation(left)[: n - len(chosen)]
    return np.array([*chosen, *more.tolist()], dtype=np.intp)
