"""GMML: the metric halfway from the inverse scatter of similar pairs to the scatter of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._marks import PairLabels
from .._utils._typing import Array
from ._definite import power, with_ridge
from ._learner import ClassicLearner
from ._pair_sums import PairSums, all_pairs
from ._points import remove_unit


@dataclass(eq=False, repr=False, kw_only=True)
class GMML(ClassicLearner):
    r"""Geometric mean metric learning (Zadeh, Hosseini, Sra, 2016), in closed form.

    With :math:`S` and :math:`D` the mean of :math:`(x_i - x_j)(x_i - x_j)'` over the similar and
    the dissimilar pairs, the metric :math:`A` solves

    .. math:: \min_{A \succ 0}\; \mathrm{tr}(A S) + \mathrm{tr}(A^{-1} D):

    :math:`A` makes the distances of similar pairs small, and :math:`A^{-1}` those of dissimilar
    ones. The solution is the geometric mean of :math:`S^{-1}` and :math:`D`. It is the middle,
    :math:`t = 1/2`, of the geodesic

    .. math:: S^{-1} \sharp_t D = S^{-1/2} (S^{1/2} D S^{1/2})^t S^{-1/2}.

    Parameters
    ----------
    t : float, default=0.5
        Place on the geodesic, from 0 (the inverse scatter of similar pairs) to 1 (the scatter of
        dissimilar ones).
    ridge : float, default=1.0
        What to add to the diagonals of S and D, as a multiple of their mean variance. With few
        pairs, the scatter in most directions is little more than noise. 0 is the paper's plain
        form, for more pairs than features.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``, the symmetric root of the metric ``P'P``.

    Notes
    -----
    The paper's regularization adds multiples of a prior :math:`A_0^{-1}` to S and of :math:`A_0`
    to D. Here the prior is the Euclidean metric, and the multiples follow the units of X.

    If there are similar pairs only, as where people mark what belongs together, D is the mean
    over all pairs of points, unlabeled ones included: most pairs are dissimilar. Otherwise
    points that are in no labeled pair are not used.

    References
    ----------
    P. H. Zadeh, R. Hosseini, S. Sra. Geometric mean metric learning. ICML 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import GMML
    >>> X, y = load_wine(return_X_y=True)
    >>> GMML().fit(X / X.std(axis=0), y).transform(X).shape
    (178, 13)
    """

    _ranges: ClassVar = {"t": {"low": 0, "high": 1}}

    t: float = 0.5
    ridge: float = 1.0

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        if labels.n_similar == 0:
            raise ValueError(
                f"All {labels.n_dissimilar} labeled pairs are dissimilar: GMML needs similar ones "
                "to bring together. Add a second label of some class, or similar pairs."
            )
        Z, size = remove_unit(points)
        sums = PairSums(labels)
        similar, dissimilar = sums.scatters(Z[sums.rows])
        S = with_ridge(similar / labels.n_similar, self.ridge, "similar pairs")
        if labels.n_dissimilar:
            D = with_ridge(dissimilar / labels.n_dissimilar, self.ridge, "dissimilar pairs")
        else:
            n_pairs = len(Z) * (len(Z) - 1) / 2
            D = with_ridge(all_pairs(Z) / n_pairs, self.ridge, "rows of X")
        # In units of their traces, neither can overflow. The geodesic is homogeneous: of degree
        # t - 1 in S and t in D. Both are in units of size^2 to begin with.
        t, s, d = float(self.t), float(S.trace()), float(D.trace())
        unit = size ** (2.0 * t - 1.0) * s ** (0.5 * (t - 1.0)) * d ** (0.5 * t)
        return unit * power(geodesic(S / s, D / d, t), 0.5), {}


def geodesic(S: Array, D: Array, t: float) -> Array:
    """Return the point t on the way from the inverse of `S` to `D`.

    ``S^(-1/2) (S^(1/2) D S^(1/2))^t S^(-1/2)``
    """
    root, inverse_root = power(S, 0.5), power(S, -0.5)
    return inverse_root @ power(root @ D @ root, t) @ inverse_root
