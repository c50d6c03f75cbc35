"""GDM: the metric that parts dissimilar pairs most while similar ones stay close."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from .. import _solvers as solvers
from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._validation import check_number
from ._scatter import PairSums, centred

# Rows of the first factor; the solver widens or narrows it from there.
_FIRST_RANK = 20
# Distances below this share of the mean count as that long where their root is
# differentiated. The objective is overrated by less than this.
_FLOOR = 1e-6
# Shares of the scatter below this are rounding errors of a zero.
_NOTHING = 1e-12


class GDM(MahalanobisLearner):
    r"""Global distance metric learning (Xing, Ng, Jordan, Russell, 2002), also called MMC.

    The metric :math:`A` solves

    .. math:: \max_{A \succeq 0} \sum_{D} \|x_i - x_j\|_A
              \quad\text{s.t.}\quad \sum_{S} \|x_i - x_j\|_A^2 \le 1.

    The problem is concave and is solved to a certified gap, not by the alternating
    projections of the paper: in coordinates where the constraint is ``tr A <= 1``, by
    L-BFGS on a narrow factor of the metric. The solution often has a very low rank, and the
    few steps that other programs take from the identity may serve nearest neighbours better;
    a larger `ridge` spreads the metric over more directions.

    Parameters
    ----------
    diagonal : bool, default=False
        Whether `A` is to be diagonal: one weight per feature, many of them zero.
    ridge : float, default=1e-6
        Share of the mean scatter of all labelled pairs that is added to that of the similar
        ones in the constraint. Without it there is no maximum where dissimilar pairs differ
        in a direction in which no similar ones do, as they must if there are more features
        than similar pairs. It is relative to the data in each direction, so that, as in the
        paper, distances under the full form do not change with a linear map of the features.
    max_iter : int, default=200
        Iterations of the solver at most.
    tol : float, default=1e-4
        Where to stop: at this ``optimality_gap_``.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. For the diagonal form a row for each
        feature of nonzero weight.
    objective_ : float
        Sum of the distances of the dissimilar pairs.
    optimality_gap_ : float
        The certificate: no feasible metric has an objective larger by more than this share
        (the Frank-Wolfe gap over the objective).
    converged_ : bool
        Whether the gap is within `tol`.
    n_iter_ : int
        Iterations of the solver.
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
    (178, 1)
    """

    def __init__(
        self,
        *,
        diagonal: bool = False,
        ridge: float = 1e-6,
        max_iter: int = 200,
        tol: float = 1e-4,
    ) -> None:
        self.diagonal = diagonal
        self.ridge = ridge
        self.max_iter = max_iter
        self.tol = tol

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
            Points. Those that stand in no labelled pair are not used.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        GDM
            The fitted learner.
        """
        check_number("ridge", self.ridge, low=0)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        points = self._check_points(X)
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        if labels.n_similar == 0 or labels.n_dissimilar == 0:
            raise ValueError(
                "GDM needs similar and dissimilar pairs: dissimilar ones to part and similar ones "
                f"to hold the metric; got {labels.n_similar} similar and {labels.n_dissimilar} "
                "dissimilar pair(s). Label two rows of one class and one of another at least."
            )
        sums = PairSums(labels)
        used = centred(points[sums.rows])
        share = self.ridge * labels.n_similar / labels.n_labeled
        C = _unit_constraint(used, sums, share, self.diagonal)
        objective = _Distances(used @ C, sums, labels.n_dissimilar)
        solve = _diagonal if self.diagonal else _full
        P, n_iter = solve(objective, self.max_iter, self.tol / (1.0 + self.tol))
        value, gap = objective.certificate(P, self.diagonal)
        if gap > self.tol:
            warnings.warn(
                f"GDM has not converged ({n_iter} iterations, optimality gap {gap:.1e}). Raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._learned(
            X,
            (P @ C.T).astype(points.dtype),
            objective_=value,
            optimality_gap_=gap,
            converged_=gap <= self.tol,
            n_iter_=max(1, n_iter),
        )


def _unit_constraint(X: NDArray, sums: PairSums, share: float, diagonal: bool) -> NDArray:
    """Map ``C`` to coordinates ``X C`` where the constraint on the metric B is ``tr B <= 1``.

    ``C'(M_S + share * M) C = 1``, with M the scatter of all labelled pairs and M_S that of
    the similar ones. The metric is ``C B C'``. Directions in which no pair differs are left
    out; those in which similar pairs differ least, as a share of all, come first.
    """
    scale = X.std(axis=0)
    C = np.diag(np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0))
    X = X @ C
    if not diagonal:  # the span of the points, before products of them square its condition
        _, lengths, right = np.linalg.svd(X, full_matrices=False)
        keep = lengths > 1e-7 * lengths[0]
        basis = right[keep].T / lengths[keep]
        C, X = C @ basis, X @ basis
    similar, dissimilar = sums.scatters(X)
    if not np.trace(dissimilar) > _NOTHING * np.trace(similar):
        raise ValueError(
            "The two points of every dissimilar pair coincide: no metric can part them. Add "
            "dissimilar pairs of different points."
        )
    everything = similar + dissimilar
    if diagonal:
        total, basis = np.diag(everything), np.eye(len(everything))
    else:
        total, basis = np.linalg.eigh(everything)
    keep = total > _NOTHING * total.max()
    basis = basis[:, keep] / np.sqrt(total[keep])
    similar = basis.T @ similar @ basis  # of 1, the scatter of all pairs in these coordinates
    if diagonal:
        held, turn = np.diag(similar), np.eye(len(similar))
    else:
        held, turn = np.linalg.eigh(similar)
    held = np.maximum(held, 0.0) + share
    if share == 0.0 and held.min() <= _NOTHING:
        raise ValueError(
            f"With ridge=0 there is no maximum: in {np.sum(held <= _NOTHING)} direction(s) "
            "dissimilar pairs differ and similar ones do not. Set ridge > 0, or add similar "
            "pairs."
        )
    return C @ basis @ turn / np.sqrt(held)


