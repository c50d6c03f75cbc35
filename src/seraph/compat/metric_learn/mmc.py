"""Mahalanobis metric for clustering, from pairs and from classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils._eigen import eigh
from ..._utils._typing import Array
from ..._utils._validation import check_number
from ..._utils._warnings import warn
from ._base_metric import MahalanobisMixin
from ._keywords import DEPRECATED, renamed
from ._pairs import PairLearner, SamplingLearner
from ._starts import components_from_metric, metric_matrix

__all__ = ["MMC", "MMC_Supervised"]


def __dir__() -> list[str]:
    return __all__


# Share by which the squared distances of alike pairs may exceed their bound, as in metric-learn.
_SLACK = 0.01
# A direction shorter than this share of the gradient is a rounding error.
_TINY = 1e-12
# Added where metric-learn's diagonal form divides, or takes a logarithm.
_FLOOR = 1e-6


class _BaseMMC(MahalanobisMixin):
    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-3,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
        convergence_threshold: Any = DEPRECATED,
    ) -> None:
        self.max_iter = max_iter
        self.max_proj = max_proj
        self.tol, self.convergence_threshold = renamed(
            "convergence_threshold", convergence_threshold, "tol", tol
        )
        self.init = init
        self.diagonal = diagonal
        self.diagonal_c = diagonal_c
        self.verbose = verbose
        self.random_state = random_state
        super().__init__(preprocessor)

    def _learn(self, pairs: Array, y: Array) -> Self:
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0.0)
        check_number("diagonal_c", self.diagonal_c, low=0.0)
        points = pairs.reshape(-1, pairs.shape[2])
        first = metric_matrix(self.init, points, self.random_state, "init", definite=False)
        alike, others = (pairs[y == sign, 0] - pairs[y == sign, 1] for sign in (1, -1))
        for found, kind in ((alike, "alike (+1)"), (others, "different (-1)")):
            if not found.any():
                raise ValueError(
                    f"MMC needs pairs of both kinds whose points differ; all {len(found)} pairs "
                    f"that are {kind} are of equal points. Pass more pairs."
                )
        if self.diagonal:
            return self._learn_weights(alike, others, first)
        A, n_iter, converged = ascend(alike, others, first, self.max_iter, self.tol)
        return self._adopt(components_from_metric(A), A_=A, n_iter_=n_iter, converged_=converged)

    def _learn_weights(self, alike: Array, others: Array, first: Array) -> Self:
        """Learn one weight per feature."""
        weights, n_iter, converged = weigh_features(
            np.sum(alike**2, axis=0),
            others**2,
            np.diag(first).astype(float),
            float(self.diagonal_c),
            self.max_iter,
            self.tol,
        )
        return self._adopt(
            np.diag(np.sqrt(weights)),
            A_=np.diag(weights),
            n_iter_=n_iter,
            converged_=converged,
        )


def weigh_features(
    alike: Array, others: Array, w: Array, c: float, max_iter: int, tol: float
) -> tuple[Array, int, bool]:
    """Look for the weights of features by the Newton steps of metric-learn.

    They are to minimize ``sum_S d2 - c log sum_D d``, but the search along a step adds the log
    with the wrong sign. So the steps end away from the minimum, at weights that are larger by
    orders of magnitude and often serve better; whoever has set a threshold counts on them.

    Parameters
    ----------
    alike : ndarray of shape (n_features,)
        Sums of the squared differences of alike pairs.
    others : ndarray of shape (n_pairs, n_features)
        Squared differences of the others.
    w : ndarray of shape (n_features,)
        The first weights.
    c : float
        Weight of the others.
    max_iter : int
        Maximum number of steps.
    tol : float
        Stop where a step changes the value searched for by less than this share.

    Returns
    -------
    w : ndarray of shape (n_features,)
        The weights. A step that would make all distances of the others zero, where metric-learn
        ends with NaN, is not taken.
    n_iter : int
        Number of steps.
    converged : bool
        Whether the value changed by less than `tol`.
    """
    if not np.any(others @ w):
        raise ValueError("init must be above zero on its diagonal where pairs differ.")

    def searched(w: Array) -> float:
        return float(alike @ w + c * np.log(np.sum(np.sqrt(others @ w + _FLOOR))))

    for iteration in range(max_iter):
        distances = np.sqrt(others @ w)
        total = distances.sum()
        slope = others.T @ (0.5 / np.maximum(distances, _FLOOR)) / total
        curvature = (others.T / (4.0 * np.maximum(distances**3, _FLOOR))) @ others / total
        hessian = c * (curvature + np.outer(slope, slope)) + _FLOOR * np.eye(len(w))
        step = np.linalg.solve(hessian, alike - c * slope)
        before = float(alike @ w + c * np.log(total))
        start, share, value = w, 1.0, np.inf
        while (lower := searched(tried := np.maximum(0.0, start - share * step))) < value:
            w, value, share = tried, lower, share / 2.0
        if not np.isfinite(value):
            raise ValueError("The squared differences of the pairs overflow. Scale the features.")
        if not np.any(others @ w):
            warn(
                f"MMC stopped after {iteration} steps: the next one would leave no feature with a "
                f"weight, since diagonal_c={c:g} is small for these pairs. Raise it.",
                ConvergenceWarning,
            )
            return start, iteration, False
        if abs(value - before) <= tol * abs(value):
            return w, iteration + 1, True
    return w, max_iter, False


def ascend(
    alike: Array, others: Array, A: Array, max_iter: int, tol: float
) -> tuple[Array, int, bool]:
    """Maximize the distances of different pairs while those of alike pairs are bounded.

    The steps are metric-learn's: along the gradient of the sum of the distances of different
    pairs, less its part along that of the squared distances of alike pairs; 5 % longer after a
    success, half as long after a failure.

    Parameters
    ----------
    alike, others : ndarray of shape (n_pairs, n_features)
        Differences of the points of each pair.
    A : ndarray of shape (n_features, n_features)
        The first matrix. The squared distances of alike pairs must add up to a hundredth of what
        they do under it.
    max_iter : int
        Maximum number of steps.
    tol : float
        Stop where a step is shorter than this share of the matrix.

    Returns
    -------
    A : ndarray of shape (n_features, n_features)
        The matrix.
    n_iter : int
        Number of steps.
    converged : bool
        Whether they became short.
    """
    W = alike.T @ alike
    bound = float(np.vdot(W, A)) / 100.0
    unit = W / np.linalg.norm(W)
    best, highest, M, step = A, -np.inf, np.zeros_like(A), 0.1
    for iteration in range(max_iter):
        A = nearest_feasible(A, W, bound)
        distances = np.sqrt(np.maximum(np.einsum("ki,ki->k", others @ A, others), 0.0))
        if distances.sum() > highest:
            best, highest, step = A, distances.sum(), 1.05 * step
            gradient = (others.T / (distances + 1e-6)) @ others
            M = gradient - np.vdot(gradient, unit) * unit
            M = M / max(np.linalg.norm(M), _TINY * np.linalg.norm(gradient))
        else:
            step /= 2.0
        A = best + step * M
        length = step * np.linalg.norm(M) / np.linalg.norm(best)
        if length < tol:
            return best, iteration, True
    return best, max_iter - 1, False


def nearest_feasible(A: Array, W: Array, bound: float) -> Array:
    """Return the nearest positive semi-definite matrix with ``<W, A>`` up to 1 % above `bound`.

    It is the positive part of ``A - s W`` for some ``s >= 0``. metric-learn comes to a similar
    one by projecting on each of the two sets in turn, thousands of times.
    """

    def at(s: float) -> tuple[Array, float]:
        values, vectors = eigh(A - s * W)
        part = (vectors * np.maximum(values, 0.0)) @ vectors.T
        return part, float(np.vdot(W, part)) / bound - 1.0

    low, high = 0.0, 0.0
    found, above = at(0.0)
    below = excess = above
    while above > _SLACK and below > 0.0:  # the sum falls as s grows
        low, above = high, below
        high = 2.0 * high or excess * bound / float(np.vdot(W, W))
        found, below = at(high)
        if 0.0 <= below <= _SLACK:
            return found
    while above > _SLACK:
        middle = high - below * (high - low) / (below - above)  # the Illinois method
        found, excess = at(middle)
        if 0.0 <= excess <= _SLACK or not low < middle < high:
            break
        if excess > 0.0:
            low, above, below = middle, excess, below / 2.0
        else:
            high, below, above = middle, excess, above / 2.0
    return found


class MMC(PairLearner, _BaseMMC):
    """Mahalanobis metric for clustering from pairs, by metric-learn's steps.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of iterations.
    max_proj : int, default=10000
        Setting of metric-learn's projection, which here needs few steps; not used.
    tol : float, default=0.001
        Stop where a step is shorter than this share of the matrix; if `diagonal`, where it
        changes the value by less than this share.
    init : str or ndarray, default="identity"
        The first matrix: its size sets the scale of the metric, unless it is `diagonal`.
    diagonal : bool, default=False
        Whether to learn one weight per feature.
    diagonal_c : float, default=1.0
        Weight of the pairs that are not alike if the metric is diagonal.
    verbose : bool, default=False
        Taken, and not used; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of `init` "random".
    convergence_threshold : "deprecated"
        Old name of `tol`, taken with a warning.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map.
    A_ : ndarray of shape (n_features, n_features)
        The matrix of the learned squared distance.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether the steps ended by `tol`.

    Examples
    --------
    >>> from seraph.compat.metric_learn import MMC
    >>> pairs = [[[0.0, 1.0], [0.1, 5.0]], [[0.0, 1.0], [3.0, 1.2]],
    ...          [[3.0, 4.0], [3.2, 0.0]], [[0.1, 2.0], [2.9, 2.5]]]
    >>> learner = MMC().fit(pairs, [1, -1, 1, -1])
    >>> learner.predict(pairs).tolist()
    [1, -1, 1, -1]
    """


class MMC_Supervised(SamplingLearner, _BaseMMC):  # noqa: N801
    """Mahalanobis metric for clustering from classes, by metric-learn's steps.

    Parameters
    ----------
    max_iter : int, default=100
        Maximum number of iterations.
    max_proj : int, default=10000
        Setting of metric-learn's projection, which here needs few steps; not used.
    tol : float, default=1e-06
        Stop where a step is shorter than this share of the matrix; if `diagonal`, where it
        changes the value by less than this share.
    n_constraints : int, optional
        Number of pairs of either kind to sample; 20 times the number of classes squared if
        None.
    init : str or ndarray, default="identity"
        The first matrix: its size sets the scale of the metric, unless it is `diagonal`.
    diagonal : bool, default=False
        Whether to learn one weight per feature.
    diagonal_c : float, default=1.0
        Weight of the pairs that are not alike if the metric is diagonal.
    verbose : bool, default=False
        Taken, and not used; nothing is printed.
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.
    random_state : int, RandomState instance or None, default=None
        Seed of the sampled pairs, and of `init` "random".
    num_constraints : "deprecated"
        Old name of `n_constraints`, taken with a warning.
    convergence_threshold : "deprecated"
        Old name of `tol`, taken with a warning.

    Attributes
    ----------
    components_ : ndarray of shape (n_features, n_features)
        The learned map.
    A_ : ndarray of shape (n_features, n_features)
        The matrix of the learned squared distance.
    n_iter_ : int
        Number of steps.
    converged_ : bool
        Whether the steps ended by `tol`.

    Examples
    --------
    >>> from seraph.compat.metric_learn import MMC_Supervised
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC_Supervised(random_state=0).fit(X, y).transform(X).shape
    (150, 4)
    """

    def __init__(
        self,
        max_iter: int = 100,
        max_proj: int = 10000,
        tol: float = 1e-6,
        n_constraints: int | None = None,
        init: Any = "identity",
        diagonal: bool = False,
        diagonal_c: float = 1.0,
        verbose: bool = False,
        preprocessor: Any = None,
        random_state: Any = None,
        num_constraints: Any = DEPRECATED,
        convergence_threshold: Any = DEPRECATED,
    ) -> None:
        super().__init__(
            max_iter,
            max_proj,
            tol,
            init,
            diagonal,
            diagonal_c,
            verbose,
            preprocessor,
            random_state,
            convergence_threshold,
        )
        self._set_number(n_constraints, num_constraints)
