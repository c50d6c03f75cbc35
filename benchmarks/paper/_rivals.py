"""LDM and MFDA, two rivals of table 2, from class labels alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from sklearn.neighbors import NearestNeighbors

from seraph._marks import PairLabels
from seraph._points import principal_directions, subtract_mean
from seraph._utils._typing import Array
from seraph.classic._learner import ClassicLearner

_MAX_ITER, _TOL = 500, 1e-4  # of LDM
_RIDGE = 1e-3  # of a neighborhood's Gram matrix, as a share of its trace, as in scikit-learn
_ZERO = 1e-12  # smaller eigenvalues, as shares of the largest, are rounding


class LDM(ClassicLearner):
    """Local distance metric learning (Yang, Jin, Sukthankar and Liu, AAAI 2006).

    The metric ``sum_k gamma_k v_k v_k'`` weighs the principal components of all points. The
    weights maximize `likelihood`: a point should have some of its own kind close by, not all.
    """

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        left, lengths, axes = principal_directions(subtract_mean(points))
        unit = float(np.sqrt(2.0 * (lengths**2).sum() / len(points)))
        rows = labels.rows_by_class
        Z, codes = (left * (lengths / unit))[rows], labels.codes[rows]
        squares = (Z[:, np.newaxis] - Z) ** 2
        gap = np.inf  # how much a change of one weight can still give to first order, per point

        def negative(gamma: Array) -> tuple[float, Array]:
            nonlocal gap
            value, slope = likelihood(squares, codes, gamma)
            reach = np.maximum(gamma * np.abs(slope), max(1.0, gamma.max()) * slope)
            gap = float(reach.max()) / len(rows)
            return -value / len(rows), -slope / len(rows)

        def stop(intermediate_result: Any) -> None:
            if gap <= _TOL:
                raise StopIteration

        result = minimize(
            negative,
            np.ones(len(axes)),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * len(axes),
            callback=stop,
            options={"maxiter": _MAX_ITER, "maxcor": 20, "gtol": 0.0, "ftol": 0.0},
        )
        used = result.x > 0.0
        P = np.sqrt(result.x[used])[:, np.newaxis] * axes[used] / unit
        return P, {"converged_": gap <= _TOL}


def likelihood(squares: Array, codes: Array, gamma: Array) -> tuple[float, Array]:
    """Sum ``ln M_S(x) / (M_S(x) + M_D(x))`` over the points; return also the gradient by gamma.

    M_S sums ``exp(-gamma . (x - x')^2)`` over the points x' of x's class, M_D over the others;
    points without either are left out. `squares` has the ``(x - x')^2`` of each coordinate.
    """
    kernel = -(squares @ gamma)
    same = codes[:, np.newaxis] == codes
    alike, apart = np.where(same, kernel, -np.inf), np.where(same, -np.inf, kernel)
    np.fill_diagonal(alike, -np.inf)
    counts = np.isfinite(alike).any(axis=1) & np.isfinite(apart).any(axis=1)
    alike, apart = alike[counts], apart[counts]
    log_alike, log_apart = logsumexp(alike, axis=1), logsumexp(apart, axis=1)
    # With h = M_D / (M_S + M_D), the derivative by gamma_k is h times the mean of (x - x')_k^2
    # over the others less that over the class, weighted by the kernel.
    hard = expit(log_apart - log_alike)[:, np.newaxis]
    weights = np.exp(apart - log_apart[:, np.newaxis]) - np.exp(alike - log_alike[:, np.newaxis])
    gradient = np.einsum("ij,ijk->k", hard * weights, squares[counts])
    return -float(np.logaddexp(0.0, log_apart - log_alike).sum()), gradient


class MFDA(ClassicLearner):
    """Manifold Fisher discriminant analysis (Baghshah and Shouraki, IJCAI 2009).

    The W of orthonormal columns that maximizes ``tr(W' S_b W) / tr(W' (S_w + alpha X' E X) W)``:
    dissimilar pairs move apart and similar ones together, along directions in which every point
    remains the same mean of its neighbors. Half of the dimensions are ours.
    """

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        left, lengths, basis = principal_directions(subtract_mean(points))
        Z, alpha = left * lengths, 0.02 if points.shape[1] <= 5 else 0.2
        rows = labels.rows_by_class
        X, same = Z[rows], labels.codes[rows, np.newaxis] == labels.codes[rows]
        apart, together = (_scatter(X, chosen) for chosen in (~same, same))
        rest = Z - reconstruct(Z, min(10, len(Z) - 1))
        together += alpha * rest.T @ rest
        values, vectors = np.linalg.eigh(apart + together)
        kept = vectors[:, values > _ZERO * values[-1]]
        W = trace_ratio(kept.T @ apart @ kept, kept.T @ together @ kept, (kept.shape[1] + 1) // 2)
        return W.T @ kept.T @ basis, {}


def _scatter(X: Array, chosen: Array) -> Array:
    """Sum ``(x_i - x_j)(x_i - x_j)'`` over the chosen pairs: ``X' (diag(c 1) - c) X``."""
    scatter: Array = X.T @ (chosen.sum(axis=1)[:, np.newaxis] * X) - X.T @ chosen @ X
    return scatter


def reconstruct(X: Array, k: int) -> Array:
    """Write each point as a mean of its k neighbors, as locally linear embedding does."""
    neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    offsets = X[neighbors] - X[:, np.newaxis]
    gram = offsets @ offsets.transpose(0, 2, 1)
    trace = np.einsum("ijj->i", gram)[:, np.newaxis, np.newaxis]
    trace[trace == 0.0] = 1.0  # a point that coincides with them: their plain mean
    weights = np.linalg.solve(gram + _RIDGE * trace * np.eye(k), np.ones((len(X), k, 1)))
    weights /= weights.sum(axis=1, keepdims=True)
    mean: Array = (weights * X[neighbors]).sum(axis=1)
    return mean


def trace_ratio(numerator: Array, denominator: Array, d: int) -> Array:
    """Maximize ``tr(W' numerator W) / tr(W' denominator W)`` over W of d orthonormal columns."""
    # phi(rho) = max_W tr W' (numerator - rho denominator) W is convex, falls, and is 0 at the best
    # ratio. Its slope is -tr W' denominator W, so Newton's step leads to the ratio of that W.
    ratio = last = np.trace(numerator) / np.trace(denominator)
    for _ in range(100):  # about ten are enough
        W = np.linalg.eigh(numerator - ratio * denominator)[1][:, ::-1][:, :d]
        ratio = max(last, np.trace(W.T @ numerator @ W) / np.trace(W.T @ denominator @ W))
        if ratio - last <= 1e-10 * ratio:
            break
        last = ratio
    return W
