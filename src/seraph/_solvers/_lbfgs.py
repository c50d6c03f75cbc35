"""Parts of L-BFGS over arrays of any shape, where they are: curvature and line search.

scipy's L-BFGS-B takes 0.1 s for an iteration with a factor of 100 x 768, moves arrays to the CPU,
and forgets the curvature when the factor changes its shape.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from ._psd import AnyArray, dot, inner, norm

# Number of steps that are kept. Nocedal and Wright (2006), section 7.2, recommend 3 to 20; memory
# is no concern for a factor, and more steps need fewer sums over pairs.
CORRECTIONS = 20
# A step is kept only if the cosine of it and the change of the gradient is above this: otherwise
# rounding errors could make the approximation indefinite.
_LEAST_COSINE = 1e-10
# Constant of Armijo's condition, as Nocedal and Wright (2006), section 3.1, recommend.
_SUFFICIENT_RISE = 1e-4

Trial = TypeVar("Trial")


class Curvature:
    """The limited-memory approximation of the inverse Hessian in L-BFGS.

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
        self.pairs: deque[tuple[AnyArray, AnyArray, Any]] = deque(maxlen=CORRECTIONS)
        self.clear: Callable[[], None] = self.pairs.clear

    def learn(self, move: AnyArray, change: AnyArray) -> None:
        """Record that the gradient fell by `change` along the step `move`."""
        if dot(move, change) > _LEAST_COSINE * norm(move) * norm(change) > 0.0:
            self.pairs.append((move, change, inner(move, change)))

    def step(self, slope: AnyArray, length: float) -> AnyArray:
        """Return the quasi-Newton step; the first is along the gradient and of this length."""
        if not self.pairs:
            return slope * (length / norm(slope))
        step, shares = 1.0 * slope, []
        for move, change, product in reversed(self.pairs):
            share = inner(move, step) / product
            step -= share * change
            shares.append(share)
        _, change, product = self.pairs[-1]
        step *= product / inner(change, change)
        for (move, change, product), share in zip(self.pairs, reversed(shares), strict=True):
            step += (share - inner(change, step) / product) * move
        return step

    def turn(self, rows: AnyArray) -> None:
        """Multiply all steps from the left by the matrix that the factor was multiplied by."""
        turned = [(rows @ move, rows @ change) for move, change, _ in self.pairs]
        products = [float(inner(move, change)) for move, change in turned]
        self.clear()
        for (move, change), product in zip(turned, products, strict=True):
            if product > 0.0:
                self.pairs.append((move, change, product))


def backtrack(
    function: Callable[[AnyArray], tuple[float, Trial]],
    start: AnyArray,
    move: AnyArray,
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
    start, move : array
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
        cut = -0.5 * share * promise / bend if math.isfinite(bend) and bend else least_cut
        share *= min(0.5, max(least_cut, cut))
    return None
