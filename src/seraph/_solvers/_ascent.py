"""One run of L-BFGS over a factor with a fixed number of rows, with the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._utils._typing import Array, computed_once
from ._psd import compress, numerical_rank, relative_slope
from ._quasi_newton import lbfgs
from ._result import Callback, CertifiedPoint, MatrixFunction, Step, StoppingRule

# Rows with less than this share of the longest row's squared length are dropped. If they were
# needed, the certificate, which is computed without them, fails, and rows are appended again.
NULL_ROW = 1e-8
# A row vanishes in the limit if the derivative along it is below this multiple of the tolerance,
# ten times what a stationary metric may have.
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


@dataclass
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

    def add(self, value: float, distance: float, rounding: float) -> None:
        """Count an iteration that reached a value with this relative rounding error."""
        gains = value > self.highest + rounding * abs(value) or distance < _LESS * self.lowest
        self.n_idle = 0 if gains else self.n_idle + 1
        if gains:
            self.highest, self.lowest = max(self.highest, value), min(self.lowest, distance)

    @property
    def is_over(self) -> bool:
        """Whether the search has stalled."""
        return self.n_idle >= _IDLE_ITERATIONS


class Evaluator:
    """The objective, an estimate of its rounding error, and the certificate.

    Parameters
    ----------
    objective : MatrixFunction
        What to maximize.
    rule : StoppingRule
        When to stop.
    least_trace : float
        A metric with a smaller trace is compared with zero.
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

    def certified(self, P: Array) -> CertifiedPoint:
        """Drop the rows that are negligible or vanish in the limit; compute the certificate.

        Returns the zero metric if it is as good: a factor converges to zero only in the limit,
        because its gradient shrinks with it.
        """
        here = self._without_idle(CertifiedPoint.at(self.objective, compress(P, NULL_ROW)))
        is_tiny = float(np.vdot(here.P, here.P)) <= self.least_trace
        may_vanish = len(here.P) > 0 and (here.gap > self.rule.tol or is_tiny)
        if may_vanish and self.is_as_good(self._at_zero.value, here.value):
            return self._at_zero
        return here

    def _without_idle(self, here: CertifiedPoint) -> CertifiedPoint:
        """Drop the rows that vanish in the limit, if the objective does not fall.

        At a stationary metric the derivative along each row is zero. A row with a clearly negative
        one converges to zero, for which L-BFGS would take many iterations.
        """
        idle = idle_rows(here, self.objective.scale, self.rule.tol)
        if idle.any():
            without = CertifiedPoint.at(self.objective, here.P[~idle])
            if self.is_as_good(without.value, here.value):
                return without
        return here


def idle_rows(here: CertifiedPoint, scale: float, tol: float) -> Array:
    """Say which rows of a factor vanish in the limit: the derivative along them is negative."""
    along = np.einsum("rm,rm->r", here.P @ here.gradient, here.P)
    limit = IDLE_ROW * tol * scale
    return along < limit * np.einsum("rm,rm->r", here.P, here.P)


class _Evaluation(NamedTuple):
    """A factor, with the value and the gradient by the factor there."""

    P: Array
    value: float
    gradient: Array


class Ascent:
    """One run of L-BFGS from a factor until the slope is small.

    The certificate is tested as soon as the slope is small enough for it to hold. If it fails,
    L-BFGS continues until the slope is `slope_tol`. In a long run it is tested repeatedly, and the
    run ends where the rank is too low.

    Parameters
    ----------
    values : Evaluator
        The objective.
    slope_tol : float
        `relative_slope` at which to stop.
    steps : list of Step
        Receives the iterations.
    callback : callable
        Called with each `Step` and the factor it reached.

    Attributes
    ----------
    slope : float
        `relative_slope` at the last point tried.
    base, tried : _Evaluation or None
        Evaluations at the last iterate and at the last point of the line search.
    n_steps : int
        Number of iterations.
    known_gap : float
        Gap of the last certificate that failed; 0 without one.
    progress : Progress
        Whether the iterations still make progress.
    end : CertifiedPoint or None
        The point at which the run ended.
    """

    def __init__(
        self, values: Evaluator, slope_tol: float, steps: list[Step], callback: Callback
    ) -> None:
        self.values, self.slope_tol = values, slope_tol
        self.steps, self.callback = steps, callback
        self.slope = np.inf
        self.base: _Evaluation | None = None
        self.tried: _Evaluation | None = None
        self.n_steps = 0
        self.known_gap = 0.0
        self.progress = Progress()
        self.end: CertifiedPoint | None = None

    def run(self, P: Array, max_iter: int) -> tuple[CertifiedPoint, float]:
        """Run L-BFGS from a factor; return the last point, and the slope there."""
        if P.size == 0:
            return self.values.certified(P), 0.0
        if max_iter > 0:
            self.last = P  # the last iterate
            P = lbfgs(self._negative, P, max_iter=max_iter, is_done=self._is_done).x
        return self.end or self.values.certified(P), self.slope

    def _negative(self, P: Array) -> tuple[float, Array]:
        """Evaluate the negative objective, for L-BFGS."""
        objective = self.values.objective
        value, gradient = objective.by_factor(P)
        self.slope = relative_slope(P, gradient, objective.scale)
        if self.base is not None:
            value = _refined(self.base, P, value, gradient, self.values.rounding)
        self.tried = _Evaluation(P.copy(), value, gradient)
        self.base = self.base or self.tried
        return -value, -gradient

    def _is_done(self, P: Array, loss: float) -> bool:
        """Record an iteration; return whether to stop."""
        rule, slope = self.values.rule, self.slope
        self.base = self.tried
        self.progress.add(-loss, slope, self.values.rounding)
        moved = float(np.linalg.norm(P - self.last))
        self.last = P.copy()
        self.n_steps += 1
        may_hold = slope <= (self.slope_tol if self.known_gap else max(rule.tol, self.slope_tol))
        is_long = self.n_steps % _PATIENCE == 0 and slope > _FAR * rule.tol
        is_long = is_long and len(P) < rule.max_rank
        if may_hold or is_long:
            found = self.values.certified(self.last)
            is_narrow = is_long and found.gap > _WIDE * slope
            if slope <= self.slope_tol or rule.is_met(found, slope) or is_narrow:
                self.end = found
                self._report(Step(found.value, len(found.P), moved, found.gap), found.P)
                return True
            if may_hold:
                self.known_gap = found.gap
        gap = max(slope, self.known_gap)
        self._report(Step(-loss, numerical_rank(self.last), moved, gap), self.last)
        return self.progress.is_over

    def _report(self, step: Step, P: Array) -> None:
        self.steps.append(step)
        self.callback(step, P)


def _refined(base: _Evaluation, P: Array, value: float, gradient: Array, rounding: float) -> float:
    """Return the value at `P`, from the gradients if its difference to `base` is rounding.

    Near a maximum, values differ by less than their rounding errors long before gradients do.
    The trapezoidal rule then gives the difference more precisely.
    """
    if abs(value - base.value) > rounding * abs(base.value):
        return value
    return base.value + 0.5 * float(np.vdot(gradient + base.gradient, P - base.P))
