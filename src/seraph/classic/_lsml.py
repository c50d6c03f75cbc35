"""LSML: the metric nearest to a prior one under which given pairs are closer than others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._marks import Marks, PairLabels, Rows
from .._utils._typing import Array
from ._comparisons import ComparisonLearner, pairs_by_number
from ._definite import minimize_factor, power, prior_root
from ._points import center_points

# Added to squared distances, as a share of their mean, so that they can be divided by.
_SHORTEST = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class LSML(ComparisonLearner):
    r"""Least squares metric learning from relative comparisons (Liu et al., 2012).

    A quadruplet (a, b, c, d) means that a and b are closer than c and d. The metric solves

    .. math:: \min_{A \succ 0}\; D(A, A_0) + \frac{\gamma}{K} \sum_{k=1}^K
              \max(0,\, d_A(a_k, b_k) - d_A(c_k, d_k))^2,

    where :math:`D(A, A_0) = \mathrm{tr}(A A_0^{-1}) - \ln\det(A A_0^{-1}) - m` is the LogDet
    divergence from a prior. The problem is convex, and solved to a certified gap as in `ITML`.

    Parameters
    ----------
    gamma : float, default=10.0
        Weight of the comparisons: 0 keeps the prior.
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay close to: the Euclidean one, or the inverse covariance of all points,
        labeled or not. Directions in which X does not vary are given the mean variance.
    n_constraints : int, default=1000
        With classes or pairs instead of quadruplets: the number of quadruplets to make, each of
        a similar and a dissimilar pair. All combinations if there are no more than this;
        otherwise a random sample.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-3
        Stop at this ``optimality_gap_``.
    random_state : int, RandomState instance or None, default=None
        Seed for sampling the quadruplets, if there are more than `n_constraints`.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``; the metric ``P'P`` is positive definite.
    objective_, optimality_gap_ : float
        Value of the objective above, and the certificate: it is above the minimum by at most this
        times ``max(1, objective_)``, a duality gap.
    converged_, n_iter_ : bool and int
        Whether the gap is within `tol`, and the number of iterations.

    Notes
    -----
    A comparison that A violates costs :math:`p + q - 2 \sqrt{pq}`, with p and q the squared
    distances, which are linear in A. The geometric mean of linear functions is concave, so the
    cost is convex. With :math:`\tilde A^{-1} = A_0^{-1} + G`, for the derivative G of the costs
    at A, no metric has an objective below that of A by more than :math:`D(A, \tilde A)`.

    References
    ----------
    E. Y. Liu, Z. Guo, X. Zhang, V. Jojic, W. Wang. Metric learning from relative comparisons by
    minimizing squared residual. ICDM 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.classic import LSML
    >>> X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> learner = LSML().fit(X, quadruplets=[[0, 1, 0, 2]])  # 0 and 1 are closer than 0 and 2
    >>> near, far = learner.pair_distance(X[[[0, 1], [0, 2]]])
    >>> bool(near < far + 0.1)
    True
    """

    _ranges: ClassVar = {"gamma": {"low": 0}, "n_constraints": {"low": 1, "integer": True}}
    _in_triplet = (0, 1, 0, 2)

    gamma: float = 10.0
    prior: Literal["identity", "covariance"] = "identity"
    n_constraints: int = 1000
    max_iter: int = 500
    tol: float = 1e-3
    random_state: int | np.random.RandomState | None = None

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        quadruplets: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from quadruplets; or from class labels, marked pairs or triplets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, labeled or not.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Pairs of rows that are known to be alike or not, or triplets.
        quadruplets : array-like of shape (n_quadruplets, 4), optional
            Rows a, b, c and d of `X`, by name if it has an index: a and b are closer than c and d.
            Neither y nor marks can be passed with them.
        """
        if quadruplets is None:
            return super().fit(X, y, marks=marks)
        for other, value in (("y", y), ("marks", marks)):
            if value is not None:
                raise ValueError(
                    f"{other} was passed together with quadruplets: pass either quadruplets, or "
                    "class labels and marks to make them from."
                )
        self._check_parameters()
        points = self._check_points(X)
        rows = Rows.of(X).require(quadruplets, "quadruplets", 4)
        if len(rows) == 0:
            raise ValueError("quadruplets must hold at least one comparison; got none.")
        learn = partial(self._learn_comparisons, points, rows)
        return self._fit_points(X, points, learn, n_absent_marks_=0)

    def _comparisons(self, points: Array, labels: PairLabels) -> Array:
        n_all = labels.n_similar * labels.n_dissimilar
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        n = min(n_all, self.n_constraints)
        if n_all > np.iinfo(np.int64).max:  # too many to number; hardly ever are two the same
            first = rng.integers(labels.n_similar, size=n)
            second = rng.integers(labels.n_dissimilar, size=n)
        else:
            chosen = rng.choice(n_all, n, replace=False, shuffle=False) if n < n_all else range(n)
            first, second = np.divmod(chosen, labels.n_dissimilar)
        return np.hstack(
            [
                pairs_by_number(labels, first, similar=True),
                pairs_by_number(labels, second, similar=False),
            ]
        )

    def _learn_comparisons(self, points: Array, rows: Array) -> tuple[Array, dict[str, Any]]:
        Z = center_points(points)
        root = prior_root(Z, self.prior)
        Z = Z @ root  # the prior is the identity from here on
        i, j = rows.reshape(-1, 2).T
        pairs, which = np.unique(i * len(Z) + j, return_inverse=True)  # many comparisons share one
        differences = Z[pairs // len(Z)] - Z[pairs % len(Z)]
        if not differences.any():
            raise ValueError(
                f"The points of all {len(rows)} comparisons coincide: there is nothing to learn. "
                "Pass points that differ."
            )
        near, far = which.reshape(-1, 2).T
        objective = ComparisonObjective(differences, near, far, float(self.gamma))
        L, value, gap, n_iter = objective.minimize(self.max_iter, self.tol)
        return power(L @ L.T, 0.5) @ root.T, self._certified(max(0.0, value), n_iter, gap)


class ComparisonObjective:
    """The objective as a function of a square factor L of the metric ``L L'``; the prior is 1.

    `differences` are those of pairs of points; `near` and `far` have the rows of the two of each
    comparison, and `weights` its share of the cost, the same for all by default.
    """

    def __init__(
        self,
        differences: Array,
        near: Array,
        far: Array,
        gamma: float,
        weights: Array | None = None,
    ) -> None:
        self.differences, self.near, self.far, self.gamma = differences, near, far, gamma
        self.weights = np.full(len(near), 1.0 / len(near)) if weights is None else weights
        squares = np.einsum("kr,kr->k", differences, differences)
        self.floor = _SHORTEST * float(np.mean([squares[near], squares[far]]))

    def value_and_half(self, L: Array) -> tuple[float, Array]:
        """Return the objective without ``-ln det(L L')``, and half the derivative of that by L."""
        mapped = self.differences @ L
        squares = np.einsum("kr,kr->k", mapped, mapped) + self.floor
        violated = np.flatnonzero(squares[self.near] > squares[self.far])  # others cost nothing
        near, far, weights = self.near[violated], self.far[violated], self.weights[violated]
        ratio = np.sqrt(squares[near] / squares[far])
        cost = float(weights @ (np.sqrt(squares[near]) - np.sqrt(squares[far])) ** 2)
        slopes = np.bincount(near, weights * (1.0 - 1.0 / ratio), len(squares))
        slopes += np.bincount(far, weights * (1.0 - ratio), len(squares))
        used = np.flatnonzero(slopes)
        half = self.differences[used].T @ (slopes[used, np.newaxis] * mapped[used])
        return float(np.vdot(L, L)) - len(L) + self.gamma * cost, L + self.gamma * half

    def minimize(self, max_iter: int, tol: float) -> tuple[Array, float, float, int]:
        """Return the factor, the objective, its relative gap and the number of iterations."""
        return minimize_factor(
            self.value_and_half, np.eye(self.differences.shape[1]), max_iter, tol
        )
