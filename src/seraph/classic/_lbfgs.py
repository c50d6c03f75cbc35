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
    is_done: Callable[[Array, float], bool],
    ftol: float = 0.0,
    n_corrections: int = _CORRECTIONS,
    nonnegative: bool = False,
) -> OptimizeResult:
    """Minimize `function` from `first` until `is_done` says so.

    The size of the gradient is not a stopping rule: `is_done` decides.

    Parameters
    ----------
    function : callable
        Takes an array of the shape of `first`; returns the value and the gradient, of the same
        shape.
    first : ndarray
        Where to start.
    max_iter : int
        Largest number of iterations.
    is_done : callable
        Called after each iteration with the point and the value; returns whether to stop.
    ftol : float, default=0.0
        Also stop where an iteration lowers the value by less than this, relatively.
    n_corrections : int, default=20
        Number of steps in the approximation of the inverse Hessian.
    nonnegative : bool, default=False
        Whether to keep every number at least 0.

    Returns
    -------
    OptimizeResult
        The result of scipy; its `x` has the shape of `first`.

    Examples
    --------
    >>> import numpy as np
    >>> result = lbfgs(lambda P: (np.sum((P - 3.0) ** 2), 2.0 * (P - 3.0)), np.zeros((2, 1)),
    ...               max_iter=100, is_done=lambda P, value: value < 1e-6)
    >>> result.x.round(2).tolist()
    [[3.0], [3.0]]
    """
    shape = first.shape

    def flat(x: Array) -> tuple[float, Array]:
        value, gradient = function(x.reshape(shape))
        slope = gradient.ravel()
        # scipy divides by the squared norm of the gradient; where that underflows, return zero.
        return value, slope if np.vdot(slope, slope) > 0.0 else np.zeros_like(slope)

    def after_iteration(intermediate_result: OptimizeResult) -> None:
        if is_done(intermediate_result.x.reshape(shape), float(intermediate_result.fun)):
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
