"""GDM by gradient steps and alternating projections, as in its paper."""

import time

import numpy as np


def plain_gdm(X, y, tol=1e-3, max_iter=100, max_projections=10000, seconds=np.inf):
    """Return the metric and the number of steps of the algorithm of Xing et al. (2002), figure 1.

    As in the authors' code, the step grows by 5% if the objective rises; if it falls, the step
    is halved and taken from the last good metric. Stop where the step is below `tol`, relatively.
    """
    deadline = time.perf_counter() + seconds
    i, j = np.triu_indices(len(X), 1)
    differences, similar = X[i] - X[j], y[i] == y[j]
    alike, apart = differences[similar], differences[~similar]
    M = alike.T @ alike
    normal = M / np.linalg.norm(M)

    def value_and_gradient(A):
        distances = np.sqrt(np.maximum(np.einsum("ki,ki->k", apart @ A, apart), 1e-300))
        weights = np.where(distances > 1e-10 * distances.max(), 0.5 / distances, 0.0)
        return distances.sum(), (apart * weights[:, np.newaxis]).T @ apart

    A = np.eye(X.shape[1]) / np.trace(M)
    best, gradient = value_and_gradient(A)
    good, step = A, 0.1 * np.linalg.norm(A)
    iteration = 0
    while iteration < max_iter:
        iteration += 1
        uphill = gradient - np.vdot(gradient, normal) * normal
        A = good + step * uphill / np.linalg.norm(uphill)
        for _ in range(max_projections):
            excess = np.vdot(A, M) - 1.0
            if excess > 0.0:
                A = A - excess / np.linalg.norm(M) * normal
            values, vectors = np.linalg.eigh(A)
            A = (vectors * np.maximum(values, 0.0)) @ vectors.T
            if np.vdot(A, M) <= 1.01 or time.perf_counter() > deadline:
                break
        A = A / max(1.0, np.vdot(A, M))  # what the projections did not remove
        value, slope = value_and_gradient(A)
        if value > best:
            good, best, gradient = A, value, slope
            step *= 1.05
        else:
            step /= 2.0
        if step <= tol * np.linalg.norm(good) or time.perf_counter() > deadline:
            break
    return good, iteration


def gdm_objective(A, X, y):
    """Sum the distances of dissimilar pairs, scaled so that the squared similar ones sum to 1."""
    i, j = np.triu_indices(len(X), 1)
    differences, similar = X[i] - X[j], y[i] == y[j]
    squared = np.maximum(np.einsum("ki,ki->k", differences @ A, differences), 0.0)
    return np.sqrt(squared[~similar] / squared[similar].sum()).sum()
