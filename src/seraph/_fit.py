"""One run of a solver on a problem: its start, the user's callback, and its result."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _solvers as solvers
from ._marks import PairLabels
from ._objective import FullModel, Objective, Problem, to_solver
from ._points import Frame, to_memory
from ._utils._public import publish
from ._utils._threads import one_blas_thread
from ._utils._typing import Array

# Rank of the first factor of a solver that adapts it: one row for each labeled point, but at most
# this multiple of the effective rank of the points, and within these limits. This affects the time
# of a fit, not its maximum.
_PER_EFFECTIVE, _LEAST_RANK, _MOST_RANK = 3, 20, 100
# The result of a solver, and the scale of the full model.
Solution = tuple[solvers.Result, float]
_OVERFLOW = (
    "The fit left the range of floating-point numbers: mu, lam, eta, gamma or manifold is too "
    "large for these points. Lower it, or scale the features."
)


@dataclass(frozen=True)
class FitState:
    """The state of a fit after an iteration, passed to the ``callback``.

    Parameters
    ----------
    iteration : int
        Number of the iteration, from 1 on, counted over all M-steps and all scales of the
        full model.
    objective : float
        Value of the objective, as in ``history_``.
    gap : float or None
        The solver's estimate of the distance to the maximum, in the units of
        ``optimality_gap_``. It falls to ``tol`` only where the fit stops. None for
        "projected-gradient", which has no estimate.
    elapsed : float
        Seconds since the solver started.
    components : ndarray of shape (rank, n_features)
        A factor P of the current metric ``P'P``; its rows are orthogonal, longest first.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import SERAPH
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> y = np.where(np.arange(30) < 9, X[:, 0] > 0, -1)
    >>> states = []
    >>> learner = SERAPH(callback=states.append).fit(X, y)
    >>> states[0].iteration, len(states) == learner.n_iter_
    (1, True)
    """

    iteration: int
    objective: float
    gap: float | None
    elapsed: float
    components: Array

    @property
    def rank(self) -> int:
        """Rank of the metric."""
        return len(self.components)


class _Stopped(Exception):
    """The callback has ended the fit, with this result and scale of the full model."""

    def __init__(self, result: solvers.Result, s: float) -> None:
        super().__init__(f"stopped after {len(result.steps)} iterations")
        self.result, self.s = result, s


def maximize(
    learner: Any, problem: Problem, labels: PairLabels, start: Array | None = None
) -> Solution:
    """Solve the problem of a SERAPH whose parameters are checked.

    `start` is a factor of a metric to start from. Returns the best metric times the scale
    ``s = -kappa``, by the solvers' coordinates; and the scale, 1 in the simplified model.
    """
    with _within_range():
        try:
            result, s = _Run(learner, problem, labels, start).solve()
        except _Stopped as stopped:
            result, s = stopped.result, stopped.s
    if not np.isfinite(result.value):
        raise ValueError(_OVERFLOW)
    return result, s


def to_components(frame: Frame, result: solvers.Result, s: float, dtype: np.dtype[Any]) -> Array:
    """Return the factor of the metric on the user's features, in the type `dtype`."""
    P = frame.to_features(to_memory(result.P) / np.sqrt(s or 1.0))
    components: Array = P.astype(dtype)
    if not np.isfinite(components).all():
        raise ValueError(
            f"The learned metric has components beyond the range of {dtype}. Scale the "
            "features, or pass X in float64."
        )
    return components


class _Run:
    """One run of a solver: its start, and the user's callback."""

    def __init__(
        self, learner: Any, problem: Problem, labels: PairLabels, start: Array | None
    ) -> None:
        self.learner, self.problem, self.start = learner, problem, start
        self.n_labeled = int(np.count_nonzero(labels.is_labeled))
        self.solver = solvers.SOLVERS[learner.solver]
        self.started = time.perf_counter()
        self.steps: list[solvers.Step] = []
        # The simplified model (7) is the full one at s = 1 without a prior.
        self.model = FullModel(problem.objective, float(learner.gamma or 0.0))

    def solve(self) -> Solution:
        learner, tol = self.learner, self.learner.tol
        if learner.gamma is not None:
            return solvers.over_scale(self.model, self._maximize, self._first, tol=tol)
        objective, P = self.model.simplified, self._first(1.0)
        if not self.solver.m_steps:
            return self._maximize(objective, P), 1.0
        n_steps = int(min(self.solver.m_steps, learner.max_iter))
        step = objective.m_step
        return solvers.em(step, self._maximize, P, max_iter=n_steps, tol=tol), 1.0

    def _first(self, s: float) -> Any:
        """Return a factor to start from, at the scale `s`."""
        frame, cap = self.problem.frame, self.learner.n_components
        m = len(frame.covariance)
        if not frame.covariance.any():  # all points are equal
            P = np.zeros((0, m))
        elif self.start is not None:
            P = frame.from_features(self.start.astype(np.float64)) * np.sqrt(s)
            P = solvers.compress(P)[:cap]
        elif self.solver.first_factor is not None:
            P = self.solver.first_factor(m)
        else:
            rank = m if cap is None else min(m, cap)
            if cap is None and self.solver.adapts_rank:
                largest = frame.principal_axes[0][-1]
                enough = int(_PER_EFFECTIVE * np.trace(frame.covariance) / largest)
                rank = min(m, max(_LEAST_RANK, min(_MOST_RANK, self.n_labeled, enough)))
            P = frame.start(s * self.learner.eta, rank)
        return to_solver(P, self.problem.like)

    def _maximize(self, objective: Objective, P: Any) -> solvers.Result:
        options = {"max_rank": self.learner.n_components} if self.solver.adapts_rank else {}
        return self.solver.maximize(
            objective,
            P,
            max_iter=self.learner.max_iter,
            tol=self.learner.tol,
            callback=lambda step, P: self._report(objective, step, P),
            **options,
        )

    def _report(self, objective: Objective, step: solvers.Step, P: Any) -> None:
        """Print a line, and call the user's callback."""
        self.steps.append(step)
        elapsed = time.perf_counter() - self.started
        if self.learner.verbose:
            estimate = "" if step.gap is None else f"  gap {step.gap:.1e}"
            print(
                f"[{type(self.learner).__name__}] {len(self.steps)}/{self.learner.max_iter}  "
                f"objective {step.objective:.6g}  rank {step.rank}{estimate}  {elapsed:.1f} s",
                flush=True,
            )
        if self.learner.callback is None:
            return
        s = self.model.simplified.scale / objective.scale
        P = solvers.compress(P)
        components = self.problem.frame.to_features(to_memory(P) / np.sqrt(s))
        state = FitState(len(self.steps), step.objective, step.gap, elapsed, components)
        try:
            self.learner.callback(state)
        except StopIteration:
            value, gradient = objective.value_and_gradient(P)
            gap = solvers.optimality_gap(P, gradient, objective.scale)
            value -= self.model.prior(s)
            result = solvers.Result(P, value, gap, False, self.steps, stopped=True)
            raise _Stopped(result, s) from None


@contextmanager
def _within_range() -> Iterator[None]:
    """Limit the threads of BLAS; turn overflow into an error in words."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"), one_blas_thread():
        try:
            yield
        except np.linalg.LinAlgError as error:  # the matrix overflowed
            raise ValueError(_OVERFLOW) from error


publish(globals(), "seraph", ["FitState"])
