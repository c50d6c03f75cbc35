"""GDM: the metric that moves dissimilar pairs apart most while similar ones stay close."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import _solvers as solvers
from .._base import Blend
from .._pairs import PairLabels
from .._sweep import CONSTANT_FEATURE, centered, principal_directions
from .._typing import Array, computed_once
from .._validation import check_choice, check_flag, check_number
from ._learner import ClassicLearner
from ._scatter import PairSums

# Rows of the first factor; the solver widens or narrows it from there.
_FIRST_RANK = 20
# First steps, each the best metric for the tangents of the distances, if that is precise enough:
# they never get rid of a direction. L-BFGS goes on from there.
_TANGENT_STEPS, _TANGENT_TOL = 8, 1e-3
# Distances below this share of the root mean square are replaced by it where their root is
# differentiated. The objective is overestimated by about this share at most.
_SHORTEST = 1e-6
# Odds of the Euclidean distance with as many labeled rows as features, if the shrinkage is
# "auto". Chosen on the sets of benchmarks/evidence that are for choosing; 1 to 4 are as good.
_ODDS = 3.0
# Shares of the scatter below this are rounding errors of zero.
_ZERO = 1e-12


class GDM(ClassicLearner):
    r"""Global distance metric learning (Xing, Ng, Jordan, Russell, 2002), also called MMC.

    The metric :math:`A` solves

    .. math:: \max_{A \succeq 0} \sum_{D} \|x_i - x_j\|_A
              \quad\text{s.t.}\quad \sum_{S} \|x_i - x_j\|_A^2 \le 1.

    The problem is concave. It is solved to a certified gap, not by the alternating projections
    of the paper: in coordinates where the constraint is ``tr A <= 1``, on a narrow factor of the
    metric, by power iterations if `tol` is not small, and by L-BFGS. The solution has a very low
    rank, in which nearest neighbors are often wrong: so `ridge` spreads it over more directions,
    and the metric handed out is partly Euclidean. The paper's is
    ``GDM(ridge=1e-6, n_constraints=None, shrinkage=0, tol=1e-4)``. Points that are in no labeled
    pair are not used.

    Parameters
    ----------
    diagonal : bool, default=False
        Whether to learn a diagonal `A`: one weight per feature, many of them zero.
    ridge : float or "auto", default="auto"
        Share of the mean scatter of all labeled pairs to add to that of the similar ones in
        the constraint. The paper has none; 1e-6 is as good as none. Without it there is no
        maximum where dissimilar pairs differ in a direction in which no similar ones do, as
        they must if there are more features than similar pairs. It is relative to the data in
        each direction, so that, as in the paper, distances under the full form do not change
        with a linear map of the features. "auto" adds the whole mean scatter, mixed with a
        multiple of the identity: the latter has the share
        ``m / (m + l)`` for m features that vary and l labeled rows, because few rows say little
        about the directions in which they hardly vary.
    n_constraints : "auto" or None, default="auto"
        Which labeled pairs to use for the objective (the constraint has all). None means all of
        them: with n labeled rows, an iteration takes O(n^2 m) time. "auto" divides many labeled
        rows into groups of up to 64 (8 for each class, if that is more; at most 192), always the
        same ones, and the pairs within a group stand for all: time grows with n, and nearest
        neighbors are as good. Marked pairs are all used.
    shrinkage : float or "auto", default="auto"
        Share of the Euclidean distance in the metric handed out, from 0 to 1. "auto" gives it
        the odds ``3 n_features / n_labeled_rows``: the fewer labeled rows there are for each
        feature, the less the learned metric counts.
    shrinkage_target : array-like of shape (n_features, n_features), optional
        Matrix of another metric to shrink toward than the Euclidean one.
    max_iter : int, default=200
        Maximum number of iterations.
    tol : float, default=0.01
        Stop at this ``optimality_gap_``. A smaller one takes longer and is no better for nearest
        neighbors.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The map ``P``; the metric handed out is ``P'P``.
    learned_components_ : ndarray of shape (learned_rank, n_features)
        The same without shrinkage. The diagonal form has a row for each feature of nonzero
        weight.
    shrinkage_ : float
        The share of the Euclidean distance that was used.
    objective_ : float
        Sum of the distances of the dissimilar pairs; an estimate if a sample stands for all.
    optimality_gap_ : float
        The certificate: no feasible metric has an objective larger by more than this share
        (the Frank-Wolfe gap over the objective).
    converged_ : bool
        Whether the gap is within `tol`.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

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

    def __init__(
        self,
        *,
        diagonal: bool = False,
        ridge: float | Literal["auto"] = "auto",
        n_constraints: Literal["auto"] | None = "auto",
        shrinkage: float | Literal["auto"] = "auto",
        shrinkage_target: ArrayLike | None = None,
        max_iter: int = 200,
        tol: float = 0.01,
    ) -> None:
        self.diagonal = diagonal
        self.ridge = ridge
        self.n_constraints = n_constraints
        self.shrinkage = shrinkage
        self.shrinkage_target = shrinkage_target
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        check_flag("diagonal", self.diagonal)
        check_number("ridge", self.ridge, low=0, instead="auto")
        check_choice("n_constraints", self.n_constraints, ("auto", None))
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)

    def _blend(self, n_features: int, labels: PairLabels) -> Blend:
        blend = Blend.of(self, n_features, has_rule=True)
        if blend.shrinkage is not None:
            return blend
        odds = _ODDS * n_features / max(1, labels.n_labeled_rows)
        return replace(blend, shrinkage=odds / (1.0 + odds))

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        if labels.n_similar == 0 or labels.n_dissimilar == 0:
            raise ValueError(
                "GDM needs similar pairs to hold together and dissimilar ones to move apart; got "
                f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pair(s). Label "
                "at least two rows of one class and one of another."
            )
        sums = PairSums(labels, sampled=self.n_constraints == "auto")
        used = centered(points[sums.rows].astype(np.float64), rounding=CONSTANT_FEATURE)
        ridge, equal = (1.0, _equal_share(used)) if self.ridge == "auto" else (self.ridge, 0.0)
        share = ridge * labels.n_similar / labels.n_labeled
        C = _unit_constraint(used, sums, share, equal, self.diagonal)
        objective = _DissimilarDistances(used @ C, sums)
        solve = _diagonal if self.diagonal else _full
        P, n_iter = solve(objective, self.max_iter, self.tol / (1.0 + self.tol))
        value, gap = objective.certificate(P, self.diagonal)
        P = P / np.linalg.norm(P)
        if gap > self.tol:
            self._warn_not_converged(f"{n_iter} iterations, optimality gap {gap:.1e}")
        return P @ C.T, {
            "objective_": value,
            "optimality_gap_": gap,
            "converged_": gap <= self.tol,
            "n_iter_": max(1, n_iter),
        }