class _Distances:
    """``sum over D of ||x_i - x_j||_B - lam tr B``, by the metric or by its factor.

    The sum grows as the root of B, so that the maximum, whatever lam is, has the direction
    of the maximum of the sum under ``tr B <= 1``.
    """

    rounding = 1e-12

    def __init__(self, X: NDArray, sums: PairSums, n_dissimilar: int) -> None:
        self.X, self.sums = X, sums
        self.n_features = X.shape[1]
        self.floor = 0.0
        P = self.first_factor()
        mean = self.sum(P, X)[0] / n_dissimilar
        self.floor = _FLOOR * mean
        self.scale = self.lam = 0.5 * mean * n_dissimilar  # the maximum has a trace near 1

    def first_factor(self) -> NDArray:
        rank = min(_FIRST_RANK, self.n_features)
        return np.eye(rank, self.n_features) / np.sqrt(rank)

    def term(self, d2: NDArray, similar: NDArray) -> tuple[float, NDArray]:
        """Distances of the dissimilar pairs: the tangent of the root, where below the floor."""
        length = np.sqrt(d2)
        np.maximum(length, max(self.floor, 1e-300), out=length)
        weight = 0.5 / length
        weight *= ~similar
        d2 += np.square(length, out=length)
        return float(np.vdot(weight, d2)), weight

    def sum(self, P: NDArray, Y: NDArray | None) -> tuple[float, NDArray]:
        return self.sums.laplacian(self.X @ P.T, self.term, Y)

    def by_metric(self, P: NDArray) -> tuple[float, NDArray]:
        value, product = self.sum(P, self.X)
        gradient = self.X.T @ product
        gradient.flat[:: len(gradient) + 1] -= self.lam
        return value - self.lam * float(np.vdot(P, P)), 0.5 * (gradient + gradient.T)

    def by_factor(self, P: NDArray) -> tuple[float, NDArray]:
        value, product = self.sum(P, None)
        gradient = 2.0 * (product.T @ self.X - self.lam * P)
        return value - self.lam * float(np.vdot(P, P)), gradient

    def by_weights(self, weights: NDArray) -> tuple[float, NDArray]:
        """The sum alone under ``B = diag(weights)``, and its derivative by them."""
        used = weights > 0.0
        value, product = self.sums.laplacian(
            self.X[:, used] * np.sqrt(weights[used]), self.term, self.X
        )
        return value, np.einsum("im,im->m", self.X, product)

    def certificate(self, P: NDArray, diagonal: bool) -> tuple[float, float]:
        """Value and relative Frank-Wolfe gap at `P`, whose norm is 1."""
        value, product = self.sum(P, self.X)
        gradient = self.X.T @ product
        top = np.diag(gradient).max() if diagonal else np.linalg.eigvalsh(gradient)[-1]
        return value, max(0.0, float(top - np.vdot(P @ gradient, P))) / value


def _full(objective: _Distances, max_iter: int, tol: float) -> tuple[NDArray, int]:
    """Factor, of norm 1, of the best metric of unit trace; and the number of iterations."""
    found = solvers.low_rank(
        objective, objective.first_factor(), max_iter=max_iter, tol=tol, callback=_silent
    )
    return found.P / np.linalg.norm(found.P), len(found.steps)


def _silent(step: solvers.Step, P: NDArray) -> None:
    pass


def _diagonal(objective: _Distances, max_iter: int, tol: float) -> tuple[NDArray, int]:
    """The same among diagonal metrics."""
    last: dict[str, Any] = {}

    def negative(weights: NDArray) -> tuple[float, NDArray]:
        value, gradient = objective.by_weights(weights)
        trace = weights.sum()
        last["gap"] = (trace * gradient.max() - gradient @ weights) / value if value else np.inf
        return objective.lam * trace - value, objective.lam - gradient

    def after_iteration(intermediate_result: Any) -> None:
        if last["gap"] <= tol:
            raise StopIteration

    d = objective.n_features
    found = minimize(
        negative,
        np.full(d, 1.0 / d),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * d,
        callback=after_iteration,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": 0.0, "ftol": 0.0},
    )
    used = found.x > 0.0
    return np.diag(np.sqrt(found.x / found.x.sum()))[used], found.nit
