"""ITML by cyclic Bregman projections, one labeled pair at a time, as its paper gives it."""

import time

import numpy as np


def plain_itml(X, pairs, similar, bounds, gamma=1.0, tol=1e-3, max_sweeps=1000, seconds=np.inf):
    """Metric A and number of sweeps of Algorithm 1 of Davis et al. (2007), from A = 1.

    The step is the authors' code's: it projects with slack, which that of the paper does for
    ``gamma = 1`` only. Stops when the multipliers change by less than `tol`, relatively.
    """
    deadline = time.perf_counter() + seconds
    A = np.eye(X.shape[1])
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    signs = np.where(similar, 1.0, -1.0)
    bounds = np.where(similar, *bounds)
    multipliers = np.zeros(len(pairs))
    sweep = 0
    while sweep < max_sweeps:
        sweep += 1
        before = multipliers.copy()
        for k, v in enumerate(differences):
            Av = A @ v
            d2 = v @ Av
            step = signs[k] * gamma / (gamma + 1.0) * (1.0 / d2 - 1.0 / bounds[k])
            step = min(multipliers[k], step)
            multipliers[k] -= step
            bounds[k] = 1.0 / (1.0 / bounds[k] + signs[k] * step / gamma)
            A += np.outer(Av, Av * (signs[k] * step / (1.0 - signs[k] * step * d2)))
        change = np.abs(multipliers - before).sum()
        size = np.linalg.norm(multipliers) + np.linalg.norm(before)
        if change <= tol * size or time.perf_counter() > deadline:
            break
    return A, sweep


def itml_objective(A, X, pairs, similar, bounds, gamma=1.0):
    """Divergence from the identity and cost of the slacks, at their best, under `A`."""
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    d2 = np.einsum("ki,ij,kj->k", differences, A, differences, optimize=True)
    ratio = d2 / np.where(similar, *bounds)
    ratio = np.where(similar, np.maximum(ratio, 1.0), np.minimum(ratio, 1.0))
    divergence = np.trace(A) - np.linalg.slogdet(A)[1] - len(A)
    return divergence + gamma * np.sum(ratio - np.log(ratio) - 1.0)
