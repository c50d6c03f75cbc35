"""GDM: the metric that moves dissimilar pairs apart most while similar ones stay close."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from .._marks import PairLabels
from .._pairs import Formula, PairFunction
from .._solvers import low_rank
from .._utils._eigen import eigh, eigvalsh
from .._utils._typing import Array
from ._definite import ZERO
from ._lbfgs import lbfgs
from ._learner import ClassicLearner
from ._pair_sums import PairSums
from ._points import center_points

# Rank of the first factor. Any will do: the solver raises or lowers it as needed.
_FIRST_RANK = 20
# Most power iterations, and the smallest tolerance that they are for: they converge linearly, and
# never lower the rank. L-BFGS goes on from there.
_POWER_STEPS, _POWER_TOL = 8, 1e-3
# Distances are smoothed below this share of their root mean square, as the slope of the square
# root is infinite at 0. The objective is overestimated by about this share at most.
_SHORTEST = 1e-6
_SMALLEST = 1e-300  # its reciprocal does not overflow


@dataclass(eq=False, repr=False, kw_only=True)
class GDM(ClassicLearner):
    r"""Global distance metric learning (Xing, Ng, Jordan, Russell, 2002), also called MMC.

    The metric :math:`A` solves

    .. math:: \max_{A \succeq 0} \sum_{D} \|x_i - x_j\|_A
              \quad\text{s.t.}\quad \sum_{S} \|x_i - x_j\|_A^2 \le 1.

    The problem is concave, and solved to a certified gap: on a narrow factor of the metric, by
    power iterations if `tol` is not small, and by L-BFGS. The solution has a very low rank, so
    `ridge` spreads it over more directions. Points that are in no labeled pair are not used.

    Parameters
    ----------
    diagonal : bool, default=False
        Whether to learn a diagonal `A`: one weight per feature, many of them zero.
    ridge : float or "auto", default="auto"
        Share of the mean scatter of all labeled pairs to add to that of the similar ones in the
        constraint; without it there is no maximum where dissimilar pairs differ in a direction in
        which no similar ones do. The paper has none, and 1e-6 is as good as none. It is relative
        to the data, so that distances do not change with a linear map of the features. "auto"
        adds the whole mean scatter, mixed with a multiple of the identity that has the share
        ``m / (m + l)`` for m features that vary and l labeled rows: few rows say little about the
        directions in which they hardly vary.
    n_constraints : "auto" or None, default="auto"
        Which labeled pairs to use for the objective; the constraint has all. See `ITML`.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=0.01
        Stop at this ``optimality_gap_``. A smaller one takes longer.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. The diagonal form has a row for each
        feature of nonzero weight.
    objective_, optimality_gap_ : float
        Sum of the distances of the dissimilar pairs, an estimate if they are sampled; and the
        certificate: no feasible metric has an objective larger by more than this share (the
        Frank-Wolfe gap over the objective).
    converged_, n_iter_ : bool and int
        Whether the gap is within `tol`, and the number of iterations.

    Notes
    -----
    ``GDM(ridge=1e-6, n_constraints=None, tol=1e-4)`` is the paper's form; the ridge, the sample
    of pairs and the early stop of the default are ours. To add a Euclidean part:
    ``MeanMetric([("gdm", GDM()), ("plain", Euclidean())], weights=[4, 1])``.

    References
    ----------
    E. P. Xing, A. Y. Ng, M. I. Jordan, S. Russell. Distance metric learning, with
    application to clustering with side-information. NIPS 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import GDM
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = GDM().fit(X, y)
    >>> learner.transform(X).shape
    (178, 13)
    """

    _ranges: ClassVar = {"ridge": {"low": 0, "instead": "auto"}}
    _choices: ClassVar = {"n_constraints": ("auto", None)}

    diagonal: bool = False
    ridge: float | Literal["auto"] = "auto"
    n_constraints: Literal["auto"] | None = "auto"
    max_iter: int = 200
    tol: float = 0.01

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        self._check_both_kinds(labels)
        solve, tol = _diagonal if self.diagonal else _full, self.tol / (1.0 + self.tol)
        C, objective = self._problem(points, labels, sampled=self.n_constraints == "auto")
        P, n_iter = solve(objective, self.max_iter, tol)
        value, gap, _ = objective.certificate(P, self.diagonal)
        P = P / math.sqrt(np.vdot(P, P))
        return P @ C.T, self._certified(value, n_iter, gap)

    def _problem(
        self, points: Array, labels: PairLabels, *, sampled: bool
    ) -> tuple[Array, _DissimilarDistances]:
        """Return the map to coordinates of a simple constraint, and the objective there."""
        sums = PairSums(labels, sampled=sampled)
        used = center_points(points[sums.rows])
        ridge, equal = (1.0, None) if self.ridge == "auto" else (self.ridge, 0.0)
        share = ridge * labels.n_similar / labels.n_labeled
        C = _unit_constraint(used, sums, share, equal, self.diagonal)
        return C, _DissimilarDistances(used @ C, sums)


def _unit_constraint(
    X: Array, sums: PairSums, share: float, equal: float | None, diagonal: bool
) -> Array:
    """Return a map C to coordinates ``X C`` where the constraint on the metric B is ``tr B <= 1``.

    ``C' K C = 1`` for ``K = M_S + share ((1 - equal) M + equal v 1)``, with M the scatter of all
    labeled pairs, v its mean over the features that vary, and M_S the scatter of the similar
    pairs. The metric is ``C B C'``. Directions in which no pair differs are left out; those in
    which similar pairs differ least come first. If `equal` is None, it is ``m / (m + l)`` for m
    features that vary and l rows.
    """
    size = np.sqrt(np.einsum("ij,ij->j", X, X) / len(X))  # of centered points
    inverse = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    Z = X * inverse  # features may have very different units
    similar, total = sums.similar_scatter(Z), sums.scatter(Z)
    if not np.trace(total - similar) > ZERO * np.trace(similar):
        raise ValueError(
            "The two points of every dissimilar pair coincide: no metric can move them apart. Add "
            "dissimilar pairs of different points."
        )
    n_varying = np.count_nonzero(size)
    equal = n_varying / (n_varying + len(X)) if equal is None else equal
    mean = float(np.diag(total) @ size**2) / n_varying
    K = similar + share * ((1.0 - equal) * total + equal * mean * np.diag(inverse**2))
    if diagonal:
        K, total = np.diag(np.diag(K)), np.diag(np.diag(total))
    unit = 1.0 / np.sqrt(np.where(np.diag(K) > 0.0, np.diag(K), 1.0))
    total *= np.outer(unit, unit)
    held, C = eigh(K * np.outer(unit, unit))
    kept = held > ZERO * held[-1]
    free = np.einsum("ik,ij,jk->k", C, total, C) > ZERO * np.trace(total)
    if share == 0.0 and np.any(free & ~kept):
        raise ValueError(
            f"With ridge=0 there is no maximum: in {np.sum(free & ~kept)} direction(s) dissimilar "
            "pairs differ and similar ones do not. Set ridge > 0, or add similar pairs."
        )
    C = C[:, kept] / np.sqrt(held[kept])
    if not diagonal:
        spread, turn = eigh(C.T @ total @ C)
        C = C @ turn[:, spread > ZERO * spread[-1]][:, ::-1]
    return (inverse * unit)[:, np.newaxis] * C


@dataclass(frozen=True)
class DissimilarDistance(PairFunction):
    """The distance of a dissimilar pair; below the floor, the tangent of the root.

    ``phi = (d2 + l^2) / 2 l`` with ``l = max(sqrt(d2), floor)``; 0 for a similar pair.
    """

    floor: float

    is_sharp: ClassVar[bool] = True

    @property
    def numbers(self) -> tuple[float, ...]:
        return (self.floor,)

    @staticmethod
    def formula(xp: Any) -> Formula:
        sqrt, where = xp.sqrt, xp.where

        def distance(d2: Any, q: Any, numbers: Any) -> tuple[Any, Any, Any]:
            length = sqrt(d2)
            length = where(length > numbers[0], length, numbers[0])
            weight = (0.5 - 0.5 * q) / length
            return weight * (d2 + length * length), 1.0, weight

        return distance


class _DissimilarDistances:
    """``sum over D of ||x_i - x_j||_B - lam tr B``, by the metric or by its factor.

    The sum grows as the root of B. So whatever lam is, the maximum is a multiple of the one
    that the sum has under ``tr B <= 1``.
    """

    rounding = 1e-12

    def __init__(self, X: Array, sums: PairSums) -> None:
        self.X, self.sums = X, sums
        self.n_features = X.shape[1]
        rank = min(_FIRST_RANK, self.n_features)
        Z = X[:, :rank]
        floor = max(_SHORTEST * math.sqrt(2.0 * np.vdot(Z, Z) / Z.size), _SMALLEST)
        self.distance = DissimilarDistance(floor)
        self.first: Array = np.eye(rank, self.n_features) / math.sqrt(rank)
        # Half the sum under the first factor: with it, the maximum has a trace near 1.
        self.lam = self.scale = 0.5 * sums.by_factor(X, self.first, self.distance)[0]

    def value_and_gradient(self, P: Array) -> tuple[float, Array]:
        value, gradient = self.sums.by_metric(self.X, P, self.distance)
        gradient = gradient - self.lam * np.eye(len(gradient))
        return value - self.lam * float(np.vdot(P, P)), gradient

    def value_and_factor_gradient(self, P: Array) -> tuple[float, Array]:
        value, half = self.sums.by_factor(self.X, P, self.distance)
        return value - self.lam * float(np.vdot(P, P)), 2.0 * (half - self.lam * P)

    def by_weights(self, weights: Array) -> tuple[float, Array]:
        """Return the sum under ``B = diag(weights)``, and its derivative with respect to them."""
        used = weights > 0.0
        value, product = self.sums.laplacian(
            self.X[:, used] * np.sqrt(weights[used]), self.distance, self.X
        )
        return value, np.einsum("im,im->m", self.X, product)

    def certificate(self, P: Array, diagonal: bool) -> tuple[float, float, Array]:
        """Return the value and the relative Frank-Wolfe gap at `P`, scaled to a norm of 1.

        The gap is infinite if all pairs coincide under the metric. Returns also half the
        derivative of the sum by `P`.
        """
        value, gradient = self.sums.by_metric(self.X, P, self.distance)
        top = np.diag(gradient).max() if diagonal else eigvalsh(gradient)[-1]
        trace = float(np.vdot(P, P))
        if not trace * top > 0.1 * value:  # it is half the value or more, unless they coincide
            return 0.0, np.inf, P
        pull = P @ gradient
        gap = max(0.0, float(trace * top - np.vdot(pull, P))) / value
        return value / np.sqrt(trace), gap, pull


def _full(objective: _DissimilarDistances, max_iter: int, tol: float) -> tuple[Array, int]:
    """Return a factor of a multiple of the best metric, and the number of iterations.

    By the generalized power method of Journee, Nesterov, Richtarik and Sepulchre (2010) at first.
    A distance ``||P v||`` is convex in P, so the sum is at least its tangent ``<P G, Q>`` at
    another factor Q; under ``||Q|| = 1`` that is largest at ``Q = P G / ||P G||``.
    """
    P, n_steps = objective.first, 0
    if tol >= _POWER_TOL:
        for n_steps in range(min(max_iter, _POWER_STEPS) + 1):
            _, gap, pull = objective.certificate(P, diagonal=False)
            if gap <= tol or n_steps == max_iter:
                return P, n_steps
            P = pull / math.sqrt(np.vdot(pull, pull))
    result = low_rank(objective, P, max_iter=max_iter - n_steps, tol=tol)
    return result.P, n_steps + len(result.steps)


def _diagonal(objective: _DissimilarDistances, max_iter: int, tol: float) -> tuple[Array, int]:
    """Return the same for the best diagonal metric."""
    gap = np.inf

    def negative(weights: Array) -> tuple[float, Array]:
        nonlocal gap
        value, gradient = objective.by_weights(weights)
        trace = weights.sum()
        gap = (trace * gradient.max() - gradient @ weights) / value if value else np.inf
        return objective.lam * trace - value, objective.lam - gradient

    d = objective.n_features
    result = lbfgs(
        negative,
        np.full(d, 1.0 / d),
        max_iter=max_iter,
        is_done=lambda weights: gap <= tol,
        n_corrections=10,  # enough for one weight per feature
        nonnegative=True,
    )
    used = result.x > 0.0
    return np.diag(np.sqrt(result.x))[used], result.nit
