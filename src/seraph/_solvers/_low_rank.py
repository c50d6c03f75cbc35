"""The low-rank solver: L-BFGS on a narrow factor, widened until the certificate holds."""

from __future__ import annotations

from itertools import count

import numpy as np

from .._typing import Array
from ._lbfgs import lbfgs
from ._psd import compress, optimality_gap, project_psd
from ._result import Callback, MatrixFunction, Result, Step

# Rows with less than this share of the longest row's squared length are dropped.
_NULL_ROW = 1e-8
# A metric whose trace falls below this share of the first one is compared with zero.
_ZERO_TRACE = 1e-4
# Slopes below this are rounding errors.
_LOWEST_SLOPE = 1e-13
# Largest number of rows added at a time.
_NEW_ROWS = 5

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
    """
    n_features = objective.n_features
    capped = max_rank is not None and max_rank < n_features
    max_rank = min(max_rank or n_features, n_features)
    shortest = _ZERO_TRACE * float(np.vdot(P, P))
    slope_tol = 0.5 * tol
    steps: list[Step] = []
    for n_rounds in count(1):
        P, slope = _ascend(objective, P, max_iter - len(steps), slope_tol, steps, callback)
        P = compress(P, _NULL_ROW)
        P, value, gradient = _drop_idle(objective, P, *objective.by_metric(P), tol)
        gap = optimality_gap(P, gradient, objective.scale)
        if len(P) and (gap > tol or float(np.vdot(P, P)) <= shortest):
            P, value, gradient = _zero_if_as_good(objective, P, value, gradient)
            gap = optimality_gap(P, gradient, objective.scale)
        # A round in which L-BFGS takes no step adds none to `steps`, so rounds are counted, too.
        if gap <= tol or len(steps) >= max_iter or n_rounds >= max_iter:
            break
        wider = _widen(objective, P, value, gradient, max_rank, tol)
        if wider is None and capped and len(P) == max_rank:
            return Result(P, value, gap, slope <= tol, steps)
        if wider is None:
            wider = _step_along_gradient(objective, P, value, gradient)
        if wider is not None:
            P = wider
        elif slope <= slope_tol and slope_tol > _LOWEST_SLOPE:
            # Short rows hide a gradient that the gap still shows: climb on.
            slope_tol *= 0.1
        else:
            break
    return Result(P, value, gap, gap <= tol, steps)


def _ascend(
    objective: MatrixFunction,
    P: Array,
    max_iter: int,
    slope_tol: float,
    steps: list[Step],
    callback: Callback,
) -> tuple[Array, float]:
    """Run L-BFGS from `P` until the slope is small; return where it ended, and the slope."""
    if P.size == 0 or max_iter <= 0:
        return P, 0.0 if P.size == 0 else np.inf
    last = P
    slope = np.inf
    base: _Value | None = None  # at the last iterate
    tried: _Value | None = None  # at the last point of the line search

    def negative(P: Array) -> tuple[float, Array]:
        nonlocal slope, base, tried
        value, gradient = objective.by_factor(P)
        slope = _slope(P, gradient, objective.scale)
        if base is not None:
            value = _against(base, P, value, gradient, objective.rounding)
        tried = P.copy(), value, gradient
        base = base or tried
        return -value, -gradient

    def is_done(P: Array, value: float) -> bool:
        nonlocal last, base
        base = tried
        moved = float(np.linalg.norm(P - last))
        last = P.copy()
        steps.append(Step(-value, len(P), moved, slope))
        callback(steps[-1], last)
        return slope <= slope_tol

    found = lbfgs(negative, P, max_iter=max_iter, is_done=is_done)
    return found.x, slope


def _against(base: _Value, P: Array, value: float, gradient: Array, rounding: float) -> float:
    """Return the value at `P`, from the gradients if its difference to `base` is rounding.

    Near a maximum, values differ by less than their rounding errors long before gradients do.
    The trapezoidal rule then gives the difference more precisely.
    """
    P_base, value_base, gradient_base = base
    if abs(value - value_base) > rounding * abs(value_base):
        return value
    return value_base + 0.5 * float(np.vdot(gradient + gradient_base, P - P_base))


def _slope(P: Array, gradient: Array, scale: float) -> float:
    """Relative size of the gradient by P, which bounds the part ``|<G, A>| / tr A`` of the gap."""
    length = float(np.linalg.norm(P))
    return float(np.linalg.norm(gradient)) / (2.0 * length * scale) if length > 0.0 else 0.0


def _drop_idle(
    objective: MatrixFunction, P: Array, value: float, gradient: Array, tol: float
) -> tuple[Array, float, Array]:
    """Drop the rows that the gradient shortens, if the objective does not fall.

    At a stationary metric the gradient along its rows is zero. A row with a clearly negative
    one is shrinking to nothing, and L-BFGS would take long to get there.
    """
    along = np.einsum("rm,rm->r", P @ gradient, P)
    idle = along < -10.0 * tol * objective.scale * np.einsum("rm,rm->r", P, P)
    if idle.any():
        value_without, gradient_without = objective.by_metric(P[~idle])
        if value_without >= value - objective.rounding * abs(value):
            return P[~idle], value_without, gradient_without
    return P, value, gradient


def _zero_if_as_good(
    objective: MatrixFunction, P: Array, value: float, gradient: Array
) -> tuple[Array, float, Array]:
    """Return the zero metric if the objective is no lower there.

    A factor that shrinks to zero never gets there: its gradient shrinks with it.
    """
    value_at_zero, gradient_at_zero = objective.by_metric(P[:0])
    if value_at_zero >= value - objective.rounding * abs(value):
        return P[:0], value_at_zero, gradient_at_zero
    return P, value, gradient


def _step_along_gradient(
    objective: MatrixFunction, P: Array, value: float, gradient: Array
) -> Array | None:
    """Take a projected gradient step on the metric, long enough to raise the objective.

    For a factor with a row for every feature, to which none can be added. If some rows are
    much shorter than others, its gradient is small although that of the metric is not.
    """
    A = P.T @ P
    step = (float(np.linalg.norm(A)) or 1.0) / (float(np.linalg.norm(gradient)) or 1.0)
    for _ in range(60):
        _, longer = project_psd(A + step * gradient)
        if objective.by_factor(longer)[0] > value + objective.rounding * abs(value):
            return longer
        step /= 2.0
    return None


def _widen(
    objective: MatrixFunction,
    P: Array,
    value: float,
    gradient: Array,
    max_rank: int,
    tol: float,
) -> Array | None:
    """Append the directions of steepest ascent, short enough to raise the objective."""
    room = min(_NEW_ROWS, max_rank - len(P))
    if room <= 0:
        return None
    values, vectors = np.linalg.eigh(gradient)
    rows = vectors[:, -room:][:, values[-room:] > 0.5 * tol * objective.scale].T
    if len(rows) == 0:
        return None
    length = np.sqrt(np.vdot(P, P) / len(P)) if len(P) else 1.0
    for _ in range(40):
        wider = np.vstack([P, length * rows])
        if objective.by_factor(wider)[0] > value - objective.rounding * abs(value):
            return wider
        length /= 2.0
    return None
