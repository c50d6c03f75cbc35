"""The engine: from points and labels to a metric, the same for every estimator of the model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from .. import _solvers as solvers
from .._marks import PairLabels
from .._sweep import Coordinates, Points, PointsInMemory, make_sweep, workers
from .._utils._eigen import decompose_on
from .._utils._threads import one_blas_thread
from .._utils._typing import Array
from ._callback import Stopped, Watch
from ._checkpoint import Journal
from ._forecast import Forecast, Progress
from ._neighbors import Neighborhood, count_directions, trust_in_labels, weigh_discriminant
from ._objective import FullModel, Objective
from ._problem import Problem, order_terms
from ._sampling_error import count_summed, estimate_error
from ._settings import Settings
from ._triplets import Triplets


@dataclass(frozen=True)
class Fit:
    """A learned metric. Each field ends up as an attribute of the estimator, with a ``_``.

    Parameters
    ----------
    components : ndarray of shape (rank, n_features)
        Factor of the metric on the user's features.
    averaged : ndarray of shape (k, n_features)
        Factor of the mean of this metric, those for other weights of the trace, and a
        discriminant; `components` again unless the settings ask for it.
    target : ndarray of shape (n_features, n_features) or None
        Matrix to shrink toward, if the settings ask for it.
    target_weight : float
        Factor of its odds: see `Neighborhood.weigh_target`.
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
        "objective", "rank", "step" and "share" of each iteration.
    n_similar, n_dissimilar, n_unlabeled, n_triplets : int
        Number of pairs of each kind, and of triplets.
    n_absent_marks : int
        Number of marks that were left out because X does not have their rows.
    n_summed_pairs : int
        Number of pairs that the objective sums over.
    backend, device : str
        The backend that summed over the pairs, and its device.
    sampling_error : float
        Error that sampling adds to the metric, over that of the labels: see `estimate_error`.
    stalled : bool
        Whether rounding errors hid the rest of the gain. (Not an attribute.)
    """

    components: Array
    averaged: Array
    target: Array | None
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
    n_triplets: int
    n_absent_marks: int
    n_summed_pairs: int
    backend: str
    device: str | None
    sampling_error: float = 0.0
    target_weight: float = 1.0
    stalled: bool = False

    @property
    def attributes(self) -> dict[str, Any]:
        """All numbers and counts, under the names that estimators give them."""
        return {f"{name}_": getattr(self, name) for name in _ATTRIBUTES}


_NOT_ATTRIBUTES = (
    "components",
    "averaged",
    "target",
    "target_weight",
    "coordinates",
    "stalled",
)
_ATTRIBUTES = tuple(field.name for field in fields(Fit) if field.name not in _NOT_ATTRIBUTES)
# Multiples of the weight of the trace whose metrics are averaged with the one for the weight
# itself. Chosen on the sets of benchmarks/evidence that are for choosing ("The default" in
# benchmarks/RESULTS.md).
_OTHER_WEIGHTS = (10.0, 0.1)
# Their tolerance: this multiple of the fit's, at most _ROUGH. The mean then differs by 1 to 3 %
# from the mean of converged metrics.
_ROUGHER, _ROUGH = 50.0, 5e-2
# From this tolerance of the fit on, its default, the other metrics are rough: the maximum of a
# surrogate where the fit uses samples, else the end of a few iterations. With a smaller one, a
# surrogate is only the start for a fit over all pairs.
_ROUGH_TOL, _FEW = 1e-3, 15


_OVERFLOW = (
    "The fit left the range of floating-point numbers: mu, lam, eta, gamma or manifold is too "
    "large for these points. Lower it, or scale the features."
)


@contextmanager
def set_up_sweeps(settings: Settings) -> Iterator[None]:
    """Limit the threads of BLAS and start the cluster that sweeps need, within the block.

    Overflow raises a ValueError; numpy's warnings are silenced.
    """
    with (
        np.errstate(over="ignore", invalid="ignore"),
        one_blas_thread(),
        decompose_on(settings.gpu),
        workers(settings.backend, settings.n_jobs),
    ):
        try:
            yield
        except np.linalg.LinAlgError as error:  # the matrix overflowed
            raise ValueError(_OVERFLOW) from error


def learn(
    points: Points,
    labels: PairLabels,
    settings: Settings,
    *,
    graph: Any = None,
    start: Array | None = None,
    journal: Journal | None = None,
    is_trial: bool = False,
) -> Fit:
    """Learn a metric. Write nothing but the journal, and issue no warnings.

    Parameters
    ----------
    points, labels : Points, PairLabels
        The points, and labels of their pairs.
    settings : Settings
        Settings of the fit; the backend and device are settled.
    graph : sparse matrix of shape (n, n), optional
        Graph of the manifold extension.
    start : ndarray of shape (rank, n_features), optional
        Factor of a metric to start from, on the user's features.
    journal : Journal, optional
        Records the sums, so that a fit that was killed can be resumed.
    is_trial : bool, default=False
        Whether this is one of many fits of a search: then Ctrl-C ends the search, whatever the
        callback, and no time is announced.

    Returns
    -------
    Fit
    """
    with set_up_sweeps(settings):
        problem = Problem.make(points, labels, settings, graph, journal)
        forecast = None
        if not is_trial:
            forecast = Forecast(problem, settings, len(points), is_near=start is not None)
        run = _SolverRun(problem, settings, start, forecast)
        try:
            result, s = run.solve()
        except KeyboardInterrupt:
            best = None if is_trial else run.watch.end_at_best()
            if best is None:
                raise
            if journal is not None:
                journal.keep()
            result, s = best
        fit = describe_fit(result, s, run.lam * problem.coordinates.unit**2, problem, labels)
        error = estimate_error(problem, result.P, labels, s)
        fit = replace(fit, sampling_error=error)
        return _add_to_fit(fit, problem.labels, result, run)


def _add_to_fit(fit: Fit, labels: PairLabels, result: solvers.Result, run: _SolverRun) -> Fit:
    """Add to a fit what the settings ask for: the mean of several metrics, and a target."""
    settings, coordinates = run.settings, fit.coordinates
    is_averaged = settings.average and len(fit.components) > 0 and not fit.stopped
    if not (is_averaged or settings.toward_neighbors):
        return fit
    nearby = Neighborhood.of(coordinates, labels)
    if nearby is None:
        return fit
    graph = nearby.graph()
    directions = count_directions(coordinates.covariance)
    trust = trust_in_labels(labels, directions)
    if settings.toward_neighbors:
        weight = nearby.weigh_target(directions)
        # What the target gains is the Euclidean part.
        target = nearby.target(graph, coordinates, trust / weight**2)
        fit = replace(fit, target=target, target_weight=weight)
    if not is_averaged:
        return fit
    others = [run.for_weight(factor, fit.components, result) for factor in _OTHER_WEIGHTS]
    parts = [result.P, *others]
    # A small weight of the trace follows the labels closely, and needs enough of them.
    shares = [share / (2.0 + trust) for share in (1.0, 1.0, trust)]
    discriminant = nearby.discriminant(graph)
    if discriminant is not None:
        share = weigh_discriminant(labels)
        shares = [*((1.0 - share) * one for one in shares), share]
        parts.append(discriminant)
    mean = coordinates.to_features(_mean_metric(parts, shares, coordinates.covariance))
    return replace(fit, averaged=mean.astype(fit.components.dtype))


def _mean_metric(parts: list[Array], shares: list[float], covariance: Array) -> Array:
    """Return a factor of a weighted mean of metrics, all with the total variance of the first.

    Which weight of the trace is best depends on whether the leading principal components are the
    relevant directions, and few labels do not show that. A metric of no variance is left out.
    """
    variances = [float(np.vdot(P @ covariance, P)) for P in parts]
    if not (variances[0] > 0.0 and np.isfinite(variances).all()):
        return parts[0]
    used = [(P, w, v) for P, w, v in zip(parts, shares, variances, strict=True) if v > 0.0]
    total = sum(w for _, w, _ in used) / variances[0]
    return solvers.compress(np.vstack([np.sqrt(w / (v * total)) * P for P, w, v in used]))


def describe_fit(
    result: solvers.Result, s: float, lam: float, problem: Problem, labels: PairLabels
) -> Fit:
    """Describe a solution of a problem, at a scale ``s = -kappa``, in the user's units."""
    coordinates = problem.coordinates
    P = result.P / np.sqrt(s or 1.0)
    components = coordinates.to_features(P).astype(coordinates.array.dtype)
    if not (np.isfinite(result.value) and np.all(np.isfinite(components))):
        raise ValueError(_OVERFLOW)
    return Fit(
        components=components,
        averaged=components,
        target=None,
        coordinates=coordinates,
        mu=problem.mu,
        lam=lam,
        eta=problem.pairs.terms.eta,
        kappa=-s if s else 0.0,
        objective=result.value,
        optimality_gap=result.gap,
        converged=result.converged,
        stopped=result.stopped,
        n_iter=max(1, len(result.steps)),
        history=result.history,
        n_similar=labels.n_similar,
        n_dissimilar=labels.n_dissimilar,
        n_unlabeled=labels.n_unlabeled,
        n_triplets=len(labels.triplets),
        n_absent_marks=labels.n_absent_marks,
        n_summed_pairs=count_summed(problem),
        backend=problem.pairs.sweep.name,
        device=problem.pairs.sweep.device,
        stalled=result.stalled,
    )


