"""ITML: the metric nearest to a prior one that keeps similar pairs close and others apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.linalg import solve_triangular
from scipy.spatial.distance import pdist

from .._marks import PairLabels
from .._pairs import Formula, PairFunction
from .._points import choose_rows, exact_size
from .._utils._typing import Array
from .._utils._validation import check_number
from ._definite import minimize_factor, prior_root
from ._learner import CONVERGED_GAP, ClassicLearner
from ._pair_sums import PairSums
from ._points import center_points, extend_map, project_to_span

# Rows whose distances give the percentiles for the bounds, at most. The share of pairs beyond a
# bound is a U-statistic: its standard error is at most 0.02 (Hoeffding, 1948).
_MOST_ROWS = 400
# Squared distances as shares of the bound: below the first, two points coincide up to rounding;
# below the second, the derivative of the cost of a dissimilar pair is held constant, as it would
# exceed the other terms by more than half of the digits of a double.
_COINCIDING, _NEAR = 1e-24, 1e-8
# Ridge of the preconditioner, as a share of its trace: well above rounding errors.
_ROUNDING = 1e-12
# Continuation: a larger gamma is approached by factors of 10, each solved to this tolerance only.
# From a distant start, the steep costs of a large one need many iterations.
_LARGEST_DIRECT_GAMMA, _INTERMEDIATE_TOL = 100.0, 1e-3
# The pairs that follow from the labels of c classes have the weight of 40 c^2 pairs in all: the
# authors' program samples 20 c^2 of each kind.
_PAIRS_PER_CLASSES = 40


@dataclass(eq=False, repr=False, kw_only=True)
class ITML(ClassicLearner):
    r"""Information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon, 2007).

    The metric :math:`A` and a slack :math:`\xi_k` for each labeled pair solve

    .. math:: \min_{A, \xi}\; D(A, A_0) + \gamma \sum_k D(\xi_k, \xi^0_k)
              \quad\text{s.t.}\quad d_A^2 \le \xi_k \text{ in } S,\;
              d_A^2 \ge \xi_k \text{ in } D,

    where :math:`D(A, A_0) = \mathrm{tr}(A A_0^{-1}) - \ln\det(A A_0^{-1}) - m` is the LogDet
    divergence and :math:`\xi^0_k` is the bound u of a similar pair, l of a dissimilar one.

    The best value of a slack is the bound or the distance. What remains is an unconstrained
    problem: with :math:`r_k = d_A^2 / \xi^0_k`, at least 1 in S and at most 1 in D,

    .. math:: \min_A\; D(A, A_0) + \gamma \sum_k (r_k - \ln r_k - 1),

    It is solved by L-BFGS on a square factor of A, whose only stationary points are minima.
    Points that are in no labeled pair are used for the bounds and the prior only.

    Parameters
    ----------
    gamma : float or "auto", default="auto"
        Weight of the slacks: 0 keeps the prior, large values make the bounds hard. "auto" gives
        a marked pair the usual weight of 1; the pairs that follow from the labels of c classes
        share the weight of :math:`40 c^2` pairs, if there are more of them.
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay close to: the Euclidean one, or the inverse covariance of X.
        Directions in which X does not vary are given the mean variance.
    bounds : tuple of two floats, optional
        The bounds u and l of the squared distances. If None, the 5th and the 95th percentile
        of the squared distances, under the prior, between different points of X (a sample of
        400 of more).
    n_constraints : "auto" or None, default="auto"
        Which labeled pairs to use. None means all of them: with n labeled rows, an iteration takes
        O(n^2 m) time and hardly any memory. "auto" takes a sample of the pairs above 64 labeled
        rows, always the same: those of each row with about 8 others for each class (192 at most,
        or more if similar pairs are rare). Time grows with n. Marked pairs are all used.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=0.3
        Stop at this ``optimality_gap_``. The default stops early; 0.01 and less go to the
        minimum.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``; the metric ``P'P`` is positive definite.
    gamma_ : float
        The weight of the slacks that was used.
    bounds_ : tuple of two floats
        The bounds u and l of the squared distances.
    objective_, optimality_gap_ : float
        Value of the objective above, and the certificate: it is above the minimum by at most this
        times ``max(1, objective_)``, a duality gap. With a sample of the pairs, both are those of
        the sample.
    converged_, stopped_early_ : bool
        Whether the gap is within `tol`, and no more than 0.01; and whether a larger `tol` ended
        the fit before.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    With a multiplier :math:`\gamma \lambda_k` for each constraint, positive in S and negative
    in D, the dual problem is

    .. math:: \max_\lambda\; \ln\det\Bigl(I + \gamma \sum_k \lambda_k v_k v_k' A_0\Bigr)
              + \gamma \sum_k \ln(1 - \lambda_k \xi^0_k),

    where :math:`v_k` is the difference of the pair. At the multipliers that belong to a metric
    A, :math:`\lambda_k = (1 - 1 / r_k) / \xi^0_k`, the two objectives differ by the duality gap
    :math:`D(A, \tilde A)`, with
    :math:`\tilde A^{-1} = A_0^{-1} + \gamma \sum_k \lambda_k v_k v_k'`.

    No metric can separate a dissimilar pair of coinciding points, so it is left out. Where they
    are closer than a ten-thousandth of the bound's distance, the tangent replaces the cost.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra, I. S. Dhillon. Information-theoretic metric
    learning. ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import ITML
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> learner = ITML().fit(X, y)
    >>> learner.transform(X).shape
    (178, 13)
    >>> [round(bound, 1) for bound in learner.bounds_]
    [6.3, 51.7]
    """

    _ranges: ClassVar = {"gamma": {"low": 0, "instead": "auto"}}
    _choices: ClassVar = {"n_constraints": ("auto", None)}

    gamma: float | Literal["auto"] = "auto"
    prior: Literal["identity", "covariance"] = "identity"
    bounds: tuple[float, float] | None = None
    n_constraints: Literal["auto"] | None = "auto"
    max_iter: int = 500
    tol: float = 0.3

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        gamma = _automatic_gamma(labels) if self.gamma == "auto" else float(self.gamma)

        moved = center_points(points)
        root = None if self.prior == "identity" else prior_root(moved, self.prior)
        if root is not None:
            moved = moved @ root  # the prior is the identity from here on
        if self.bounds is None:
            bounds = _percentiles(moved)
        else:
            bounds = _check_bounds(self.bounds)
        sums = PairSums(labels, sampled=self.n_constraints == "auto")
        # The minimum is the same in any unit of the points and bounds, and sums want d2 near 1.
        unit = exact_size(np.sqrt(max(bounds)))
        used, basis = project_to_span(moved[sums.rows] / unit)
        slack_bounds = bounds[0] / unit**2, bounds[1] / unit**2
        R, n_iter = np.eye(used.shape[1]), 0
        steps = max(0, math.ceil(math.log10(max(gamma, 1.0) / _LARGEST_DIRECT_GAMMA)))
        for step in range(steps, -1, -1):
            objective = _SlackObjective(used, sums, slack_bounds, gamma / 10.0**step)
            tol = max(self.tol, _INTERMEDIATE_TOL) if step else self.tol
            L, value, gap, n_steps = minimize_factor(
                objective.value_and_half, objective.root.T @ R, self.max_iter - n_iter, tol
            )
            R = objective.C @ L
            n_iter += n_steps
        P = extend_map(R.T, basis)
        return P if root is None else P @ root.T, {
            "gamma_": gamma,
            "bounds_": bounds,
            **self._certified(
                max(0.0, value),
                n_iter,
                gap,
                converged=gap <= min(self.tol, CONVERGED_GAP),
                stopped_early=CONVERGED_GAP < gap <= self.tol,
            ),
        }


@dataclass(frozen=True)
class SlackCost(PairFunction):
    """The cost ``r - ln r - 1`` of a slack, ``r = slack / bound``.

    The slack of a similar pair is ``max(d2, upper)`` and that of a dissimilar one ``min(d2,
    lower)``: an inactive one is at its bound and costs nothing. Below ``r = _NEAR``, the tangent
    replaces the cost; a dissimilar pair of coinciding points costs nothing.
    """

    upper: float
    lower: float

    vanishes: ClassVar[bool] = True  # a pair at FAR has q = 0: its slack is at the bound
    is_sharp: ClassVar[bool] = True

    @property
    def numbers(self) -> tuple[float, ...]:
        return self.upper, self.lower, _COINCIDING, _NEAR

    @staticmethod
    def formula(xp: Any) -> Formula:
        log, where = xp.log, xp.where

        def cost(d2: Any, q: Any, numbers: Any) -> tuple[Any, Any, Any]:
            upper, lower, coinciding, near = numbers
            bound = upper * q + lower * (1.0 - q)  # exact, however far apart they are
            r = d2 / bound
            is_active = ((r > 1.0) == (q > 0.5)) & (r >= coinciding)
            r = where(is_active, r, 1.0)
            at = where(r < near, near, r)
            slope = 1.0 - 1.0 / at
            # (= at - ln at - 1 + slope (r - at), the tangent of r - ln r - 1 at `at`)
            return slope * r - log(at), 1.0, slope / bound

        return cost


class _SlackObjective:
    """The objective as a function of a square factor L of the metric ``A = C L L' C'``.

    In coordinates where the prior is the identity, C is an inverse root of ``1 + gamma M / u``,
    with M the scatter of the similar pairs: the objective is about equally curved in all features.
    """

    def __init__(
        self, X: Array, sums: PairSums, bounds: tuple[float, float], gamma: float
    ) -> None:
        self.sums, self.cost, self.gamma = sums, SlackCost(*bounds), gamma
        curvature, identity = gamma / bounds[0] * sums.similar_scatter(X), np.eye(X.shape[1])
        # The second ridge exceeds the rounding errors of the largest eigenvalue, so that there is
        # a Cholesky factor. C need not be exact: it only preconditions.
        curvature += (1.0 + _ROUNDING * np.trace(curvature)) * identity
        self.root = np.linalg.cholesky(curvature)
        self.C = solve_triangular(self.root, identity, lower=True).T
        self.X = X @ self.C
        self.inner = self.C.T @ self.C
        self.offset = 2.0 * float(np.log(np.diag(self.root)).sum()) - len(curvature)

    def value_and_half(self, L: Array) -> tuple[float, Array]:
        """Return the objective without ``-ln det(L L')``, and half the derivative of that by L."""
        slack, half = self.sums.by_factor(self.X, L.T, self.cost)
        pull = self.inner @ L
        value = float(np.vdot(L, pull)) + self.offset + self.gamma * slack
        return value, pull + self.gamma * half.T


def _automatic_gamma(labels: PairLabels) -> float:
    """Return the weight of a slack that keeps the sum over many pairs of classes in bounds."""
    n_classes = int(labels.codes.max(initial=-1)) + 1
    most = _PAIRS_PER_CLASSES * n_classes**2 + len(labels.pairs)
    return min(1.0, most / labels.n_labeled)


def _percentiles(X: Array) -> tuple[float, float]:
    """Return the 5th and the 95th percentile of the squared distances between different points."""
    rows = choose_rows(len(X), _MOST_ROWS, seed=0)
    d2 = pdist(X if rows is None else X[rows], "sqeuclidean")
    d2 = d2[d2 > _COINCIDING * d2.max()]
    if len(d2) == 0:
        raise ValueError(
            "All points of X coincide: there are no distances to take the bounds from, and "
            "nothing to learn. Pass points that differ."
        )
    upper, lower = np.percentile(d2, [5, 95]).tolist()
    return upper, lower


def _check_bounds(bounds: Any) -> tuple[float, float]:
    if not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise ValueError(f"bounds must be two numbers, u and l, or None; got {bounds!r}.")
    for name, bound in zip("ul", bounds, strict=True):
        check_number(f"bounds: {name}", bound, low=0)
        if bound == 0:
            raise ValueError(f"bounds: {name} must be positive, as distances are; got {bounds!r}.")
    return float(bounds[0]), float(bounds[1])
