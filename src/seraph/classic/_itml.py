"""ITML: the metric nearest to a prior one that holds similar pairs close, others apart."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._validation import check_choice, check_number
from ._scatter import PairSums, centred

_CORRECTIONS = 20  # of L-BFGS
_ROWS_FOR_BOUNDS = 1000  # at most, for the percentiles of the distances
# Squared distances as shares of the bound: below the first, two points are one but for
# rounding; below the second, the weight of a dissimilar pair grows no more, because the sums
# it stands in would lose their digits.
_SAME, _NEAR = 1e-24, 1e-8
_HAIR = 1e-6
_STEEP, _ON_THE_WAY = 100.0, 1e-3  # gamma that is solved for at once, tolerance below it


class ITML(MahalanobisLearner):
    r"""Information-theoretic metric learning (Davis, Kulis, Jain, Sra, Dhillon, 2007).

    The metric :math:`A` and a slack :math:`\xi_k` of each labelled pair solve

    .. math:: \min_{A, \xi}\; D(A, A_0) + \gamma \sum_k D(\xi_k, \xi^0_k)
              \quad\text{s.t.}\quad d_A^2 \le \xi_k \text{ in } S,\;
              d_A^2 \ge \xi_k \text{ in } D,

    where :math:`D(A, A_0) = \mathrm{tr}(A A_0^{-1}) - \ln\det(A A_0^{-1}) - m` is the LogDet
    divergence and :math:`\xi^0_k` is the bound u of a similar pair, l of a dissimilar one.

    It is solved as the unconstrained problem that is left once each slack has its best
    value, the bound or the distance: with :math:`r_k = d_A^2 / \xi^0_k`, at least 1 in S and
    at most 1 in D,

    .. math:: \min_A\; D(A, A_0) + \gamma \sum_k (r_k - \ln r_k - 1),

    by L-BFGS on a square factor of A, whose only stationary points are minima. Cyclic
    projections, as in the paper, go to the same minimum, one pair at a time.

    Parameters
    ----------
    gamma : float, default=1.0
        Weight of the slacks: 0 keeps the prior, large values make the bounds hard.
    prior : {"identity", "covariance"}, default="identity"
        The metric to stay near: the Euclidean one, or that of the inverse covariance of X.
        Directions in which X does not vary are given the mean variance.
    bounds : tuple of two floats, optional
        The bounds u and l of the squared distances. If None, the 5th and the 95th percentile
        of the squared distances, under the prior, between different points of X (1000 of them,
        evenly spaced, where there are more): the constraints are on squared distances, and
        percentiles under the prior make the prior the least change where it will do.
    n_constraints : int, optional
        Number of labelled pairs to use, drawn at random. If None, all of them: with n labelled
        rows, an iteration costs O(n^2 m) time, and no memory to speak of.
    max_iter : int, default=500
        Iterations of the solver at most.
    tol : float, default=1e-6
        Where to stop: at this ``optimality_gap_``.
    random_state : int, RandomState instance or None, default=None
        Draws the pairs, where `n_constraints` is set. Nothing else is random.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map ``P``; the metric ``P'P`` is positive definite.
    bounds_ : tuple of two floats
        The bounds u and l of the squared distances.
    objective_ : float
        Value of the objective above.
    optimality_gap_ : float
        The certificate: ``objective_`` is above the minimum by at most this times
        ``max(1, objective_)``, a duality gap.
    converged_ : bool
        Whether the gap is within `tol`.
    n_iter_ : int
        Iterations of the solver.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

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

    A dissimilar pair of coinciding points cannot be parted by any metric and is left out. One
    closer than a ten-thousandth of the bound's distance counts by the tangent of its cost there.

    References
    ----------
    J. V. Davis, B. Kulis, P. Jain, S. Sra, I. S. Dhillon. Information-theoretic metric
    learning. ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import ITML
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> learner = ITML().fit(X, y)
    >>> learner.transform(X).shape
    (178, 13)
    >>> [round(bound, 1) for bound in learner.bounds_]
    [6.3, 51.7]
    """

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        prior: Literal["identity", "covariance"] = "identity",
        bounds: tuple[float, float] | None = None,
        n_constraints: int | None = None,
        max_iter: int = 500,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.gamma = gamma
        self.prior = prior
        self.bounds = bounds
        self.n_constraints = n_constraints
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from class labels, marked pairs, or both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points. Those that stand in no labelled pair serve the bounds and the prior only.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        ITML
            The fitted learner.
        """
        check_number("gamma", self.gamma, low=0)
        check_choice("prior", self.prior, ("identity", "covariance"))
        check_number("n_constraints", self.n_constraints, low=1, integer=True, instead=None)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        points = self._check_points(X)
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        if self.n_constraints is not None and self.n_constraints < labels.n_labeled:
            labels = _drawn(labels, self.n_constraints, self.random_state)

        moved = centred(points)
        root = np.eye(points.shape[1]) if self.prior == "identity" else _whitening(moved)
        moved = moved @ root  # the prior is the identity from here on
        bounds = _percentiles(moved) if self.bounds is None else _checked_bounds(self.bounds)
        sums = PairSums(labels)
        used, basis = _in_their_span(moved[sums.rows])
        R, n_iter = np.eye(used.shape[1]), 0
        for gamma in _up_to(float(self.gamma)):
            problem = _Problem(used, sums, bounds, gamma)
            tol = self.tol if gamma == self.gamma else max(self.tol, _ON_THE_WAY)
            R, value, gap, n_steps = _minimum(problem, R, self.max_iter - n_iter, tol)
            n_iter += n_steps
        if gap > self.tol:
            warnings.warn(
                f"ITML has not converged ({n_iter} iterations, optimality gap {gap:.1e}). Raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        components = _symmetric_root(R, basis) @ root.T
        return self._learned(
            X,
            components.astype(points.dtype),
            bounds_=bounds,
            objective_=max(0.0, value),
            optimality_gap_=gap,
            converged_=gap <= self.tol,
            n_iter_=max(1, n_iter),
        )


class _Problem:
    """The objective as a function of a square factor of the metric.

    The metric is ``A = C L L' C'`` in coordinates where the prior is the identity. C is the
    inverse root of ``1 + gamma M / u``, with M the scatter of the similar pairs, so that all
    the features, however they are scaled, curve the objective alike.
    """

    def __init__(
        self, X: NDArray, sums: PairSums, bounds: tuple[float, float], gamma: float
    ) -> None:
        self.sums, self.bounds, self.gamma = sums, bounds, gamma
        values, vectors = np.linalg.eigh(gamma / bounds[0] * sums.scatters(X)[0])
        self.curvature = 1.0 + np.maximum(values, 0.0)
        self.C = vectors / np.sqrt(self.curvature)
        self.X = X @ self.C

    def factor(self, R: NDArray) -> NDArray:
        """Factor L of the metric ``R R'``."""
        return self.C.T @ R * self.curvature[:, np.newaxis]  # the inverse of C, times R

    def term(self, d2: NDArray, similar: NDArray) -> tuple[float, NDArray]:
        """Cost of the slacks, ``r - ln r - 1``, and its derivative by the squared distance."""
        bound = np.where(similar, *self.bounds)
        ratio = np.divide(d2, bound, out=d2)
        idle = similar != (ratio > 1.0)
        if ratio.min() < _SAME:
            idle |= ratio < _SAME
        ratio[idle] = 1.0
        kept = np.maximum(ratio, _NEAR)  # the tangent below, instead of the logarithm
        slope = 1.0 - 1.0 / kept
        value = np.vdot(ratio, slope) - np.log(kept, out=kept).sum()
        return float(value), np.divide(slope, bound, out=slope)

    def value_and_gradient(self, L: NDArray) -> tuple[float, NDArray]:
        """Objective, and half its derivative by L."""
        sign, logdet = np.linalg.slogdet(L)
        if sign == 0.0:  # the objective is infinite; a hair beside it sends a search back as well
            L = L + _HAIR * np.eye(len(L))
            logdet = np.linalg.slogdet(L)[1]
        slack, product = self.sums.laplacian(self.X @ L, self.term)
        pull = L / self.curvature[:, np.newaxis]  # C'C L
        divergence = np.vdot(L, pull) - 2.0 * logdet + np.log(self.curvature).sum() - len(L)
        gradient = pull - np.linalg.inv(L).T + self.gamma * (self.X.T @ product)
        return float(divergence + self.gamma * slack), gradient


def _up_to(gamma: float) -> list[float]:
    """Weights to solve for in turn: large ones make walls that are best approached slowly."""
    return [*_up_to(gamma / 10.0), gamma] if gamma > _STEEP else [gamma]


def _minimum(
    problem: _Problem, R: NDArray, max_iter: int, tol: float
) -> tuple[NDArray, float, float, int]:
    """Minimise from the metric ``R R'``: new R, value, relative gap, number of iterations."""
    first = problem.factor(R)
    last: dict[str, Any] = {}

    def doubled(x: NDArray) -> tuple[float, NDArray]:
        L = x.reshape(first.shape)
        value, gradient = problem.value_and_gradient(L)
        last.update(L=L.copy(), value=value, gradient=gradient)
        return value, 2.0 * gradient.ravel()

    def gap() -> float:
        return _duality_gap(last["L"].T @ last["gradient"]) / max(1.0, last["value"])

    def after_iteration(intermediate_result: Any) -> None:
        if gap() <= tol:
            raise StopIteration

    doubled(first.ravel())
    if gap() <= tol or max_iter == 0:
        return R, last["value"], gap(), 0
    found = minimize(
        doubled,
        first.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "maxcor": _CORRECTIONS,
            "gtol": 0.0,
            "ftol": 0.0,
        },
    )
    doubled(found.x)
    return problem.C @ last["L"], last["value"], gap(), found.nit


