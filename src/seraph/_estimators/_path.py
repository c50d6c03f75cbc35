"""The regularisation path: the metrics of all weights of the trace, one leading to the next."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from .. import _solvers as solvers
from .._engine import _warnings as advice
from .._engine._checkpoint import check_checkpoint, opened
from .._engine._objective import Objective
from .._engine._problem import Problem
from .._engine._progress import Progress
from .._pairs import PairLabels
from .._sweep import BACKENDS, Backend, choose_backend, make_sweep, one_blas_thread, workers
from .._validation import check_choice, check_number

# With unlabelled pairs the search for the start begins no lower than this share of where the
# labelled pairs alone would give the zero metric.
_LOWEST_START = 0.1


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions of (7) for falling weights of the trace.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        The weights, the largest first.
    components : list of ndarray of shape (rank, n_features)
        A factor of each metric, as in ``SERAPH.components_`` up to the signs of its rows.
    objectives : ndarray of shape (n_lams,)
        Value of the objective (7) at each metric.
    optimality_gaps : ndarray of shape (n_lams,)
        The certificates, as in ``SERAPH.optimality_gap_``.
    converged : ndarray of bool of shape (n_lams,)
        Which of them are as small as asked for.
    n_sweeps : ndarray of int of shape (n_lams,)
        How often the pairs were swept for each; the search for the start counts to the first.
    lam_max : float
        Where the zero metric ceases to be a maximum.
    auto_lam : float
        What ``lam="auto"`` stands for on these data.
    mu, eta : float
        Weight of the unlabelled pairs, and the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import seraph_path
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> path = seraph_path(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1), n_lams=5)
    >>> bool(path.lams[0] > path.lams[-1])
    True
    >>> int(path.ranks[0]), len(path.components), len(path.eigenvalues)
    (0, 5, 5)
    """

    lams: NDArray
    components: list[NDArray]
    objectives: NDArray
    optimality_gaps: NDArray
    converged: NDArray
    n_sweeps: NDArray
    lam_max: float
    auto_lam: float
    mu: float
    eta: float

    @property
    def ranks(self) -> NDArray:
        """Rank of each metric."""
        return np.array([len(P) for P in self.components])

    @property
    def eigenvalues(self) -> NDArray:
        """Eigenvalues of each metric, falling, with zeros at the end: one row a metric."""
        values = np.zeros((len(self.lams), max(self.ranks, default=0)))
        for row, P in zip(values, self.components, strict=True):
            row[: len(P)] = np.sort(np.sum(np.square(P, dtype=np.float64), axis=1))[::-1]
        return values


