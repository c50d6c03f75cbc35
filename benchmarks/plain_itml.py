"""ITML by cyclic Bregman projections, one labeled pair at a time, as in its paper."""

import time

import numpy as np


def plain_itml(X, pairs, similar, bounds, gamma=1.0, tol=1e-3, max_sweeps=1000, seconds=np.inf):
    """Return the metric and the number of sweeps of Algorithm 1 of Davis et al. (2007).

    The step is that of the authors' code, which projects with slack; the one in the paper does
    so for ``gamma = 1`` only. Stop when the multipliers change by less than `tol`, relatively.
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
    """Add the divergence of `A` from the identity and the cost of the best slacks."""
    differences = X[pairs[:, 0]] - X[pairs[:, 1]]
    d2 = np.einsum("ki,ij,kj->k", differences, A, differences, optimize=True)
    ratio = d2 / np.where(similar, *bounds)
    ratio = np.where(similar, np.maximum(ratio, 1.0), np.minimum(ratio, 1.0))
    divergence = np.trace(A) - np.linalg.slogdet(A)[1] - len(A)
    return divergence + gamma * np.sum(ratio - np.log(ratio) - 1.0)
