"""The backtracking line search of the quasi-Newton methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .._utils._typing import Array

# Constant of Armijo's condition, as Nocedal and Wright (2006), section 3.1, recommend.
_SUFFICIENT_RISE = 1e-4

Trial = TypeVar("Trial")


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
        Takes an array; returns the value there, and whatever else the caller needs to know of it.
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
        The share, the value there and the rest of what `function` returned; None if no share is
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