def seraph_path(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    lams: ArrayLike | None = None,
    n_lams: int = 100,
    eps: float = 1e-3,
    mu: float | Literal["auto"] = "auto",
    eta: float = 1.0,
    manifold: float = 0.0,
    n_neighbors: int = 10,
    n_components: int | None = None,
    max_iter: int = 200,
    tol: float = 1e-3,
    backend: Backend = "auto",
    device: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    n_jobs: int | None = None,
    pairs: ArrayLike | None = None,
    pair_labels: ArrayLike | None = None,
    graph: Any = None,
) -> RegularizationPath:
    r"""Metrics of the model (7) for many weights of the trace, from the zero metric on.

    .. math:: A(\lambda) = \arg\max_A \sum_{labelled} \ln p(y_{ij})
              - \mu \sum_{unlabelled} H(p_{ij}) - \lambda\, \mathrm{tr}(A)

    Each solution is followed to the next: extrapolation from the last ones gives the guess,
    and the curvature learned so far corrects it. The path starts at

    .. math:: \lambda_{max} = \mathrm{eigmax} \Bigl( \sum_{ij} \phi'_{ij}(0)\,
              (x_i - x_j)(x_i - x_j)^T \Bigr),

    the largest eigenvalue of the gradient of the pair terms at the zero metric. With ``mu=0``
    the problem is concave: the metric is zero from there on upwards and not below. With
    unlabelled pairs the zero metric is a local maximum from there on, and the path starts
    higher if a better one is found. It then follows one maximum of several, which need not be
    the one that ``SERAPH(lam=...)`` finds from its own start.

    Parameters
    ----------
    X, y
        The data, as in ``SERAPH.fit``.
    lams : array-like of shape (n_lams,), optional
        The weights, positive, in any order. By default `n_lams` of them are taken, evenly in
        their logarithm, from where the metric is zero down to `eps` times that.
    n_lams : int, default=100
        Number of weights, where they are not given.
    eps : float, default=1e-3
        The smallest weight over the largest, where they are not given.
    mu, eta, manifold, n_neighbors, n_components, max_iter, tol, backend, device
        As in `SERAPH`; `max_iter` for each weight.
    checkpoint : path, optional
        As in `SERAPH`; one for the whole path.
    verbose : int, default=0
        1 prints a line per weight.
    n_jobs : int, optional
        As in `SERAPH`.
    pairs, pair_labels, graph
        More data, as in ``SERAPH.fit``.

    Returns
    -------
    RegularizationPath
        The weights, metrics, ranks, objectives, and what they cost.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import seraph_path
    >>> X, y = load_wine(return_X_y=True)
    >>> y = np.where(np.arange(len(y)) % 15 == 0, y, -1)
    >>> path = seraph_path(StandardScaler().fit_transform(X), y, n_lams=20)
    >>> int(path.ranks[0]), bool(path.ranks[-1] > 1)
    (0, True)
    >>> path.components[-1].shape[1]
    13
    """
    for name, value, low, integer in [
        ("n_lams", n_lams, 1, True),
        ("eta", eta, 0, False),
        ("manifold", manifold, 0, False),
        ("n_neighbors", n_neighbors, 1, True),
        ("max_iter", max_iter, 1, True),
        ("tol", tol, 0, False),
    ]:
        check_number(name, value, low=low, integer=integer)
    check_number("n_components", n_components, low=1, integer=True, instead=None)
    check_number("mu", mu, low=0, instead="auto")
    check_choice("backend", backend, BACKENDS)
    if not 0.0 < eps < 1.0:
        raise ValueError(f"eps must lie between 0 and 1, both excluded; got {eps!r}.")
    check_checkpoint(checkpoint)
    points = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=2, input_name="X")
    labels = PairLabels.make(len(points), y, pairs, pair_labels)
    advice.warn_of_labels(labels)
    advice.warn_of_scales(points)
    chosen, device = choose_backend(X, len(points), backend, device)
    parameters = {
        "lams": None if lams is None else _check_lams(lams),
        "n_lams": n_lams,
        "eps": eps,
        "mu": mu,
        "eta": eta,
        "manifold": manifold,
        "n_neighbors": n_neighbors,
        "n_components": n_components,
    }
    with (
        one_blas_thread(),
        workers(chosen, n_jobs),
        opened(checkpoint, parameters, points, labels, graph) as journal,
    ):
        problem = Problem.make(
            points,
            labels,
            partial(make_sweep, backend=chosen, device=device, n_jobs=n_jobs),
            eta=eta,
            mu=mu,
            manifold=manifold,
            n_neighbors=n_neighbors,
            graph=graph,
        )
        if journal is not None:
            sweep = journal.recorded(problem.sweep, problem.space.points, problem.terms)
            problem = replace(problem, sweep=sweep)
        walk = _Walk(problem, max_iter, tol, n_components)
        lam_max = walk.lam_max(problem.terms.mu)
        if lams is None:
            top = walk.highest_lam(lam_max)
            weights = np.geomspace(top, eps * top, n_lams)
        else:
            weights = _check_lams(lams)
        watch: Callable[..., None] = (
            Progress("seraph_path", len(weights)) if verbose else lambda step: None
        )
        found: list[_Place] = []
        for lam in weights:
            found.append(walk.solve(float(lam), from_zero=lams is None and not found))
            result = found[-1].result
            watch(solvers.Step(result.value, len(result.P), 0.0, result.gap))
    results = [place.result for place in found]
    converged = np.array([result.converged for result in results])
    if not converged.all():
        advice.warn_of_early_stop(
            iterations=f"{np.sum(~converged)} of {len(weights)} values of lam",
            remedy="max_iter",
            stacklevel=3,
        )
    factors = [problem.space.to_features(solvers.compress(result.P)) for result in results]
    return RegularizationPath(
        lams=weights,
        components=[P.astype(points.dtype) for P in factors],
        objectives=np.array([result.value for result in results]),
        optimality_gaps=np.array([result.gap for result in results]),
        converged=converged,
        n_sweeps=np.array([place.n_sweeps for place in found]),
        lam_max=lam_max,
        auto_lam=problem.auto_lam,
        mu=problem.terms.mu,
        eta=float(eta),
    )


