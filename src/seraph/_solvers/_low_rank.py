"""The low-rank solver: L-BFGS on a narrow factor, widened until the certificate holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np

from .._utils._typing import Array, computed_once
from ._lbfgs import lbfgs
from ._psd import compress, numerical_rank, optimality_gap, project_psd
from ._result import Callback, MatrixFunction, Result, Step

# Rows with less than this share of the longest row's squared length are dropped.
_NULL_ROW = 1e-8
# A metric whose trace falls below this share of the first one is compared with zero.
_ZERO_TRACE = 1e-4
# Slopes below this are rounding errors.
_LOWEST_SLOPE = 1e-13
# A factor may always grow by this many rows at a time, and a wide one to twice its width; but no
# row is added with less than _STEEP of the steepest slope.
_NEW_ROWS, _STEEP = 5, 0.1
# L-BFGS that is still far from its end after this many iterations may be short of rows. It then
# is if the gap is _WIDE times the slope.
_PATIENCE, _FAR, _WIDE = 60, 5.0, 2.0
# L-BFGS ends where this many iterations in a row gain nothing but rounding errors, and the
# solver where as many rounds do.
_IDLE_ITERATIONS = 15
# Multiple of a measured rounding error that is taken for the largest.
_SAFETY = 4.0

# A factor, with the value and the gradient there.
_Value = tuple[Array, float, Array]


def low_rank(
    objective: MatrixFunction,
    P: Array,
    *,
    max_iter: int,
    tol: float,
    callback: Callback,
    max_rank: int | None = None,
) -> Result:
    """Maximize over the factor ``P`` of ``A = P'P``, with as few rows as the maximum needs.

    A stationary P is a maximum over all metrics if no eigenvalue of the gradient by A is
    positive (Journee, Bach, Absil, Sepulchre 2010). If one is, the objective rises along its
    eigenvector, which becomes a new row of P. Null rows are dropped.

    Parameters
    ----------
    objective : MatrixFunction
        What to maximize.
    P : ndarray of shape (r, m)
        First factor.
    max_iter : int
        Largest number of L-BFGS iterations.
    tol : float
        `optimality_gap` at which to stop.
    callback : callable
        Called with each `Step` and the factor it reached.
    max_rank : int, optional
        Largest number of rows of P. If it is smaller than the number of features, a metric at
        this limit counts as converged when it is stationary, whatever the full gradient says.

    Returns
    -------
    Result
        `stalled` if rounding errors hide what is left to gain.
    """
    n_features = objective.n_features
    capped = max_rank is not None and max_rank < n_features
    max_rank = min(max_rank or n_features, n_features)
    values = _Values(objective, tol, _ZERO_TRACE * float(np.vdot(P, P)))
    slope_tol = 0.5 * tol
    steps: list[Step] = []
    n_idle, highest, lowest_gap = 0, -np.inf, np.inf

    def is_enough(here: _Certified, slope: float) -> bool:
        return here.gap <= tol or (capped and len(here.P) == max_rank and slope <= tol)

    for n_rounds in count(1):
        here, slope = _ascend(
            values, P, max_iter - len(steps), slope_tol, steps, callback, is_enough, max_rank
        )
        # A round in which L-BFGS takes no step adds none to `steps`, so rounds are counted, too.
        if here.gap <= tol or len(steps) >= max_iter or n_rounds >= max_iter:
            return here.result(steps, converged=here.gap <= tol)
        gains = here.value > highest + values.rounding * abs(here.value)
        gains = gains or here.gap < 0.7 * lowest_gap
        n_idle = 0 if gains else n_idle + 1
        if n_idle >= _IDLE_ITERATIONS:
            return here.result(steps, converged=False, stalled=True)
        highest, lowest_gap = max(highest, here.value), min(lowest_gap, here.gap)
        wider = _widen(values, here, max_rank, tol)
        if wider is None and capped and len(here.P) == max_rank:
            return here.result(steps, converged=slope <= tol)
        if wider is None:
            wider = _step_along_gradient(values, here)
        P = here.P if wider is None else wider
        if wider is None and slope <= slope_tol and slope_tol > _LOWEST_SLOPE:
            # Short rows hide a gradient that the gap still shows: climb on.
            slope_tol *= 0.1
        elif wider is None:
            of_value, of_gap = _rounding_errors(objective, here)
            if here.gap <= tol + of_gap or _SAFETY * of_value <= values.rounding:
                return here.result(steps, converged=False, stalled=True)
            values.rounding = _SAFETY * of_value  # larger than assumed: try again
    raise AssertionError("the loop above returns")  # pragma: no cover


class _Certified(NamedTuple):
    """A factor without idle rows, with the value, the gradient by the metric, and the gap."""

    P: Array
    value: float
    gradient: Array
    gap: float

    def result(self, steps: list[Step], *, converged: bool, stalled: bool = False) -> Result:
        """Return this as the end of the search."""
        return Result(
            self.P,
            self.value,
            self.gap,
            converged,
            steps,
            stalled=stalled,
            gradient=self.gradient,
        )


class _Values:
    """The objective, its rounding error as far as it is known, and the certificate.

    Parameters
    ----------
    objective : MatrixFunction
        What to maximize.
    tol : float
        `optimality_gap` at which to stop.
    shortest : float
        A metric with a smaller trace is compared with zero.
    """

    def __init__(self, objective: MatrixFunction, tol: float, shortest: float) -> None:
        self.objective = objective
        self.tol = tol
        self.shortest = shortest
        self.rounding = objective.rounding

    def is_as_good(self, value: float, other: float) -> bool:
        """Whether a value is no lower than another, but for rounding."""
        return value >= other - self.rounding * abs(other)

    @computed_once
    def _at_zero(self) -> _Certified:
        nothing = np.zeros((0, self.objective.n_features))
        return self._at(nothing, *self.objective.by_metric(nothing))

    def _at(self, P: Array, value: float, gradient: Array) -> _Certified:
        return _Certified(P, value, gradient, optimality_gap(P, gradient, self.objective.scale))

    def certified(self, P: Array) -> _Certified:
        """Drop the rows that are null or idle, and compute the certificate.

        The zero metric is returned if it is as good: a factor that shrinks to zero never gets
        there, because its gradient shrinks with it.
        """
        P = compress(P, _NULL_ROW)
        here = self._at(*self._without_idle(P, *self.objective.by_metric(P)))
        is_tiny = float(np.vdot(here.P, here.P)) <= self.shortest
        may_vanish = len(here.P) > 0 and (here.gap > self.tol or is_tiny)
        if may_vanish and self.is_as_good(self._at_zero.value, here.value):
            return self._at_zero
        return here

    def _without_idle(self, P: Array, value: float, gradient: Array) -> _Value:
        """Drop the rows that the gradient shortens, if the objective does not fall.

        At a stationary metric the gradient along its rows is zero. A row with a clearly negative
        one is shrinking to nothing, and L-BFGS would take long to get there.
        """
        along = np.einsum("rm,rm->r", P @ gradient, P)
        limit = -10.0 * self.tol * self.objective.scale
        idle = along < limit * np.einsum("rm,rm->r", P, P)
        if idle.any():
            value_without, gradient_without = self.objective.by_metric(P[~idle])
            if self.is_as_good(value_without, value):
                return P[~idle], value_without, gradient_without
        return P, value, gradient


def _ascend(
    values: _Values,
    P: Array,
    max_iter: int,
    slope_tol: float,
    steps: list[Step],
    callback: Callback,
    is_enough: Callable[[_Certified, float], bool],
    max_rank: int,
) -> tuple[_Certified, float]:
    """Run L-BFGS from `P` until the slope is small; return where it ended, and the slope.

    The certificate is tested as soon as the slope allows it to hold. If it does not hold, L-BFGS
    goes on until the slope is `slope_tol`. It is also tested now and then in a long run, which
    ends where more rows promise more.
    """
    if P.size == 0 or max_iter <= 0:
        return values.certified(P), 0.0 if P.size == 0 else np.inf
    objective, tol = values.objective, values.tol
    last = P
    slope = np.inf
    known_gap = 0.0  # of the last test that failed
    n_steps, n_idle, highest, lowest_slope = 0, 0, -np.inf, np.inf
    here: _Certified | None = None
    base: _Value | None = None  # at the last iterate
    tried: _Value | None = None  # at the last point of the line search

    def negative(P: Array) -> tuple[float, Array]:
        nonlocal slope, base, tried
        value, gradient = objective.by_factor(P)
        slope = relative_slope(P, gradient, objective.scale)
        if base is not None:
            value = _against(base, P, value, gradient, values.rounding)
        tried = P.copy(), value, gradient
        base = base or tried
        return -value, -gradient

    def is_done(P: Array, value: float) -> bool:
        nonlocal last, base, here, known_gap, n_idle, highest, lowest_slope, n_steps
        base = tried
        gains = -value > highest + values.rounding * abs(value) or slope < 0.7 * lowest_slope
        n_idle = 0 if gains else n_idle + 1
        if gains:
            highest, lowest_slope = max(highest, -value), min(lowest_slope, slope)
        moved = float(np.linalg.norm(P - last))
        last = P.copy()
        may_hold = slope <= (slope_tol if known_gap else max(tol, slope_tol))
        n_steps += 1
        is_long = n_steps % _PATIENCE == 0 and slope > _FAR * tol and len(P) < max_rank
        found = values.certified(last) if may_hold or is_long else None
        is_narrow = is_long and found is not None and found.gap > _WIDE * slope
        if found is not None and (slope <= slope_tol or is_enough(found, slope) or is_narrow):
            here = found
            steps.append(Step(here.value, len(here.P), moved, here.gap))
            callback(steps[-1], here.P)
            return True
        if found is not None and may_hold:
            known_gap = found.gap
        steps.append(Step(-value, numerical_rank(last), moved, max(slope, known_gap)))
        callback(steps[-1], last)
        return n_idle >= _IDLE_ITERATIONS

    found = lbfgs(negative, P, max_iter=max_iter, is_done=is_done)
    return here or values.certified(found.x), slope


def _against(base: _Value, P: Array, value: float, gradient: Array, rounding: float) -> float:
    """Return the value at `P`, from the gradients if its difference to `base` is rounding.

    Near a maximum, values differ by less than their rounding errors long before gradients do.
    The trapezoidal rule then gives the difference more precisely.
    """
    P_base, value_base, gradient_base = base
    if abs(value - value_base) > rounding * abs(value_base):
        return value
    return value_base + 0.5 * float(np.vdot(gradient + gradient_base, P - P_base))


def relative_slope(P: Array, gradient: Array, scale: float) -> float:
    """Compute the size of the gradient by P in the units of the gap.

    It bounds the part ``|<G, A>| / tr A`` of the gap.
    """
    length = float(np.linalg.norm(P))
    return float(np.linalg.norm(gradient)) / (2.0 * length * scale) if length > 0.0 else 0.0


def _step_along_gradient(values: _Values, here: _Certified) -> Array | None:
    """Take a projected gradient step on the metric, long enough to raise the objective.

    For a factor with a row for every feature, to which none can be added. If some rows are
    much shorter than others, its gradient is small although that of the metric is not.
    """
    A = here.P.T @ here.P
    step = (float(np.linalg.norm(A)) or 1.0) / (float(np.linalg.norm(here.gradient)) or 1.0)
    least_rise = values.rounding * abs(here.value)
    for _ in range(60):
        # The objective rises by about the step times the square of the gradient, at most.
        if step * float(np.vdot(here.gradient, here.gradient)) <= least_rise:
            break
        _, longer = project_psd(A + step * here.gradient)
        value = values.objective.by_factor(longer)[0]
        if value > here.value + least_rise:
            return longer
        step /= 2.0
    return None


def _widen(values: _Values, here: _Certified, max_rank: int, tol: float) -> Array | None:
    """Append the directions of steepest ascent, short enough to raise the objective."""
    P, objective = here.P, values.objective
    room = min(max(_NEW_ROWS, len(P)), max_rank - len(P))
    if room <= 0:
        return None
    slopes, vectors = np.linalg.eigh(here.gradient)
    least = max(0.5 * tol * objective.scale, _STEEP * float(slopes[-1]))
    rows = vectors[:, -room:][:, slopes[-room:] > least].T
    if len(rows) == 0:
        return None
    length = np.sqrt(np.vdot(P, P) / len(P)) if len(P) else 1.0
    for _ in range(40):
        wider = np.vstack([P, length * rows])
        if objective.by_factor(wider)[0] > here.value - values.rounding * abs(here.value):
            return wider
        length /= 2.0
    return None


def _rounding_errors(objective: MatrixFunction, here: _Certified) -> tuple[float, float]:
    """Measure the rounding errors of the value, relatively, and of the gap.

    Another factor of the same metric gives the same sums but for rounding.
    """
    if len(here.P) == 0:
        return 0.0, 0.0
    r = len(here.P)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(r + 1, r + 1)))[0]
    value, gradient = objective.by_metric(turn[:, :r] @ here.P)
    of_gap = float(np.linalg.norm(gradient - here.gradient, 2)) / objective.scale
    return abs(value - here.value) / (abs(here.value) or 1.0), of_gap
