"""The scale of the full model: a one-dimensional search around any of the solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from .._utils._typing import AnyArray
from ._result import Result, Solve, Step

# Step of the search in ln s: it doubles the scale. `around_best` finds maxima between the steps.
_STRIDE = 0.7
# Range of the search: six decades around 1, the scale of the simplified model (7). A search that
# ends at a bound has not converged.
SCALES = _LOWEST, _HIGHEST = 1e-6, 1e6


def over_scale(
    model: Any,
    solve: Solve,
    start: Callable[[float], AnyArray],
    *,
    tol: float,
) -> tuple[Result, float]:
    """Maximize over the matrix and the scale together.

    ``g(s) = max_B L(B, s)`` has the derivative of L by s at the best B (the envelope theorem).
    The search moves uphill from ``s = 1`` until the derivative changes sign, then finds its root
    in the bracket. Each matrix starts from the one of the nearest scale. If the best matrix at
    ``s = 1`` is zero, the derivative may be negative although a better maximum is at a larger
    scale, so the search first tries larger ones.

    `solve` maximizes over the matrix from a given factor, and `start` returns one for a scale;
    `tol` is the relative error of the scale. Returns the matrix at the best scale, with the value
    minus the prior and all iterations; and the scale, 0 if no other is better.
    """
    search = _ScaleSearch(model, solve, start)
    zero = model.value_at_zero(start(1.0))
    x = search.look_outwards(bound=-zero)
    behind, x = search.climb(x)
    if search.slope(behind) * search.slope(x) < 0.0:
        x = search.nearest(brentq(search.slope, behind, x, xtol=max(tol, 1e-12)))
    elif search.best != x and search.seen[search.best].value > zero:
        x = search.around_best(tol)  # a maximum between two steps
    best, value = search.seen[x].result, search.seen[x].value
    if value <= zero:
        return Result(best.P[:0], zero, 0.0, True, search.steps), 0.0
    settled = best.converged and _LOWEST < np.exp(x) < _HIGHEST
    return Result(best.P, value, best.gap, settled, search.steps), float(np.exp(x))


class _Trial(NamedTuple):
    """The best matrix at a scale, the value minus the prior, and its slope in ``ln s``."""

    result: Result
    value: float
    slope: float


@dataclass
class _ScaleSearch:
    """The scales tried so far, by their logarithms."""

    model: Any
    solve: Solve
    start: Callable[[float], AnyArray]
    seen: dict[float, _Trial] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def nearest(self, x: float) -> float:
        """Return the tried scale nearest to a given one."""
        return min(self.seen, key=lambda other: abs(other - x))

    def slope(self, x: float) -> float:
        """Compute the slope at a scale, starting from the nearest solution."""
        near = self.nearest(x)
        if near == x:
            return self.seen[x].slope
        # The threshold grows with s: let the squared distances grow in proportion.
        return self._try(x, self.seen[near].result.P * np.exp(0.5 * (x - near)))

    def look_outwards(self, bound: float) -> float:
        """Find the first scale from 1 up with a metric or a positive slope; 1 if there is none.

        No pair term is positive, so zero is better once the prior exceeds `bound`.
        """
        x = 0.0
        self._try(x, self.start(1.0))
        while len(self.seen[x].result.P) == 0 and self.seen[x].slope <= 0.0:
            x += _STRIDE
            if x > np.log(_HIGHEST) or self.model.prior(float(np.exp(x))) > bound:
                return 0.0
            self._try(x, self.start(float(np.exp(x))))
        return x

    def climb(self, x: float) -> tuple[float, float]:
        """Move uphill; return the bracket, two scales between which the slope changes sign."""
        stride = _STRIDE if self.seen[x].slope > 0.0 else -_STRIDE
        behind = x
        while self.slope(x) * stride > 0.0 and np.log(_LOWEST) < x < np.log(_HIGHEST):
            behind, x = x, x + stride
        return behind, x

    @property
    def best(self) -> float:
        """The best scale tried."""
        return max(self.seen, key=lambda x: self.seen[x].value)

    def around_best(self, tol: float) -> float:
        """Find the best scale within a step of the best one tried."""

        def loss(z: float) -> float:
            self.slope(float(z))
            return -self.seen[float(z)].value

        bounds = (self.best - _STRIDE, self.best + _STRIDE)
        minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": tol})
        return self.best

    def _try(self, x: float, P: AnyArray) -> float:
        s = float(np.exp(x))
        result = self.solve(self.model.at_scale(s), P)
        self.steps += result.steps
        slope = self.model.slope(s, result.P)
        self.seen[x] = _Trial(result, result.value - self.model.prior(s), slope)
        return slope
