"""Positive definite matrices: powers, ridges, priors, and minima of their LogDet divergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._solvers import Curvature, backtrack
from .._utils._eigen import eigh, eigvalsh
from .._utils._typing import Array

# Eigenvalues below this share of the largest are zero up to rounding: the error of `eigh` is of
# the order of m eps times the largest, 2e-13 for m = 1000.
ZERO = 1e-12
# A gap above this, computed as a difference of sums near 1, has about 10 correct digits.
_LARGE_GAP = 1e-5
# Length of the first step, as a multiple of half the gradient; at most that of the factor. Any
# order of magnitude will do: the line search shortens the step.
_FIRST_STEP = 0.3
_SHORTEST_SHARE = 1e-9  # shortest share of a step that the line search tries


def power(A: Array, exponent: float) -> Array:
    """Return a power of a positive definite matrix."""
    values, vectors = eigh(A)
    result: Array = (vectors * np.maximum(values, np.finfo(float).tiny) ** exponent) @ vectors.T
    return 0.5 * (result + result.T)


def with_ridge(scatter: Array, ridge: float, what: str, name: str = "ridge") -> Array:
    """Add `ridge` times the mean variance to the diagonal of a scatter matrix.

    If the sum is singular, the error names `what` was summed, and the parameter `name` that
    sets the ridge.
    """
    m = len(scatter)
    result = scatter + ridge * np.trace(scatter) / m * np.eye(m)
    values = eigvalsh(result)
    if not values[-1] > 0.0:
        raise ValueError(
            f"The {what} do not differ in any feature: there is no scatter to learn from. Add "
            "labels or pairs of points that differ."
        )
    if values[0] <= ZERO * values[-1]:
        singular = int(np.sum(values <= ZERO * values[-1]))
        raise ValueError(
            f"The {what} do not differ in {singular} of {m} directions, so their scatter has no "
            f"inverse: set a larger {name} (0.5, for example), or drop features that do not vary "
            "or repeat others."
        )
    return result


def logdet_gap(H: Array) -> float:
    """Compute the LogDet divergence ``D(A, B)`` from ``H = L' B^-1 L - 1``, for ``A = L L'``.

    H is symmetric except for rounding errors. Infinity if B is not positive definite.
    """
    if not np.isfinite(H).all():  # beyond the range of numbers
        return np.inf
    H = 0.5 * (H + H.T)
    try:
        root = np.linalg.cholesky(H + np.eye(len(H)))
    except np.linalg.LinAlgError:
        return np.inf
    gap = float(np.trace(H) - 2.0 * np.log(np.diag(root)).sum())
    if gap > _LARGE_GAP:
        return gap
    values = eigvalsh(H)  # slower, but a small gap keeps its digits
    return float(np.sum(values - np.log1p(values))) if values[0] > -1.0 else np.inf


def minimize_factor(
    value_and_half: Callable[[Array], tuple[float, Array]], first: Array, max_iter: int, tol: float
) -> tuple[Array, float, float, int]:
    """Minimize ``f(L L') - ln det(L L')`` by L-BFGS on a square factor L.

    `value_and_half` takes L and returns f, and half its derivative with respect to L. The search
    stops where the divergence that bounds the distance from the minimum (`logdet_gap`) is at most
    `tol` times ``max(1, objective)``. Returns the factor, the objective, its relative gap and the
    number of iterations.
    """

    def negative(L: Array) -> tuple[float, Array]:
        """Return minus the objective, and half the derivative of f."""
        sign, logdet = np.linalg.slogdet(L)
        if not sign:
            return -np.inf, L
        value, half = value_and_half(L)
        return 2.0 * float(logdet) - value, half

    # For A = L L' and the derivative G of f by A, `half` is G L, and half the derivative of the
    # objective by L is G L - L^-T, the `slope`. At the minimum G = A^-1; elsewhere the gap is
    # D(A, G^-1), and L' G L - 1 the matrix that `logdet_gap` takes.
    def find_step(L: Array, value: float, slope: Array) -> tuple[Array, float, Array] | None:
        """Return a step that lowers the objective, its value there, and f's half derivative."""
        longest = min(_FIRST_STEP * float(np.linalg.norm(slope)), float(np.linalg.norm(L)))
        move = curvature.step(-slope, longest)
        promise = -2.0 * float(np.vdot(move, slope))
        step = backtrack(negative, L, move, -value, promise, shortest=_SHORTEST_SHARE)
        if step is not None:
            share, rise, half = step
            return share * move, -rise, half
        if not curvature.places:
            return None  # only rounding errors are left to gain
        curvature.clear()  # the curvature was measured far away, and may mislead here
        return find_step(L, value, slope)

    L, n_iter, curvature = first, 0, Curvature()
    rise, half = negative(L)
    value, move, slope = -rise, np.zeros_like(L), np.zeros_like(L)
    while (gap := logdet_gap(L.T @ half - np.eye(len(L)))) > tol * max(1.0, value):
        if n_iter == max_iter:
            break
        last, slope = slope, half - np.linalg.inv(L).T
        if n_iter:
            curvature.learn(move, slope - last)
        step = find_step(L, value, slope)
        if step is None:
            break
        move, value, half = step
        L, n_iter = L + move, n_iter + 1
    return L, value, gap / max(1.0, value), n_iter


def prior_root(Z: Array, prior: str) -> Array:
    """Return R such that ``R R'`` is the prior metric of the centered points `Z`.

    The identity; or the inverse covariance, where directions in which the points do not vary are
    given the mean variance.
    """
    m = Z.shape[1]
    if prior == "identity" or not Z.any():
        return np.eye(m)
    scale = Z.std(axis=0, ddof=1)
    varies = scale > 0.0
    scale[~varies] = np.sqrt(np.mean(scale[varies] ** 2))
    values, vectors = eigh((Z / scale).T @ (Z / scale) / (len(Z) - 1))
    values[values <= ZERO * values[-1]] = 1.0
    root: Array = (vectors / np.sqrt(values)) @ vectors.T / scale[:, np.newaxis]
    return root
