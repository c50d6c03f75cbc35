"""One run of L-BFGS over a factor with a fixed number of rows, with the certificate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from .._utils._typing import Array, computed_once
from ._psd import compress, relative_slope
from ._quasi_newton import lbfgs
from ._result import Callback, CertifiedPoint, MatrixFunction, Step, StoppingRule

# Rows with less than this share of the longest row's squared length are dropped. If they were
# needed, the certificate, which is computed without them, fails, and rows are appended again.
NULL_ROW = 1e-8
# A row vanishes in the limit if the derivative along it is below this multiple of the tolerance,
# ten times the bound for a stationary metric.
IDLE_ROW = -10.0
# If the slope is above _FAR times the tolerance after _PATIENCE iterations, the gap is computed.
# If it is above _WIDE times the slope, the rank is too low, and the run ends. This takes a third
# of the iterations of converging at each rank first (benchmarks/high_rank.py).
_PATIENCE, _FAR, _WIDE = 60, 5.0, 2.0
# A search has stalled after this number of consecutive iterations (or rounds) without progress
# beyond rounding errors. Near a maximum L-BFGS may need several before the next progress.
_IDLE_ITERATIONS = 15
# A gap or slope below this share of the lowest so far is progress, whatever the value does.
_LESS = 0.7


@dataclass(frozen=True)
class Progress:
    """Counts consecutive iterations without progress beyond rounding errors.

    Parameters
    ----------
    highest : float
        Value of the last iteration with progress.
    lowest : float
        Lowest slope or gap of the iterations with progress.
    n_idle : int
        Number of iterations since the last progress.
    """

    highest: float = -np.inf
    lowest: float = np.inf
    n_idle: int = 0

    def add(self, value: float, distance: float, rounding: float) -> Progress:
        """Count an iteration that reached a value with this relative rounding error."""
        if value > self.highest + rounding * abs(value) or distance < _LESS * self.lowest:
            return Progress(max(self.highest, value), min(self.lowest, distance))
        return replace(self, n_idle=self.n_idle + 1)

    @property
    def is_over(self) -> bool:
        """Whether the search has stalled."""
        return self.n_idle >= _IDLE_ITERATIONS


class Evaluator:
    """The objective, an estimate of its rounding error, and the certificate.

    A metric with a trace below `least_trace` is compared with zero.
    """

    def __init__(self, objective: MatrixFunction, rule: StoppingRule, least_trace: float) -> None:
        self.objective = objective
        self.rule = rule
        self.least_trace = least_trace
        self.rounding = objective.rounding

    def is_as_good(self, value: float, other: float) -> bool:
        """Whether a value is at least another, up to rounding errors."""
        return value >= other - self.rounding * abs(other)

    @computed_once
    def _at_zero(self) -> CertifiedPoint:
        return CertifiedPoint.at(self.objective, np.zeros((0, self.objective.n_features)))

    def evaluate(self, P: Array, base: Evaluation | None = None) -> Evaluation:
        """Evaluate the objective; take its difference to `base` from gradients if it is rounding.

        Near a maximum, values differ by less than their rounding errors long before gradients do.
        The trapezoidal rule then gives the difference more precisely.
        """
        value, gradient = self.objective.by_factor(P)
        slope = relative_slope(P, gradient, self.objective.scale)
        if base is not None and abs(value - base.value) <= self.rounding * abs(base.value):
            value = base.value + 0.5 * float(np.vdot(gradient + base.gradient, P - base.P))
        return Evaluation(P.copy(), value, gradient, slope)

    def certify(self, P: Array) -> CertifiedPoint:
        """Drop the rows that are negligible or vanish in the limit; compute the certificate.

        Returns the zero metric if it is as good: a factor converges to zero only in the limit,
        because its gradient shrinks with it.
        """
        here = self._drop_idle(CertifiedPoint.at(self.objective, compress(P, NULL_ROW)))
        is_tiny = float(np.vdot(here.P, here.P)) <= self.least_trace
        may_vanish = len(here.P) > 0 and (here.gap > self.rule.tol or is_tiny)
        if may_vanish and self.is_as_good(self._at_zero.value, here.value):
            return self._at_zero
        return here

    def _drop_idle(self, here: CertifiedPoint) -> CertifiedPoint:
        """Drop the rows that vanish in the limit, if the objective does not fall.

        At a stationary metric the derivative along each row is zero. A row with a clearly negative
        one converges to zero, for which L-BFGS would take many iterations.
        """
        idle = find_idle_rows(here, self.objective.scale, self.rule.tol)
        if idle.any():
            without = CertifiedPoint.at(self.objective, here.P[~idle])
            if self.is_as_good(without.value, here.value):
                return without
        return here


def find_idle_rows(here: CertifiedPoint, scale: float, tol: float) -> Array:
    """Say which rows of a factor vanish in the limit: the derivative along them is negative."""
    along = np.einsum("rm,rm->r", here.P @ here.gradient, here.P)
    limit = IDLE_ROW * tol * scale
    return along < limit * np.einsum("rm,rm->r", here.P, here.P)


class Evaluation(NamedTuple):
    """A factor, with the value, the gradient by the factor and the `relative_slope` there."""

    P: Array
    value: float
    gradient: Array
    slope: float


@dataclass(frozen=True)
class AscentState:
    """The state of a run of L-BFGS after an iteration.

    Parameters
    ----------
    here : Evaluation
        The last iterate.
    n_steps : int
        Number of iterations.
    known_gap : float
        Gap of the last certificate that failed; 0 without one.
    progress : Progress
        Whether the iterations still make progress.
    end : CertifiedPoint or None
        Where the run ends.
    """

    here: Evaluation
    n_steps: int = 0
    known_gap: float = 0.0
    progress: Progress = field(default_factory=Progress)
    end: CertifiedPoint | None = None


def ascend(
    evaluator: Evaluator, P: Array, *, slope_tol: float, max_iter: int, report: Callback
) -> tuple[CertifiedPoint, float]:
    """Run L-BFGS from a factor until the `relative_slope` is `slope_tol`.

    Call `report` after each iteration. Return the last point, and the slope at the last one tried.
    """
    if P.size == 0 or max_iter <= 0:
        return evaluator.certify(P), np.inf if P.size else 0.0
    tried = first = evaluator.evaluate(P)
    state = AscentState(first)

    def negative(P: Array) -> tuple[float, Array]:
        nonlocal tried
        is_first = state.n_steps == 0 and np.array_equal(P, first.P)
        tried = first if is_first else evaluator.evaluate(P, state.here)
        return -tried.value, -tried.gradient

    def is_done(*_: object) -> bool:
        nonlocal state
        state, step = advance(state, tried, evaluator, slope_tol)
        report(step, state.here.P if state.end is None else state.end.P)
        return state.end is not None or state.progress.is_over

    last = lbfgs(negative, P, max_iter=max_iter, is_done=is_done).x
    return state.end or evaluator.certify(last), tried.slope


def advance(
    state: AscentState, there: Evaluation, evaluator: Evaluator, slope_tol: float
) -> tuple[AscentState, Step]:
    """Return the state after an iteration that reached `there`, and its description.

    The certificate is tested as soon as the slope is small enough for it to hold. If it fails,
    L-BFGS continues until the slope is `slope_tol`. In a long run it is tested repeatedly, and the
    run ends where the rank is too low.
    """
    rule, slope = evaluator.rule, there.slope
    moved = float(np.linalg.norm(there.P - state.here.P))
    progress = state.progress.add(there.value, slope, evaluator.rounding)
    state = replace(state, here=there, n_steps=state.n_steps + 1, progress=progress)
    may_hold = slope <= (slope_tol if state.known_gap else max(rule.tol, slope_tol))
    is_long = state.n_steps % _PATIENCE == 0 and slope > _FAR * rule.tol
    is_long = is_long and len(there.P) < rule.max_rank
    if may_hold or is_long:
        found = evaluator.certify(there.P)
        is_narrow = is_long and found.gap > _WIDE * slope
        if slope <= slope_tol or rule.is_met(found, slope) or is_narrow:
            step = Step(found.value, len(found.P), moved, found.gap)
            return replace(state, end=found), step
        if may_hold:
            state = replace(state, known_gap=found.gap)
    gap = max(slope, state.known_gap)
    return state, Step(there.value, len(compress(there.P)), moved, gap)
