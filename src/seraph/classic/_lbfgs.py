"""L-BFGS by scipy over arrays of any shape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from .._utils._typing import Array

# Number of steps that are kept. Nocedal and Wright (2006), section 7.2, recommend 3 to 20.
_CORRECTIONS = 20
# Limit on the mean number of evaluations per iteration; scipy's line search has a limit of 20.
_MOST_TRIALS = 20


def lbfgs(
    function: Callable[[Array], tuple[float, Array]],
    first: Array,
    *,
    max_iter: int,
    is_done: Callable[[Array], bool] = lambda x: False,
    ftol: float = 0.0,
    n_corrections: int = _CORRECTIONS,
    nonnegative: bool = False,
) -> OptimizeResult:
    """Minimize `function`, which returns a value and a gradient of the shape of `first`.

    `is_done` is called with the point after each iteration, and decides whether to stop; the size
    of the gradient does not. With `ftol`, an iteration that lowers the value by less than this
    share ends the search, too. The result is scipy's; its `x` has the shape of `first`.
    """
    shape = first.shape

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = function(x.reshape(shape))
        slope = gradient.ravel()
        # scipy divides by the squared norm of the gradient; where that underflows, return zero.
        return value, slope if np.vdot(slope, slope) > 0.0 else np.zeros_like(slope)

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        if is_done(intermediate_result.x.reshape(shape)):
            raise StopIteration

    # Close to the minimum the squares of steps may underflow: scipy divides by them, for an
    # inverse Hessian that is not used here.
    with np.errstate(over="ignore", divide="ignore"):
        result = minimize(
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
    result.x = result.x.reshape(shape)
    return result
