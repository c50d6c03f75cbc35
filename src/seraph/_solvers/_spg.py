"""Spectral projected gradient (Birgin, Martinez, Raydan 2000) on the metric."""

from __future__ import annotations

from collections import deque

from .._utils._typing import AnyArray
from ._psd import dot, norm, optimality_gap, project_psd
from ._result import Callback, MatrixFunction, Result, Step

# Memory of the nonmonotone line search: a step is compared with the lowest of the last ten values.
# This and the next are the values of Birgin, Martinez and Raydan (2000).
_MEMORY = 10
# Constant of Armijo's condition.
_SUFFICIENT_RISE = 1e-4
# Bounds on the step, far from any useful one, whatever the units: they keep it from being zero or
# infinite.
_SHORTEST, _LONGEST = 1e-12, 1e12


def spg(
    objective: MatrixFunction,
    P: AnyArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callback,
) -> Result:
    """Maximize by ``A <- project(A + s G)`` with Barzilai-Borwein steps s.

    The line search is along the projection arc, so that every trial point has a factor whose rows
    are as many as its rank, and sums cost no more than that.
    """
    A = P.T @ P
    value, gradient = objective.value_and_gradient(P)
    gap = optimality_gap(P, gradient, objective.scale)
    best = value, P, gap
    recent = deque([value], maxlen=_MEMORY)
    step = 1.0 / (norm(gradient) or 1.0)
    steps: list[Step] = []
    while gap > tol and len(steps) < max_iter:
        A_next, P_next = project_psd(A + step * gradient)
        value_next, gradient_next = objective.value_and_gradient(P_next)
        move = A_next - A
        if value_next < min(recent) + _SUFFICIENT_RISE * dot(gradient, move):
            step /= 4.0
            if step < _SHORTEST:
                break
            continue
        taken, bend = step, dot(move, gradient - gradient_next)
        step = dot(move, move) / bend if bend > 0.0 else 4.0 * step
        step = min(max(step, _SHORTEST), _LONGEST)
        A, P, value, gradient = A_next, P_next, value_next, gradient_next
        recent.append(value)
        gap = optimality_gap(P, gradient, objective.scale)
        if value >= best[0] or gap <= tol:
            best = value, P, gap
        steps.append(Step(value, len(P), taken, gap))
        callback(steps[-1], P)
    value, P, gap = best
    return Result(P, value, gap, gap <= tol, steps)