class _Place(NamedTuple):
    """A solution on the path, and how often the pairs were swept for it."""

    result: solvers.Result
    n_sweeps: int


class _Walk:
    """The way down the path, and where it starts."""

    def __init__(
        self, problem: Problem, max_iter: int, tol: float, n_components: int | None
    ) -> None:
        self.problem = problem
        self.n_components = n_components
        self.follower = solvers.Follower(max_iter=max_iter, tol=tol, max_rank=n_components)
        self.cold = partial(
            solvers.low_rank,
            max_iter=max_iter,
            tol=tol,
            max_rank=n_components,
            callback=lambda step, P: None,
        )
        self.nothing = np.zeros((0, problem.space.points.shape[1]))
        # Where the path is: nowhere yet (None), at the zero metric (0), or beyond.
        self.rank: int | None = None
        self.n_swept = 0

    def lam_max(self, mu: float) -> float:
        """Weight from which the zero metric is a (local) maximum, if `mu` weighs the entropy."""
        problem = replace(self.problem, terms=replace(self.problem.terms, mu=mu))
        gradient = problem.objective(0.0).by_metric(self.nothing)[1]
        return float(np.linalg.eigvalsh(gradient)[-1]) * problem.space.unit**2

    def highest_lam(self, lam_max: float) -> float:
        """Weight at which the path starts: there the metric is zero."""
        top = max(lam_max, _LOWEST_START * self.lam_max(0.0))
        if top <= 0.0:
            raise ValueError(
                "The metric is zero whatever lam is: no labelled pair pulls points apart. Add "
                "labels of another class, or dissimilar pairs; or pass lams."
            )
        if self.problem.terms.mu > 0.0:
            while self._better_than_zero(self.problem.objective(top)) is not None:
                top *= 2.0
        return top

    def solve(self, lam: float, *, from_zero: bool = False) -> _Place:
        """The metric for the next weight, smaller than the last; `from_zero`, if that is it."""
        objective, place = self.problem.objective(lam), float(np.log(lam))
        start = None
        if from_zero:
            start = self.nothing
        elif self.rank is None or (self.rank == 0 and self.problem.terms.mu > 0.0):
            # The entropy may hold the zero metric where another one is better.
            start = self._better_than_zero(objective)
            if start is None:
                start = self.nothing
        result = self.follower(objective, place, start)
        self.rank = len(result.P)
        before, self.n_swept = self.n_swept, self.problem.sweep.n_sweeps
        return _Place(result, self.n_swept - before)

    def _better_than_zero(self, objective: Objective) -> NDArray | None:
        """Factor of the metric that SERAPH finds from its own start, if zero is not better."""
        start = self.problem.first_factor(
            self.n_components, narrow=True, eta=self.problem.terms.eta
        )
        found = self.cold(objective, start)
        zero = objective.by_metric(self.nothing)[0]
        return found.P if found.value > zero + 1e-6 * abs(zero) else None


def _check_lams(lams: ArrayLike) -> NDArray:
    weights = np.unique(np.asarray(lams, dtype=np.float64).ravel())[::-1]
    if len(weights) == 0 or not np.all(np.isfinite(weights)) or weights[-1] <= 0.0:
        raise ValueError(
            f"lams must hold positive finite weights, at least one; got {np.asarray(lams)!r}."
        )
    return weights
