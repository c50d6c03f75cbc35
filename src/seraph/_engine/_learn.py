"""The engine: from points and labels to a metric, the same for every estimator of the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .. import _solvers as solvers
from .._pairs import PairLabels
from .._sweep import Coordinates, Points, PointsInMemory, make_sweep, one_blas_thread, workers
from .._typing import Array
from . import _advice as advice
from ._callback import Stopped, Watch
from ._checkpoint import Journal
from ._objective import FullModel, Objective
from ._problem import Problem, ordered_terms
from ._progress import Progress
from ._settings import Settings


@dataclass(frozen=True)
class Fit:
    """A learned metric. Each field ends up as an attribute of the estimator, with a ``_``.

    Parameters
    ----------
    components : ndarray of shape (rank, n_features)
        Factor of the metric on the user's features.
    averaged : ndarray of shape (k, n_features)
        Factor of the mean of this metric and those for larger and smaller weights of the trace;
        `components` again unless the settings ask for it.
    coordinates : Coordinates
        The points as the solvers saw them.
    mu, lam, eta, kappa : float
        Weights, threshold and scale of the model.
    objective, optimality_gap : float
        Value of the objective, and the certificate.
    converged, stopped : bool
        Whether the solver met its tolerance; whether the callback ended the fit.
    n_iter : int
        Number of iterations.
    history : dict of ndarray
        "objective", "rank" and "step" of each iteration.
    n_similar, n_dissimilar, n_unlabeled : int
        Number of pairs of each kind.
    backend, device : str
        What summed over the pairs, and where.
    """

    components: Array
    averaged: Array
    coordinates: Coordinates
    mu: float
    lam: float
    eta: float
    kappa: float
    objective: float
    optimality_gap: float
    converged: bool
    stopped: bool
    n_iter: int
    history: dict[str, Array]
    n_similar: int
    n_dissimilar: int
    n_unlabeled: int
    backend: str
    device: str | None

    @property
    def attributes(self) -> dict[str, Any]:
        """All numbers and counts, under the names that estimators give them."""
        return {f"{name}_": getattr(self, name) for name in _ATTRIBUTES}

    def warn(self, settings: Settings, *, shrunk: bool = False) -> None:
        """Warn the user of a metric of rank zero, and of a fit that has not converged.

        Parameters
        ----------
        settings : Settings
            Settings of the fit.
        shrunk : bool
            Whether another metric is handed out in place of one of rank zero.
        """
        if self.kappa == 0.0:
            advice.warn_of_kappa_zero(float(settings.gamma or 0.0))
        elif len(self.averaged) == 0:
            advice.warn_of_rank_zero(shrunk=shrunk)
        if self.stopped:
            return
        n_steps = len(self.history["step"])
        iterations = f"{n_steps} iterations, optimality gap {self.optimality_gap:.1e}"
        no_trace = self.lam == 0.0 and settings.lam != "auto"
        if no_trace and settings.solver != "projected-gradient":
            advice.warn_of_no_maximum(converged=self.converged, iterations=iterations)
        elif not self.converged and settings.gamma == 0.0:
            advice.warn_of_no_prior(kappa=self.kappa, iterations=iterations)
        elif not self.converged:
            remedy = "em_max_iter or max_iter" if settings.algorithm == "em" else "max_iter"
            advice.warn_of_early_stop(settings.name, iterations=iterations, remedy=remedy)


_METRICS = ("components", "averaged", "coordinates")
_ATTRIBUTES = tuple(field.name for field in fields(Fit) if field.name not in _METRICS)
# Multiples of the weight of the trace whose metrics are averaged with the one for the weight
# itself, and how exactly they are solved: they only add directions, or stress the leading ones.
_OTHER_WEIGHTS, _ROUGH = (3.0, 0.1), 3e-2


_OVERFLOW = (
    "The fit left the range of floating-point numbers: mu, lam, eta, gamma or manifold is too "
    "large for these points. Lower it, or scale the features."
)


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Have the threads or the cluster that sweeps need, for as long as they run."""
    with one_blas_thread(), workers(settings.backend, settings.n_jobs):
        try:
            yield
        except np.linalg.LinAlgError as error:  # the eigenvalues of a matrix that overflowed
            raise ValueError(_OVERFLOW) from error


def learn(
    points: Points,
    labels: PairLabels,
    settings: Settings,
    *,
    graph: Any = None,
    start: Array | None = None,
    journal: Journal | None = None,
) -> Fit:
    """Learn a metric. Write nothing but the journal, and issue no warnings.

    Parameters
    ----------
    points : Points
        The points.
    labels : PairLabels
        Labels of their pairs.
    settings : Settings
        Settings of the fit; the backend and device are settled.
    graph : sparse matrix of shape (n, n), optional
        Graph of the manifold extension.
    start : ndarray of shape (rank, n_features), optional
        Factor of a metric to start from, on the user's features.
    journal : Journal, optional
        Records the sums, so that a fit that was killed can be resumed.

    Returns
    -------
    Fit
    """
    with running(settings):
        problem = Problem.make(points, labels, settings, graph, journal)
        objective = problem.objective(settings.lam, settings.lam_factor)
        result, s = _Search(problem, objective, settings, start).run()
        P = result.P / np.sqrt(s) if s > 0.0 else result.P
        fit = fit_of(result, P, -s, objective, problem, labels)
        return _with_average(fit, problem, settings) if settings.average else fit


