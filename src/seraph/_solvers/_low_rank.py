"""The low-rank solver: L-BFGS on a factor of few rows, more until the certificate holds."""

from __future__ import annotations

from itertools import count

import numpy as np

from .._utils._eigen import eigh
from .._utils._typing import Array
from ._ascent import Evaluator, Progress, ascend
from ._psd import project_psd
from ._result import Callback, CertifiedPoint, MatrixFunction, Result, Step, StoppingRule, ignore

# A metric whose trace falls below this share of the first one is compared with the zero metric.
# The better of the two is kept. This saves iterations where the zero metric is the maximum.
_ZERO_TRACE = 1e-4
# Slopes below this, a few hundred times the machine epsilon, are rounding errors.
_LOWEST_SLOPE = 1e-13
# At most this number of rows is added at a time, or as many as P has, if more. Only eigenvectors
# whose eigenvalue is at least _STEEP of the largest become rows. benchmarks/high_rank.py measures
# the time that this saves if the maximum has a high rank; the certificate does not depend on it.
_NEW_ROWS, _STEEP = 5, 0.1
# A measured rounding error times this is taken as a bound on all of them.
_SAFETY = 4.0
# Halvings of a projected gradient step, and of the length of new rows (80 of its square): beyond
# them the change is below the last of the 53 binary digits of the metric.
_MAX_HALVINGS, _MAX_HALVINGS_OF_ROWS = 60, 40


def low_rank(
    objective: MatrixFunction,
    P: Array,
    *,
    max_iter: int,
    tol: float,
    callback: Callback = ignore,
    max_rank: int | None = None,
) -> Result:
    """Maximize over the factor ``P`` of ``A = P'P``, with as few rows as the maximum needs.

    A stationary P is a maximum over all metrics if no eigenvalue of the gradient by A is
    positive (Journee, Bach, Absil, Sepulchre 2010). If one is, the objective rises along its
    eigenvector, which becomes a new row of P. Negligible rows are dropped.

    P has at most `max_rank` rows. If these are fewer than the features, a metric at this limit
    counts as converged when it is stationary, whatever the full gradient says. The result has
    `stalled` if rounding errors prevent further progress.
    """
    rule = StoppingRule.of(objective, tol, max_rank)
    evaluator = Evaluator(objective, rule, _ZERO_TRACE * float(np.vdot(P, P)))
    slope_tol = 0.5 * tol
    steps: list[Step] = []
    progress = Progress()

    def report(step: Step, P: Array) -> None:
        steps.append(step)
        callback(step, P)

    for n_rounds in count(1):
        left = max_iter - len(steps)
        here, slope = ascend(evaluator, P, slope_tol=slope_tol, max_iter=left, report=report)
        # A round in which L-BFGS takes no step adds none to `steps`, so rounds are counted, too.
        if here.gap <= tol or len(steps) >= max_iter or n_rounds >= max_iter:
            return here.result(steps, converged=here.gap <= tol)
        progress = progress.add(here.value, here.gap, evaluator.rounding)
        if progress.is_over:
            return here.result(steps, converged=False, stalled=True)
        wider = _widen(evaluator, here)
        if wider is None and rule.is_at_cap(here.P):
            return here.result(steps, converged=slope <= tol)
        if wider is None:
            wider = _step_along_gradient(evaluator, here)
        P = here.P if wider is None else wider
        if wider is None and slope <= slope_tol and slope_tol > _LOWEST_SLOPE:
            # Short rows have a small gradient by P although that by A is large: continue.
            slope_tol *= 0.1
        elif wider is None:
            of_value, of_gap = _measure_rounding(objective, here)
            if here.gap <= tol + of_gap or _SAFETY * of_value <= evaluator.rounding:
                return here.result(steps, converged=False, stalled=True)
            evaluator.rounding = _SAFETY * of_value  # larger than assumed: try again
    raise AssertionError("the loop above returns")  # pragma: no cover


def _step_along_gradient(evaluator: Evaluator, here: CertifiedPoint) -> Array | None:
    """Take a projected gradient step on the metric that raises the objective.

    For a factor with a row for every feature, to which none can be added. If some rows are
    much shorter than others, its gradient is small although the metric's is not.
    """
    A = here.P.T @ here.P
    step = (float(np.linalg.norm(A)) or 1.0) / (float(np.linalg.norm(here.gradient)) or 1.0)
    least_rise = evaluator.rounding * abs(here.value)
    for _ in range(_MAX_HALVINGS):
        # The objective rises by about the step times the square of the gradient, at most.
        if step * float(np.vdot(here.gradient, here.gradient)) <= least_rise:
            break
        _, longer = project_psd(A + step * here.gradient)
        value = evaluator.objective.by_factor(longer)[0]
        if value > here.value + least_rise:
            return longer
        step /= 2.0
    return None


def _widen(evaluator: Evaluator, here: CertifiedPoint) -> Array | None:
    """Append the directions of steepest ascent, scaled so that the objective rises."""
    P, objective, rule = here.P, evaluator.objective, evaluator.rule
    room = min(max(_NEW_ROWS, len(P)), rule.max_rank - len(P))
    if room <= 0:
        return None
    slopes, vectors = eigh(here.gradient)
    least = max(0.5 * rule.tol * objective.scale, _STEEP * float(slopes[-1]))
    rows = vectors[:, -room:][:, slopes[-room:] > least].T
    if len(rows) == 0:
        return None
    length = np.sqrt(np.vdot(P, P) / len(P)) if len(P) else 1.0
    for _ in range(_MAX_HALVINGS_OF_ROWS):
        wider = np.vstack([P, length * rows])
        if objective.by_factor(wider)[0] > here.value - evaluator.rounding * abs(here.value):
            return wider
        length /= 2.0
    return None


def _measure_rounding(objective: MatrixFunction, here: CertifiedPoint) -> tuple[float, float]:
    """Measure the rounding errors of the value, relatively, and of the gap.

    Another factor of the same metric gives the same sums up to rounding errors.
    """
    if len(here.P) == 0:
        return 0.0, 0.0
    r = len(here.P)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(r + 1, r + 1)))[0]
    value, gradient = objective.by_metric(turn[:, :r] @ here.P)
    of_gap = float(np.linalg.norm(gradient - here.gradient, 2)) / objective.scale
    return abs(value - here.value) / (abs(here.value) or 1.0), of_gap
