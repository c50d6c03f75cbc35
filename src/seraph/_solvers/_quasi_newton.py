"""Quasi-Newton methods over arrays of any shape: L-BFGS by scipy, and its parts.

The parts, the approximation of the inverse Hessian and a line search, are for solvers whose steps
are too short for the overhead of `scipy.optimize`, or that change the shape of their factor.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from .._utils._typing import Array

# Number of steps that are kept. Nocedal and Wright (2006), section 7.2, recommend 3 to 20; memory
# is no concern for a factor, and more steps need fewer sums over pairs.
CORRECTIONS = 20
# A step is kept only if the cosine of it and the change of the gradient is above this: otherwise
# rounding errors could make the approximation indefinite.
_LEAST_COSINE = 1e-10
# Limit on the mean number of evaluations per iteration; scipy's line search has a limit of 20.
_MOST_TRIALS = 20
# Constant of Armijo's condition, as Nocedal and Wright (2006), section 3.1, recommend.
_SUFFICIENT_RISE = 1e-4

Trial = TypeVar("Trial")


def lbfgs(
    function: Callable[[Array], tuple[float, Array]],
    first: Array,
    *,
    max_iter: int,
    is_done: Callable[[Array, float], bool],
    ftol: float = 0.0,
    n_corrections: int = CORRECTIONS,
    nonnegative: bool = False,
) -> OptimizeResult:
    """Minimize `function` from `first` until `is_done` says so.

    The size of the gradient is not a stopping rule: `is_done` decides.

    Parameters
    ----------
    function : callable
        Takes an array of the shape of `first`; returns the value and the gradient, of the same
        shape.
    first : ndarray
        Where to start.
    max_iter : int
        Largest number of iterations.
    is_done : callable
        Called after each iteration with the point and the value; returns whether to stop.
    ftol : float, default=0.0
        Also stop where an iteration lowers the value by less than this, relatively.
    n_corrections : int, default=20
        Number of steps in the approximation of the inverse Hessian.
    nonnegative : bool, default=False
        Whether to keep every number at least 0.

    Returns
    -------
    OptimizeResult
        The result of scipy; its `x` has the shape of `first`.

    Examples
    --------
    >>> import numpy as np
    >>> found = lbfgs(lambda P: (np.sum((P - 3.0) ** 2), 2.0 * (P - 3.0)), np.zeros((2, 1)),
    ...               max_iter=100, is_done=lambda P, value: value < 1e-6)
    >>> found.x.round(2).tolist()
    [[3.0], [3.0]]
    """
    shape = first.shape

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = function(x.reshape(shape))
        slope = gradient.ravel()
        # scipy divides by the squared norm of the gradient; where that underflows, return zero.
        return value, slope if np.vdot(slope, slope) > 0.0 else np.zeros_like(slope)

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        if is_done(intermediate_result.x.reshape(shape), float(intermediate_result.fun)):
            raise StopIteration

    # Close to the minimum the squares of steps may underflow: scipy divides by them, for an
    # inverse Hessian that is not used here.
    with np.errstate(over="ignore", divide="ignore"):
        found = minimize(
            flat,
            first.ravel(),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * first.size if nonnegative else None,
            callback=after_iteration,
            options={
                "maxiter": max_iter,
                "maxfun": _MOST_TRIALS * max_iter,
                "maxcor": n_corrections,
                "gtol": 0.0,
                "ftol": ftol,
            },
        )
    found.x = found.x.reshape(shape)
    return found


class Curvature:
    """The limited-memory approximation of the inverse Hessian in L-BFGS.

    For small arrays, where a call of `scipy.optimize` takes longer than the step itself; and for
    factors that are rotated, narrowed or widened between steps (`turn`).

    Examples
    --------
    >>> import numpy as np
    >>> curvature = Curvature()
    >>> curvature.step(np.array([3.0, 4.0]), length=10.0).round(3).tolist()  # nothing known yet
    [6.0, 8.0]
    >>> curvature.learn(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    >>> curvature.step(np.array([3.0, 4.0]), length=10.0).round(3).tolist()
    [1.5, 2.0]
    """

    def __init__(self) -> None:
        # Steps, the decrease of the gradient along them, and the inner product of the two.
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=CORRECTIONS)
        self.clear: Callable[[], None] = self.pairs.clear

    def learn(self, move: Array, change: Array) -> None:
        """Record that the gradient fell by `change` along the step `move`."""
        product = float(np.vdot(move, change))
        length, rise = math.sqrt(np.vdot(move, move)), math.sqrt(np.vdot(change, change))
        if product > _LEAST_COSINE * length * rise > 0.0:
            self.pairs.append((move, change, product))

    def step(self, slope: Array, length: float) -> Array:
        """Compute the quasi-Newton step; the first is along the gradient and of this length."""
        if not self.pairs:
            return slope * (length / float(np.linalg.norm(slope)))
        step, shares = slope.copy(), []
        for move, change, product in reversed(self.pairs):
            share = float(np.vdot(move, step)) / product
            step -= share * change
            shares.append(share)
        _, change, product = self.pairs[-1]
        step *= product / float(np.vdot(change, change))
        for (move, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            step += (share - float(np.vdot(change, step)) / product) * move
        return step

    def turn(self, rows: Array) -> None:
        """Multiply all steps from the left by the matrix that the factor was multiplied by."""
        turned = [(rows @ move, rows @ change) for move, change, _ in self.pairs]
        self.clear()
        for move, change in turned:
            self.learn(move, change)


def backtrack(
    function: Callable[[Array], tuple[float, Trial]],
    start: Array,
    move: Array,
    value: float,
    promise: float,
    *,
    shortest: float,
    least_cut: float = 0.1,
) -> tuple[float, float, Trial] | None:
    """Shorten a step until a function increases enough along it (Armijo's condition).

    After a failed trial the next share maximizes the quadratic interpolant of both values and the
    slope at the start, but it is between `least_cut` and half of the last share.

    Parameters
    ----------
    function : callable
        Takes an array; returns the value there, and any other result for the caller.
    start, move : ndarray
        Where to start, and the whole step.
    value : float
        Value at the start.
    promise : float
        Derivative along the whole step, at the start.
    shortest : float
        Smallest share to try.
    least_cut : float, default=0.1
        Smallest factor between two shares; 0.5 halves them, without interpolation.

    Returns
    -------
    tuple or None
        The share, the value there and the other result of `function`; None if no share is
        good enough.

    Examples
    --------
    >>> import numpy as np
    >>> def function(x):
    ...     return 1.0 - float(np.sum((x - 1.0) ** 2)), "trial"
    >>> backtrack(function, np.zeros(1), np.array([4.0]), 0.0, promise=8.0, shortest=1e-6)
    (0.25, 1.0, 'trial')
    """
    share = 1.0
    while share >= shortest:
        there, trial = function(start + share * move)
        if there >= value + _SUFFICIENT_RISE * share * promise:
            return share, there, trial
        bend = there - value - share * promise
        share *= min(0.5, max(least_cut, -0.5 * share * promise / bend))  # `least_cut` for NaN
    return None