def mean_log_likelihood(fit: Fit, points: PointsInMemory, labels: PairLabels) -> float:
    """Mean ``ln p`` of the labeled pairs and triplets of some points under a learned metric."""
    s = -fit.kappa
    P = np.sqrt(s) * fit.components
    first = labels.rows_by_class
    terms = order_terms(labels, s * fit.eta, 0.0, first)
    coordinates = points.coordinates(rescale=False)
    sweep = make_sweep(coordinates.with_first(first), backend="numpy")
    value, _ = sweep(P, terms, "threshold")
    value += Triplets.gather(coordinates.array, labels.triplets).by_factor(P)[0]
    return value / labels.labeled_weight


class _SolverRun:
    """One run of a solver, with its start (on the user's features) and its callbacks."""

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        start: Array | None = None,
        forecast: Forecast | None = None,
    ) -> None:
        self.problem, self.settings = problem, settings
        self.given_start, self.forecast = start, forecast
        self.lam = problem.weight(settings.lam, settings.lam_factor)
        self.objective = problem.objective(settings.lam, settings.lam_factor)
        # The simplified model (7) is the full one at s = 1 without a prior.
        self.model = FullModel(self.objective, float(settings.gamma or 0.0))
        self.watch = Watch(settings.callback, problem.coordinates.to_features, self.model)

    def solve(self) -> tuple[solvers.Result, float]:
        """Return the best metric times the scale ``s = -kappa``, and the scale."""
        settings, m_steps = self.settings, self.settings.method.m_steps
        try:
            if settings.gamma is not None:
                return solvers.over_scale(
                    self.model, self._maximize, self._start, tol=settings.tol
                )
            P = self._start(1.0)
            if not m_steps:
                near = self.given_start is not None
                return self._maximize(self.objective, P, near=near), 1.0
            max_iter = int(min(m_steps, settings.max_iter))
            step = self.objective.m_step
            return solvers.em(step, self._maximize, P, max_iter=max_iter, tol=settings.tol), 1.0
        except Stopped as stopped:
            return stopped.found

    def for_weight(self, factor: float, start: Array, result: solvers.Result) -> Array:
        """Find the metric for a multiple of the weight of the trace, more roughly.

        Start from `result`, which is `start` on the user's features. Return a factor.
        """
        tol, max_iter = self.settings.tol, self.settings.max_iter
        is_rough = tol >= _ROUGH_TOL
        rough = replace(
            self.settings,
            lam_factor=self.settings.lam_factor * factor,
            tol=max(tol, min(_ROUGH, _ROUGHER * tol)),
            max_iter=min(max_iter, _FEW) if is_rough else max_iter,
            callback=None,
            verbose=0,
        )
        # (A metric for a small weight needs more rows than a sample has.)
        problem = self.problem.without_samples_of_rows()
        other = _SolverRun(problem, rough, start)
        P = other.estimate(self.lam, result)
        if P is not None and is_rough:
            return P
        if P is not None:
            start_there = problem.coordinates.to_features(P) if len(P) else None
            other = _SolverRun(problem, rough, start_there)
        found, s = other.solve()
        return found.P / np.sqrt(s or 1.0)

    def estimate(self, lam: float, result: solvers.Result) -> Array | None:
        """Maximize a surrogate that agrees with the objective at the maximum for another weight.

        That weight is `lam`, in the solvers' units, with the maximum `result`. Return None without
        samples, or if the surrogate has no maximum.
        """
        settings, solver, P = self.settings, self.settings.method, result.P
        is_plain = settings.gamma is None and not solver.m_steps and solver.uses_samples
        samples = self.objective.samples(near=True) if is_plain else []
        if not samples or result.gradient is None:
            return None
        # The two objectives differ by a multiple of the trace.
        more = self.lam - lam
        value = result.value - more * float(np.vdot(P, P))
        gradient = result.gradient - more * np.eye(P.shape[1])
        surrogate = solvers.Surrogate.at(samples[0][1], P, value, gradient)
        try:
            found = solvers.low_rank(
                surrogate,
                self._start(1.0),
                max_iter=settings.max_iter,
                tol=settings.tol,
                max_rank=settings.n_components,
            )
        except solvers.RunAwayError:
            return None
        return found.P

    def _start(self, s: float) -> Array:
        """Make a factor to start from, at the scale `s`."""
        settings, solver, coordinates = (
            self.settings,
            self.settings.method,
            self.problem.coordinates,
        )
        if self.problem.is_flat:
            return np.zeros((0, self.objective.n_features))
        if self.given_start is not None:
            P = coordinates.from_features(self.given_start.astype(np.float64)) * np.sqrt(s)
            return solvers.compress(P)[: settings.n_components]
        if solver.first_factor is not None:
            return solver.first_factor(coordinates.n_features)
        return self.problem.first_factor(
            settings.n_components, narrow=solver.adapts_rank, eta=s * settings.eta
        )

    def _maximize(self, objective: Objective, P: Array, *, near: bool = False) -> solvers.Result:
        """Run the solver from the factor `P`; `near` says that it comes from an earlier fit."""
        settings = self.settings
        progress = Progress(settings.name, settings.max_iter) if settings.verbose else None

        def report(step: solvers.Step, P: Array) -> None:
            if self.forecast is not None:
                self.forecast(step)
            if progress is not None:
                progress(step)
            self.watch(objective, step, P)

        return settings.method(
            objective,
            P,
            max_iter=settings.max_iter,
            tol=settings.tol,
            callback=report,
            max_rank=settings.n_components,
            near=near,
        )
