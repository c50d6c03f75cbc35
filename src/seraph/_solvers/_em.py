"""The EM-like scheme: concave M-steps; the E-step is recomputed in the sums, not stored."""

from __future__ import annotations

from collections.abc import Callable

from .._utils._typing import AnyArray
from ._psd import norm
from ._result import MatrixFunction, Result, Solve, Step


def em(
    m_step_objective: Callable[[AnyArray | None], MatrixFunction],
    solve: Solve,
    P: AnyArray,
    *,
    max_iter: int,
    tol: float,
) -> Result:
    """Alternate E-steps (10) and M-steps (11), from ``q(-1) = 1``.

    `m_step_objective` takes the factor of the last metric (None at the start) and returns the
    objective of the M-step, which includes the E-step; `solve` maximizes it from a factor, at
    first `P`. At most `max_iter` M-steps are made, until the relative change of the metric is at
    most `tol`, in the Frobenius norm.

    The result is the one of the last M-step, with the iterations of all. It has converged if the
    last M-step has, and if the metric no longer changes.
    """
    steps: list[Step] = []
    q_from: AnyArray | None = None
    settled = False
    for _ in range(max_iter):
        result = solve(m_step_objective(q_from), P)
        steps += result.steps
        A, A_next = P.T @ P, result.P.T @ result.P
        change = norm(A_next - A)
        settled = q_from is not None and change <= tol * norm(A_next)
        P = q_from = result.P
        if settled:
            break
    return Result(result.P, result.value, result.gap, result.converged and settled, steps)
