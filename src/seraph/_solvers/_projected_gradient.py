"""Projected gradient with the paper's step rule, to reproduce its figures."""

from __future__ import annotations

import numpy as np

from .._utils._typing import AnyArray, Array
from ._psd import norm, optimality_gap, project_psd
from ._result import Callback, MatrixFunction, Result, Step

_MAX_HALVINGS = 20  # of a step: to a millionth of it


def first_factor(m: int) -> Array:
    """Return a factor of the paper's first metric of `m` features, ``m / (m + 1) I``."""
    return np.sqrt(m / (m + 1.0)) * np.eye(m)


def projected_gradient(
    objective: MatrixFunction,
    P: AnyArray,
    *,
    max_iter: int,
    tol: float,
    callback: Callback,
) -> Result:
    """Maximize by ``A <- project(A + s G)``, ``s = 0.1 m / (||G|| sqrt(k))`` at iteration k.

    The step is halved, at most 20 times, until the objective rises. Stops when A changes by
    less than `tol` in the Frobenius norm, or when no halving helps.
    """
    m = objective.n_features
    A = P.T @ P
    value, gradient = objective.value_and_gradient(P)
    steps: list[Step] = []
    converged = False
    for k in range(1, max_iter + 1):
        size = norm(gradient)
        step = 0.1 * m / (size * np.sqrt(k)) if size > 0.0 else 0.0
        for _ in range(_MAX_HALVINGS + 1):
            A_next, P_next = project_psd(A + step * gradient)
            value_next, gradient_next = objective.value_and_gradient(P_next)
            if value_next >= value:
                break
            step /= 2.0
        else:  # no step along the gradient helps
            converged = True
            break
        change = norm(A_next - A)
        A, P, value, gradient = A_next, P_next, value_next, gradient_next
        steps.append(Step(value, len(P), step))
        callback(steps[-1], P)
        if change < tol:
            converged = True
            break
    return Result(P, value, optimality_gap(P, gradient, objective.scale), converged, steps)