def _equal_share(X: Array) -> float:
    """Return the share of the identity, if the ridge is "auto", for centered labeled points."""
    n_varying = int(np.count_nonzero(X.any(axis=0)))
    return n_varying / (n_varying + len(X))


def _mean_scatter(M: Array, back: Array) -> float:
    """Return the mean of ``back' M back`` over the features that vary."""
    diagonal = np.einsum("ij,ij->j", M @ back, back)
    return float(diagonal.sum()) / max(1, int(np.count_nonzero(diagonal)))


def _unit_constraint(
    X: Array, sums: PairSums, share: float, equal: float, diagonal: bool
) -> Array:
    """Map ``C`` to coordinates ``X C`` where the constraint on the metric B is ``tr B <= 1``.

    ``C'(M_S + share ((1 - equal) M + equal v 1)) C = 1``, with M the scatter of all labeled pairs,
    v its mean over the features, and M_S the scatter of the similar pairs. The metric is
    ``C B C'``. Directions in which no pair differs are left out; those in which similar pairs
    differ least come first.
    """
    scale = np.sqrt(np.einsum("ij,ij->j", X, X) / len(X))  # of centered points
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    X = X * inverse
    if diagonal or not X.any():
        C, back = np.diag(inverse), np.diag(scale)
    else:  # whiten: products of the points would square their condition
        _, lengths, directions = principal_directions(X)
        basis = directions.T / lengths
        X = X @ basis
        C, back = inverse[:, np.newaxis] * basis, lengths[:, np.newaxis] * directions * scale
    similar, dissimilar = sums.scatters(X)
    if not np.trace(dissimilar) > _ZERO * np.trace(similar):
        raise ValueError(
            "The two points of every dissimilar pair coincide: no metric can move them apart. Add "
            "dissimilar pairs of different points."
        )
    everything = similar + dissimilar
    if diagonal:
        total, basis = np.diag(everything), np.eye(len(everything))
    else:
        total, basis = np.linalg.eigh(everything)
    keep = total > _ZERO * total.max()
    basis = basis[:, keep] / np.sqrt(total[keep])
    # In these coordinates the scatter of all pairs is the identity.
    C = C @ basis
    constraint = basis.T @ similar @ basis
    if equal > 0.0:
        constraint += share * equal * _mean_scatter(everything, back) * (C.T @ C)
    if diagonal:
        held, turn = np.diag(constraint), np.eye(len(constraint))
    else:
        held, turn = np.linalg.eigh(constraint)
    held = np.maximum(held, 0.0) + share * (1.0 - equal)
    if share == 0.0 and held.min() <= _ZERO:
        raise ValueError(
            f"With ridge=0 there is no maximum: in {np.sum(held <= _ZERO)} direction(s) "
            "dissimilar pairs differ and similar ones do not. Set ridge > 0, or add similar "
            "pairs."
        )
    return C @ turn / np.sqrt(held)


