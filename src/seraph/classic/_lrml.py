"""LRML: the inverse of a matrix of neighbors, similar pairs and dissimilar ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._marks import PairLabels
from .._points import principal_directions
from .._utils._eigen import eigh
from .._utils._graph import neighbor_graph, neighbors_and_pairs, roughness
from .._utils._typing import Array
from ._definite import ZERO
from ._learner import ClassicLearner
from ._pair_sums import PairSums
from ._points import extend_map, remove_unit

# Most rows to search neighbors for. On digits with 50 labels, 1,000 of 1,797 rows give the error
# of nearest neighbors of all rows, to 0.1 points, in 60 % of the time.
_MOST_ROWS = 1000
# Rows to search among, at most: a search among a million would take a minute.
_SAMPLED_ROWS = 20_000


@dataclass(eq=False, repr=False, kw_only=True)
class LRML(ClassicLearner):
    r"""Laplacian regularized metric learning (Hoi, Liu and Chang, 2008), in closed form.

    The metric :math:`M` keeps neighbors and similar pairs close, and dissimilar pairs apart, at a
    fixed volume:

    .. math:: \min_{M \succ 0}\; \mathrm{tr}(M K) \quad \text{with} \quad \ln \det M \geq 0,
              \qquad K = R + \gamma_s S - \gamma_d D.

    :math:`R`, :math:`S` and :math:`D` are the sums of :math:`(x_i - x_j)(x_i - x_j)'` over the
    neighbors among all points, labeled or not, over the similar and over the dissimilar pairs,
    each divided by its trace. Where :math:`K` is positive definite, the minimum is
    :math:`\det(K)^{1/m} K^{-1}`. Otherwise there is none: small eigenvalues are lifted first.

    Above 1,000 rows, only 1,000 of them, the labeled ones first, are joined to their neighbors.

    Parameters
    ----------
    n_neighbors : int, default=6
        Number of neighbors of each point; all other points if there are fewer.
    similar_weight : float, default=3.0
        The weight :math:`\gamma_s` of the similar pairs.
    dissimilar_weight : float, default=1.0
        The weight :math:`\gamma_d` of the dissimilar pairs.
    floor : float, default=0.02
        Eigenvalues of K below this share of the largest are lifted to it. 0 lifts none, and
        refuses K that is not positive definite.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``, the symmetric root of the metric ``P'P``.
    n_lifted_ : int
        Number of eigenvalues that were lifted; if 0, the metric is the minimum.

    Notes
    -----
    In directions in which the points do not vary, the metric is the Euclidean one. Pairs of one
    kind are enough. The paper weighs sums over pairs; here weights are in units of the traces.

    References
    ----------
    S. C. H. Hoi, W. Liu, S.-F. Chang. Semi-supervised distance metric learning for collaborative
    image retrieval. CVPR 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import LRML
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> labels = np.full(len(y), -1)
    >>> labels[::6] = y[::6]  # 30 labels, 148 unlabeled rows
    >>> LRML().fit(X, labels).transform(X).shape
    (178, 13)
    """

    _ranges: ClassVar = {
        "similar_weight": {"low": 0},
        "dissimilar_weight": {"low": 0},
        "floor": {"low": 0, "high": 1},
    }

    n_neighbors: int = 6
    similar_weight: float = 3.0
    dissimilar_weight: float = 1.0
    floor: float = 0.02

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        if len(points) > _SAMPLED_ROWS:
            rows = labeled_first(labels.is_labeled, _SAMPLED_ROWS)
            points, labels = points[rows], labels.among(rows)
        left, lengths, directions = principal_directions(remove_unit(points)[0])
        Z = left * lengths
        if not Z.any():
            raise ValueError(
                "All rows of X are one and the same point: there is no distance to learn. Pass "
                "points that differ."
            )
        rows = labeled_first(labels.is_labeled, _MOST_ROWS)
        graph = neighbor_graph(Z, int(self.n_neighbors), rows=rows)
        sums = PairSums(labels)
        similar, dissimilar = sums.scatters(Z[sums.rows])
        weights = float(self.similar_weight), float(self.dissimilar_weight)
        K = neighbors_and_pairs(roughness(Z, graph), similar, dissimilar, *weights)
        values, vectors = eigh(K)
        least = float(self.floor) * values[-1]
        if values[-1] <= 0.0 or max(values[0], least) <= ZERO * values[-1]:
            raise ValueError(
                "The neighbors and the similar pairs do not outweigh the dissimilar ones in any "
                f"metric: dissimilar_weight={self.dissimilar_weight:g} and floor={self.floor:g} "
                "leave no minimum. Lower the first or raise the second."
            )
        lifted = np.maximum(values, least)
        root = np.exp(0.5 * np.mean(np.log(lifted))) / np.sqrt(lifted)
        P = (vectors * root) @ vectors.T
        return extend_map(P, directions.T), {"n_lifted_": int(np.sum(values < least))}


def labeled_first(is_labeled: Array, most: int) -> Array:
    """Choose at most `most` rows at random: the labeled ones first, then others."""
    rows = np.random.default_rng(0).permutation(len(is_labeled))
    return np.sort(rows[np.argsort(~is_labeled[rows], kind="stable")][:most])