def _duality_gap(H: NDArray) -> float:
    """``D(A, A~)`` from ``H = L' A~^-1 L - 1``, which is L' times half the derivative by L."""
    values = np.linalg.eigvalsh(0.5 * (H + H.T))
    return float(np.sum(values - np.log1p(values))) if values[0] > -1.0 else np.inf


def _symmetric_root(R: NDArray, basis: NDArray | None) -> NDArray:
    """Symmetric root of ``R R'`` on the span of `basis`, and the identity elsewhere."""
    left, lengths, _ = np.linalg.svd(R)
    root = (left * lengths) @ left.T
    if basis is None:
        return root
    return np.eye(len(basis)) + basis @ (root - np.eye(len(root))) @ basis.T


def _in_their_span(X: NDArray) -> tuple[NDArray, NDArray | None]:
    """Points in coordinates of their span, and its basis, where they do not fill the space.

    The metric differs from the prior in this span alone.
    """
    if len(X) > X.shape[1]:
        return X, None
    X = X - X.mean(axis=0)
    left, lengths, right = np.linalg.svd(X, full_matrices=False)
    keep = lengths > 1e-10 * lengths[0]
    keep[0] = True
    return left[:, keep] * lengths[keep], right[keep].T


def _whitening(X: NDArray) -> NDArray:
    """``W`` with ``W W'`` the inverse covariance of the centred points `X`."""
    scale = X.std(axis=0, ddof=1)
    varies = scale > 0.0
    scale[~varies] = np.sqrt(np.mean(scale[varies] ** 2)) if varies.any() else 1.0
    X = X / scale
    values, vectors = np.linalg.eigh(X.T @ X / (len(X) - 1))
    values[values <= 1e-12 * values[-1]] = 1.0
    return (vectors / np.sqrt(values)) / scale[:, np.newaxis]