class _DissimilarDistances:
    """``sum over D of ||x_i - x_j||_B - lam tr B``, by the metric or by its factor.

    The sum grows as the root of B. So whatever lam is, the maximum is a multiple of the one
    that the sum has under ``tr B <= 1``.
    """

    rounding = 1e-12

    def __init__(self, X: Array, sums: PairSums) -> None:
        self.X, self.sums = X, sums
        self.n_features = X.shape[1]
        self._last: tuple[Array, float, Array] | None = None
        Z = X @ self.first_factor().T
        self.floor = _SHORTEST * float(np.sqrt(2.0 * np.vdot(Z, Z) / len(Z)))

    @computed_once
    def scale(self) -> float:
        """Half the sum under the first factor. With it as lam, the maximum has a trace near 1."""
        return 0.5 * self.sum(self.first_factor(), None)[0]

    @property
    def lam(self) -> float:
        return self.scale

    def first_factor(self) -> Array:
        rank = min(_FIRST_RANK, self.n_features)
        P: Array = np.eye(rank, self.n_features) / np.sqrt(rank)
        return P

    def term(self, d2: Array, similar: Array) -> tuple[float, Array]:
        """Sum the distances of the dissimilar pairs; below the floor, the tangent of the root."""
        length = np.sqrt(d2)
        np.maximum(length, max(self.floor, 1e-300), out=length)
        weight = 0.5 / length
        weight *= ~similar
        d2 += np.square(length, out=length)
        return float(np.vdot(weight, d2)), weight

    def sum(self, P: Array, Y: Array | None) -> tuple[float, Array]:
        return self.sums.laplacian(self.X @ P.T, self.term, Y)

    def by_metric(self, P: Array) -> tuple[float, Array]:
        value, gradient = self._sum_and_gradient(P)
        gradient = gradient - self.lam * np.eye(len(gradient))
        return value - self.lam * float(np.vdot(P, P)), gradient

    def _sum_and_gradient(self, P: Array) -> tuple[float, Array]:
        """Return the sum alone, and its derivative by the metric; at once if asked again."""
        if self._last is None or not np.array_equal(self._last[0], P):
            value, product = self.sum(P, self.X)
            gradient = self.X.T @ product
            self._last = P, value, 0.5 * (gradient + gradient.T)
        return self._last[1:]

    def by_factor(self, P: Array) -> tuple[float, Array]:
        value, product = self.sum(P, None)
        gradient = 2.0 * (product.T @ self.X - self.lam * P)
        return value - self.lam * float(np.vdot(P, P)), gradient

    def tangent(self, P: Array) -> tuple[float, Array]:
        """Return the sum alone, and half its derivative by the factor."""
        if len(P) >= self.n_features:  # the derivative by the metric, which is kept, costs no more
            value, gradient = self._sum_and_gradient(P)
            return value, P @ gradient
        value, product = self.sum(P, None)
        return value, product.T @ self.X

    def by_weights(self, weights: Array) -> tuple[float, Array]:
        """Return the sum alone under ``B = diag(weights)``, and its derivative by them."""
        used = weights > 0.0
        value, product = self.sums.laplacian(
            self.X[:, used] * np.sqrt(weights[used]), self.term, self.X
        )
        return value, np.einsum("im,im->m", self.X, product)

    def certificate(self, P: Array, diagonal: bool) -> tuple[float, float]:
        """Return the value and the relative Frank-Wolfe gap at `P`, scaled to a norm of 1."""
        value, gradient = self._sum_and_gradient(P)
        top = np.diag(gradient).max() if diagonal else np.linalg.eigvalsh(gradient)[-1]
        trace = float(np.vdot(P, P))
        gap = max(0.0, float(trace * top - np.vdot(P @ gradient, P))) / value
        return value / np.sqrt(trace), gap


