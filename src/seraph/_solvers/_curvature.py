"""The inverse Hessian approximation of L-BFGS, for solvers with a line search of their own."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from .._utils._typing import Array

# Number of steps that are kept. Nocedal and Wright (2006), section 7.2, recommend 3 to 20; memory
# is no concern for a factor, and more steps need fewer sums over pairs.
CORRECTIONS = 20
# A step is kept only if the cosine of it and the change of the gradient is above this: otherwise
# rounding errors could make the approximation indefinite.
_LEAST_COSINE = 1e-10


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
