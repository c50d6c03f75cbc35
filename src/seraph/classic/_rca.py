"""RCA: whiten the scatter within groups of points that are known to belong together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._marks import PairLabels
from .._utils._typing import Array
from ._definite import with_ridge
from ._learner import ClassicLearner, check_components
from ._points import remove_unit, subtract_group_means


@dataclass(eq=False, repr=False, kw_only=True)
class RCA(ClassicLearner):
    r"""Relevant component analysis (Shental et al., 2002; Bar-Hillel et al., 2003).

    A chunk is a group of points that belong together. The metric is the inverse of the mean
    scatter within the chunks of N points,

    .. math:: A = C^{-1}, \qquad
              C = \frac{1}{N} \sum_{c} \sum_{x \in c} (x - \bar x_c)(x - \bar x_c)'.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    ridge : float, default=1.0
        What to add to the diagonal of C, as a multiple of its mean variance. With few labels,
        the scatter in most directions is little more than noise. 0 is the paper's plain form,
        for more points in chunks than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``P``; the metric is ``P'P``. The first rows are those along which the
        points vary most compared with the chunks.
    n_chunks_ : int
        Number of chunks of at least two points.

    Notes
    -----
    Chunks are the classes in `y`, and the groups that similar pairs connect: if (a, b) and (b, c)
    are similar, then a, b and c are a chunk. Dissimilar pairs are not used.

    The rows of the map are the generalized eigenvectors of ``T w = v C w``, with T the
    covariance of all points, scaled to ``w' C w = 1``. With all of them, ``P'P`` is the inverse
    of C.

    References
    ----------
    N. Shental, T. Hertz, D. Weinshall, M. Pavel. Adjustment learning and relevant component
    analysis. ECCV 2002.

    A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall. Learning distance functions using
    equivalence relations. ICML 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph import Marks
    >>> from seraph.classic import RCA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> marks = Marks([[0, 1], [1, 2], [60, 61]], [1] * 3, rows=X)
    >>> learner = RCA(n_components=2).fit(X, marks=marks)
    >>> learner.n_chunks_, learner.transform(X).shape
    (2, (178, 2))
    """

    n_components: int | None = None
    ridge: float = 1.0

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        check_components(self.n_components, points.shape[1])
        group, n_chunks = chunks(labels)
        if n_chunks == 0:
            raise ValueError(
                f"All {labels.n_dissimilar} labeled pairs are dissimilar: RCA learns from points "
                "that belong together. Add a second label of some class, or similar pairs."
            )
        Z, size = remove_unit(points)
        in_chunks = group >= 0
        deviations = subtract_group_means(Z[in_chunks], group[in_chunks])
        scatter = deviations.T @ deviations / len(deviations)
        inner = with_ridge(scatter, self.ridge, "points of each chunk")
        rows: Array = eigh(Z.T @ Z / len(Z), inner)[1].T[::-1]
        return rows[: self.n_components] / size, {"n_chunks_": n_chunks}


def chunks(labels: PairLabels) -> tuple[Array, int]:
    """Return the chunk of each row, -1 for a row that is alone, and the number of chunks."""
    n = len(labels.codes)
    known = np.flatnonzero(labels.codes >= 0)
    alike = labels.pairs[labels.similar]
    # A node for each row, and one for each class that its rows are linked to: with the classes
    # 0 0 -1 and a similar pair of rows 1 and 2, the links 0-3, 1-3 and 1-2 make one chunk.
    first = np.concatenate([known, alike[:, 0]])
    second = np.concatenate([n + labels.codes[known], alike[:, 1]])
    size = n + int(labels.codes.max(initial=-1)) + 1
    links = coo_array((np.ones(len(first)), (first, second)), shape=(size, size))
    group = connected_components(links, directed=False)[1][:n]
    _, group, count = np.unique(group, return_inverse=True, return_counts=True)
    number = np.where(count > 1, np.cumsum(count > 1) - 1, -1)
    return number[group], int(np.sum(count > 1))
