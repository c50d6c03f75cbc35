"""The memory of L-BFGS, for learners that take their own steps."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable

import numpy as np

from .._utils._typing import Array

_CORRECTIONS = 20


class Curvature:
    """What quasi-Newton steps have learned about the second derivative (L-BFGS).

    Where a step of L-BFGS is a few small arrays, `scipy.optimize` takes longer than the step.

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
        # Moves, how the slope changed along them, and the product of the two.
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=_CORRECTIONS)
        self.clear: Callable[[], None] = self.pairs.clear

    def learn(self, move: Array, change: Array) -> None:
        """Record that the slope fell by `change` along `move`."""
        product = float(np.vdot(move, change))
        length, rise = math.sqrt(np.vdot(move, move)), math.sqrt(np.vdot(change, change))
        if product > 1e-10 * length * rise > 0.0:
            self.pairs.append((move, change, product))

    def step(self, slope: Array, length: float) -> Array:
        """Compute the quasi-Newton step; one of the given length if nothing is known yet."""
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
        """Apply to all moves the change of rows that was applied to the factor."""
        turned = [(rows @ move, rows @ change) for move, change, _ in self.pairs]
        self.clear()
        for move, change in turned:
            self.learn(move, change)