def _full(objective: _DissimilarDistances, max_iter: int, tol: float) -> tuple[Array, int]:
    """Return a factor of a multiple of the best metric, and the number of iterations."""
    P, n_steps = objective.first_factor(), 0
    if tol >= _TANGENT_TOL:
        P, n_steps, is_done = _by_tangents(objective, min(max_iter, _TANGENT_STEPS), tol)
        if is_done or n_steps == max_iter:
            return P, n_steps
    found = solvers.low_rank(
        objective, P, max_iter=max_iter - n_steps, tol=tol, callback=_ignore_step
    )
    return found.P, n_steps + len(found.steps)


def _by_tangents(
    objective: _DissimilarDistances, max_iter: int, tol: float
) -> tuple[Array, int, bool]:
    """Return a factor, the number of steps, and whether its gap is within `tol`.

    A distance ``||P v||`` is convex in P, so the sum is at least its tangent; the tangent
    ``<P G, Q>`` is largest, under ``||Q|| = 1``, at ``Q = P G / ||P G||``. Going there never
    lowers the sum: the generalized power method of Journee, Nesterov, Richtarik and Sepulchre
    (2010).
    """
    P = objective.first_factor()
    for n_steps in range(max_iter + 1):
        value, pull = objective.tangent(P)
        top = float(np.linalg.norm(pull))
        # The certificate is never below this, which costs nothing.
        may_hold = top - float(np.vdot(pull, P)) <= tol * value
        if may_hold and objective.certificate(P, diagonal=False)[1] <= tol:
            return P, n_steps, True
        if n_steps == max_iter or top == 0.0:
            break
        P = pull / top
    return P, n_steps, False


def _ignore_step(step: solvers.Step, P: Array) -> None:
    pass


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
    found = solvers.lbfgs(
        negative,
        np.full(d, 1.0 / d),
        max_iter=max_iter,
        is_done=lambda weights, value: gap <= tol,
        n_corrections=10,  # enough for one weight per feature
        nonnegative=True,
    )
    used = found.x > 0.0
    return np.diag(np.sqrt(found.x))[used], found.nit
