"""The low-rank solver: L-BFGS on a narrow factor, widened until the certificate holds."""

from __future__ import annotations

from itertools import count

import numpy as np

from .._typing import Array
from ._lbfgs import lbfgs
from ._psd import compress, optimality_gap
from ._result import Callback, Objective, Result, Step

# Rows with less than this share of the longest row's squared length are dropped.
_NULL_ROW = 1e-8
# Largest number of rows added at a time.
_NEW_ROWS = 5

# A factor, with the value and the gradient there.
_Value = tuple[Array, float, Array]


def low_rank(
    objective: Objective,
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
    objective : Objective
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
        Largest number of rows of P. A metric at this limit counts as converged when it is
        stationary, whatever the full gradient says.

    Returns
    -------
    Result
    """
    max_rank = objective.n_features if max_rank is None else max_rank
    steps: list[Step] = []
    for n_rounds in count(1):
        P, flat = _ascend(objective, P, max_iter - len(steps), tol, steps, callback)
        P = compress(P, _NULL_ROW)
        P, value, gradient = _drop_idle(objective, P, *objective.by_metric(P), tol)
        gap = optimality_gap(P, gradient, objective.scale)
        # A round in which L-BFGS takes no step adds none to `steps`, so rounds are counted, too.
        if gap <= tol or len(steps) >= max_iter or n_rounds >= max_iter:
            break
        wider = _widen(objective, P, value, gradient, max_rank, tol)
        if wider is None:
            return Result(P, value, gap, flat and len(P) == max_rank, steps)
        P = wider
    return Result(P, value, gap, gap <= tol, steps)


def _ascend(
    objective: Objective,
    P: Array,
    max_iter: int,
    tol: float,
    steps: list[Step],
    callback: Callback,
) -> tuple[Array, bool]:
    """Run L-BFGS from `P`; also say whether the gradient is flat where it ended."""
    if P.size == 0 or max_iter <= 0:
        return P, P.size == 0
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
        return slope <= 0.5 * tol

    found = lbfgs(negative, P, max_iter=max_iter, is_done=is_done)
    return found.x, slope <= tol


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
    objective: Objective, P: Array, value: float, gradient: Array, tol: float
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


def _widen(
    objective: Objective,
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
