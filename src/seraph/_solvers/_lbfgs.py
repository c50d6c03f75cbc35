"""Parts of L-BFGS over arrays of any shape, where they are: curvature and line search.

scipy's L-BFGS-B takes 0.1 s for an iteration with a factor of 100 x 768, moves arrays to the CPU,
and forgets the curvature when the factor changes its shape.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .._pairs import library, like
from .._utils._typing import AnyArray
from ._psd import dots, norm, to_host

# Number of steps that are kept. Nocedal and Wright (2006), section 7.2, recommend 3 to 20; memory
# does not matter for a factor, and more steps need fewer sums over pairs.
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
        # Steps, and the decrease of the gradient along each. A new one replaces the oldest.
        self._moves: Any = None
        self._changes: Any = None
        # Inner products of steps with changes, and of changes with each other.
        self._mixed, self._squares = np.zeros((2, CORRECTIONS, CORRECTIONS))
        self.places: list[int] = []  # the places of the steps, the oldest first

    def clear(self) -> None:
        """Forget all steps."""
        self.places = []

    def learn(self, move: AnyArray, change: AnyArray) -> None:
        """Record that the gradient fell by `change` along the step `move`."""
        product, length, other = dots((move, change), (move, move), (change, change))
        if not product > _LEAST_COSINE * length**0.5 * other**0.5 > 0.0:
            return
        if not self.places:
            self._moves, self._changes = (
                library(a).stack(CORRECTIONS * [0.0 * a.reshape(-1)]) for a in (move, change)
            )
        is_full = len(self.places) == CORRECTIONS
        k = self.places.pop(0) if is_full else len(self.places)
        self.places.append(k)
        S, Y, y = self._moves, self._changes, change.reshape(-1)
        S[k], Y[k] = move.reshape(-1), y
        products = to_host(library(y).stack([S @ y, Y @ S[k], Y @ y]))
        self._mixed[:, k], self._mixed[k], self._squares[k] = products
        self._squares[:, k] = self._squares[k]

    def step(self, slope: AnyArray, length: float) -> AnyArray:
        """Return the quasi-Newton step; the first is along the gradient and of this length.

        The two loops of L-BFGS run over inner products, so that a GPU waits once, not for each.
        """
        if not self.places:
            return slope * (length / norm(slope))
        # With steps s_k, changes y_k and the gradient g (Nocedal and Wright 2006, algorithm 7.4):
        #     q = g              newest to oldest:  a_k = s_k'q / s_k'y_k,  q = q - a_k y_k
        #     r = (s'y / y'y) q  oldest to newest:  b_k = y_k'r / s_k'y_k,  r += (a_k - b_k) s_k
        # where the factor is that of the newest step, and r is the step. Since q = g - sum a_l y_l
        # and r = factor q + sum w_l s_l, all s_k'q and y_k'r follow from the products that
        # `learn` keeps and from those with g: shares are the a_k, weights the a_k - b_k.
        g, S, Y = slope.reshape(-1), self._moves, self._changes
        by_move, by_change = to_host(library(g).stack([S @ g, Y @ g]))
        products = np.diag(self._mixed)
        shares, weights = np.zeros((2, CORRECTIONS))
        for k in reversed(self.places):
            shares[k] = (by_move[k] - self._mixed[k] @ shares) / products[k]
        last = self.places[-1]
        factor = products[last] / self._squares[last, last]
        by_change = factor * (by_change - self._squares @ shares)
        for k in self.places:
            weights[k] = shares[k] - (by_change[k] + weights @ self._mixed[:, k]) / products[k]
        step = factor * g + like(weights, g) @ S - like(factor * shares, g) @ Y
        return step.reshape(slope.shape)

    def turn(self, rows: AnyArray) -> None:
        """Multiply all steps from the left by the matrix that the factor was multiplied by."""
        shape = rows.shape[1], -1
        steps = [
            (rows @ self._moves[k].reshape(shape), rows @ self._changes[k].reshape(shape))
            for k in self.places
        ]
        self.places = []
        for move, change in steps:
            self.learn(move, change)


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

    `function` takes an array, and returns the value there and another result for the caller. From
    `start`, where the value is `value` and the derivative along the whole step `move` is
    `promise`, shares of at least `shortest` are tried; with a `least_cut` of 0.5 they are halved.
    Returns the share, the value there and the other result; None if no share is good enough.

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