def _percentiles(X: NDArray) -> tuple[float, float]:
    if len(X) > _ROWS_FOR_BOUNDS:
        X = X[np.linspace(0, len(X) - 1, _ROWS_FOR_BOUNDS).astype(int)]
    d2 = pdist(X, "sqeuclidean")
    d2 = d2[d2 > _SAME * d2.max()]
    if len(d2) == 0:
        raise ValueError(
            "All points of X coincide: there are no distances to take the bounds from, and "
            "nothing to learn."
        )
    upper, lower = np.percentile(d2, (5, 95))
    return float(upper), float(lower)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    if not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        raise ValueError(f"bounds must be two numbers, u and l, or None; got {bounds!r}.")
    for name, bound in zip("ul", bounds, strict=True):
        check_number(f"bounds: {name}", bound, low=0)
        if bound == 0:
            raise ValueError(f"bounds: {name} must be positive, as distances are; got {bounds!r}.")
    return float(bounds[0]), float(bounds[1])


def _drawn(
    labels: PairLabels, n_constraints: int, random_state: int | np.random.RandomState | None
) -> PairLabels:
    """Only `n_constraints` of the labelled pairs, drawn at random, as listed ones."""
    drawn = np.sort(
        sample_without_replacement(
            labels.n_labeled, n_constraints, random_state=check_random_state(random_state)
        )
    )
    # Numbers of the pairs: those among the k rows of known class by rows, then the listed.
    rows = np.flatnonzero(labels.codes >= 0)
    k = len(rows)
    starts = np.arange(k) * (2 * k - 1 - np.arange(k)) // 2
    implied = drawn[drawn < k * (k - 1) // 2]
    first = np.searchsorted(starts, implied, side="right") - 1
    second = implied - starts[first] + first + 1
    pairs = np.column_stack([rows[first], rows[second]])
    listed = drawn[len(implied) :] - k * (k - 1) // 2
    return PairLabels.make(
        len(labels.codes),
        pairs=np.vstack([pairs, labels.pairs[listed]]),
        pair_labels=np.concatenate(
            [labels.codes[pairs[:, 0]] == labels.codes[pairs[:, 1]], labels.similar[listed]]
        ),
    )