def _with_average(fit: Fit, problem: Problem, settings: Settings) -> Fit:
    """Average the metric with those for other weights of the trace.

    Which weight is best depends on whether the directions of much variance are those that
    matter, and few labels do not tell. The mean of several metrics, each with the same total
    variance, is nearly as good as the best of them.
    """
    covariance = problem.coordinates.covariance()
    found = [fit.components]
    for factor in _OTHER_WEIGHTS:
        if fit.stopped or (factor > 1.0 and len(fit.components) == 0):
            continue
        objective = problem.objective(settings.lam, settings.lam_factor * factor)
        start = fit.components if len(fit.components) else None
        tol = _ROUGH * max(1.0, 1.0 / factor)  # the same accuracy in absolute terms
        rough = replace(
            settings,
            tol=max(settings.tol, tol),
            em_tol=max(settings.em_tol, tol),
            callback=None,
            verbose=0,
        )
        result, s = _Search(problem, objective, rough, start).run()
        found.append(problem.coordinates.to_features(result.P / np.sqrt(s or 1.0)))
    parts, sizes = [], []
    for P in found:
        own = problem.coordinates.from_features(P.astype(np.float64))
        variance = float(np.sum((own @ covariance) * own))
        if variance > 0.0 and np.isfinite(variance):
            parts.append(P / np.sqrt(variance))
            sizes.append(variance)
    if not parts:
        return fit
    mean = solvers.compress(np.vstack(parts) * np.sqrt(sizes[0] / len(parts)))
    return replace(fit, averaged=mean.astype(fit.components.dtype))


def fit_of(
    result: solvers.Result,
    P: Array,
    kappa: float,
    objective: Objective,
    problem: Problem,
    labels: PairLabels,
) -> Fit:
    """Describe a solution of a problem in the user's units."""
    coordinates = problem.coordinates
    components = coordinates.to_features(P).astype(coordinates.array.dtype)
    if not (np.isfinite(result.value) and np.all(np.isfinite(components))):
        raise ValueError(_OVERFLOW)
    return Fit(
        components=components,
        averaged=components,
        coordinates=coordinates,
        mu=objective.terms.mu,
        lam=objective.lam * coordinates.unit**2,
        eta=objective.terms.eta,
        kappa=kappa or 0.0,
        objective=result.value,
        optimality_gap=result.gap,
        converged=result.converged,
        stopped=result.stopped,
        n_iter=max(1, len(result.steps)),
        history=result.history,
        n_similar=labels.n_similar,
        n_dissimilar=labels.n_dissimilar,
        n_unlabeled=labels.n_unlabeled,
        backend=problem.sweep.name,
        device=problem.sweep.device,
    )


def mean_log_likelihood(fit: Fit, points: PointsInMemory, labels: PairLabels) -> float:
    """Mean ``ln p(y)`` of the labeled pairs of some points under a learned metric."""
    s = -fit.kappa
    first, terms = ordered_terms(labels, s * fit.eta, mu=0.0)
    array = points.coordinates(rescale=False).with_first(first)
    sweep = make_sweep(array, backend="numpy")
    value, _ = sweep(np.sqrt(s) * fit.components, terms, "threshold")
    return value / labels.n_labeled


class _Search:
    """One run of a solver, with its start and its callbacks."""

    def __init__(
        self, problem: Problem, objective: Objective, settings: Settings, start: Array | None
    ) -> None:
        self.problem = problem
        self.objective = objective
        self.settings = settings
        self.given_start = start
        to_features = problem.coordinates.to_features
        self.watch = Watch(settings.callback, to_features, objective.scale)

    def run(self) -> tuple[solvers.Result, float]:
        """Return the best metric times the scale ``s = -kappa``, and the scale."""
        settings, objective = self.settings, self.objective
        # The simplified model (7) is the full one at s = 1 without a prior.
        model = FullModel(objective, float(settings.gamma or 0.0))
        try:
            if settings.gamma is not None:
                return solvers.over_scale(model, self._maximize, self._start, tol=settings.tol)
            if settings.algorithm == "direct":
                return self._maximize(objective, self._start(1.0)), 1.0
            found = solvers.em(
                objective.m_step,
                self._maximize,
                self._start(1.0),
                max_iter=settings.em_max_iter,
                tol=settings.em_tol,
            )
            return found, 1.0
        except Stopped as stopped:
            found, s = stopped.result, stopped.s
            return replace(found, value=found.value - model.prior(s)), s

    def _start(self, s: float) -> Array:
        """Make a factor to start from, at the scale `s`."""
        settings, coordinates = self.settings, self.problem.coordinates
        if self.given_start is not None:
            P = coordinates.from_features(self.given_start.astype(np.float64)) * np.sqrt(s)
            return solvers.compress(P)[: settings.n_components]
        if settings.solver_name == "projected-gradient":
            m = coordinates.n_features
            return np.sqrt(m / (m + 1.0)) * np.eye(m)
        narrow = settings.solver_name == "low-rank"
        return self.problem.first_factor(
            settings.n_components, narrow=narrow, eta=s * settings.eta
        )

    def _maximize(self, objective: solvers.MatrixFunction, P: Array) -> solvers.Result:
        settings = self.settings
        progress = Progress(settings.name, settings.max_iter) if settings.verbose else None

        def after_iteration(step: solvers.Step, P: Array) -> None:
            if progress is not None:
                progress(step)
            self.watch(objective, step, P)

        options: dict[str, Any] = {}
        if settings.n_components is not None:
            options["max_rank"] = settings.n_components
        return solvers.SOLVERS[settings.solver_name](
            objective,
            P,
            max_iter=settings.max_iter,
            tol=settings.tol,
            callback=after_iteration,
            **options,
        )
