"""SDML: a sparse metric, by the graphical lasso."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.covariance import graphical_lasso
from sklearn.exceptions import ConvergenceWarning

from .._marks import PairLabels
from .._utils._eigen import eigvalsh
from .._utils._typing import Array
from ._definite import ZERO, power, prior_root
from ._learner import ClassicLearner
from ._pair_sums import PairSums
from ._points import remove_unit


@dataclass(eq=False, repr=False, kw_only=True)
class SDML(ClassicLearner):
    r"""Sparse distance metric learning (Qi, Tang, Zha, Chua, Zhang, 2009).

    With :math:`S` and :math:`D` the mean of :math:`(x_i - x_j)(x_i - x_j)'` over the similar and
    the dissimilar pairs, the metric solves

    .. math:: \min_{A \succ 0}\; \mathrm{tr}(A K) - \ln\det A + \alpha \sum_{i \neq j} |A_{ij}|,
              \qquad K = A_0^{-1} + \eta\,(S - D).

    :math:`\mathrm{tr}(A A_0^{-1}) - \ln\det A` is the LogDet divergence from the prior, and the
    last sum makes entries of A zero: pairs of features that do not interact. This is the problem
    of the graphical lasso, and scikit-learn solves it.

    Parameters
    ----------
    balance : float, default=0.9
        Weight :math:`\eta` of the pairs, as a share, at least 0 and below 1, of the largest for
        which there is a minimum (K must be positive definite). 0 keeps the prior.
    sparsity : float, default=0.01
        :math:`\alpha`, as a multiple of the mean of the diagonal of :math:`A_0^{-1}`.
    prior : {"identity", "covariance"}, default="identity"
        The metric :math:`A_0` to stay close to: the Euclidean one, or the inverse covariance of
        all points, labeled or not. Directions in which X does not vary are given the mean
        variance.
    max_iter : int, default=100
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop at this duality gap.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``, the symmetric root of the metric ``P'P``. The metric has the zeros;
        its root need not.
    weight_ : float
        The weight :math:`\eta` that was used.
    objective_ : float
        Value of the objective above.
    converged_, n_iter_ : bool and int
        Whether the gap is within `tol`, and the number of iterations.

    Notes
    -----
    The paper has sums over the pairs instead of means, and an absolute weight, for which there is
    hardly ever a minimum. A share depends neither on the number of pairs nor on the unit of X. If
    there is a minimum for every weight, 1 is the one that no more than doubles any direction of K.

    References
    ----------
    G.-J. Qi, J. Tang, Z.-J. Zha, T.-S. Chua, H.-J. Zhang. An efficient sparse metric learning
    in high-dimensional space via l1-penalized log-determinant regularization. ICML 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import SDML
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> A = SDML(sparsity=0.1).fit(X, y).get_mahalanobis_matrix()
    >>> bool((abs(A) > 1e-9).sum() < 0.5 * A.size)
    True
    """

    _ranges: ClassVar = {"balance": {"low": 0, "below": 1}, "sparsity": {"low": 0}}

    balance: float = 0.9
    sparsity: float = 0.01
    prior: Literal["identity", "covariance"] = "identity"
    max_iter: int = 100
    tol: float = 1e-4

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        Z, size = remove_unit(points)
        sums = PairSums(labels)
        similar, dissimilar = sums.scatters(Z[sums.rows])
        pull = similar / max(1, labels.n_similar) - dissimilar / max(1, labels.n_dissimilar)
        root = prior_root(Z, self.prior)
        inverse_root = np.linalg.inv(root)
        inverse = inverse_root.T @ inverse_root
        weight = float(self.balance) * largest_weight(pull, root)
        alpha = float(self.sparsity) * float(np.trace(inverse)) / len(inverse)
        K = inverse + weight * pull
        A, value, n_iter, converged = sparse_metric(K, alpha, self.max_iter, self.tol)
        # The metric has the unit of the prior; the weight converts the pairs to it, to form K.
        unit = 1.0 if self.prior == "identity" else size
        value += 2.0 * len(inverse) * float(np.log(unit))
        solved = self._certified(value, n_iter, converged=converged)
        return power(A, 0.5) / unit, {"weight_": weight * (unit / size) ** 2, **solved}


def largest_weight(pull: Array, root: Array) -> float:
    """Return the least weight at which ``inv(root root') + weight * pull`` is singular.

    If there is none, the one that doubles the largest direction; 1 if `pull` is zero.
    """
    # inv(R R') + w S is singular where 1 + w v = 0, for an eigenvalue v of R' S R.
    values = eigvalsh(root.T @ pull @ root)
    size = float(np.abs(values).max())
    if size == 0.0:
        return 1.0
    return 1.0 / float(-values[0] if values[0] < -ZERO * size else values[-1])


def sparse_metric(
    K: Array, alpha: float, max_iter: int, tol: float
) -> tuple[Array, float, int, bool]:
    """Minimize ``tr(A K) - ln det A + alpha sum_{i != j} |A_ij|``.

    In units in which the mean of the diagonal of K is 1: there `tol` is a duality gap. Returns the
    metric A, the objective, the number of iterations and whether it converged.
    """
    m = len(K)
    # With K = u K', alpha = u alpha' and A = A' / u, the objective is that of A' plus m ln u.
    unit = float(np.trace(K)) / m
    K, alpha = K / unit, alpha / unit
    n_iter, converged = 1, True
    off_diagonal = np.abs(K - np.diag(np.diag(K))).max()
    if off_diagonal <= alpha:  # then no entry off the diagonal pays (Witten et al., 2011)
        A = np.diag(1.0 / np.diag(K))
    else:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                _, A, n_iter = graphical_lasso(
                    K,
                    alpha,
                    max_iter=max_iter,
                    tol=max(tol, 1e-12),
                    enet_tol=min(1e-4, max(0.1 * tol, 1e-14)),
                    return_n_iter=True,
                )
            except FloatingPointError as error:
                raise ValueError(
                    f"SDML cannot solve this problem: with sparsity={alpha:g} it is too "
                    "ill-conditioned. Raise sparsity, lower balance, or drop features that "
                    "repeat others."
                ) from error
        converged = not any(issubclass(w.category, ConvergenceWarning) for w in caught)
        converged = converged and tol > 0.0
    A = 0.5 * (A + A.T)
    absolute = np.abs(A).sum() - np.abs(np.diag(A)).sum()
    value = np.vdot(A, K) - np.linalg.slogdet(A)[1] + m * np.log(unit) + alpha * absolute
    return A / unit, float(value), int(n_iter), converged
