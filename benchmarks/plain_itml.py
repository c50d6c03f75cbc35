"""ITML by cyclic Bregman projections, one labelled pair at a time, as its paper gives it.

``python -m benchmarks.plain_itml [seconds]`` compares it with `ITML`, both on all pairs that the
labels imply and on a sample of them; the plain form is stopped after so many seconds (60).
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from seraph.classic import ITML


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


def problems():
    """Name, points, pairs and which are similar, what to tell ITML: 20 c^2 pairs, then all."""
    wine, digits = load_wine(return_X_y=True), load_digits(return_X_y=True)
    for name, (X, y), n in (("wine", wine, 178), ("digits", digits, 100), ("digits", digits, 400)):
        X, y = StandardScaler().fit_transform(X)[:n], y[:n]
        pairs = np.column_stack(np.triu_indices(n, 1))
        some = np.random.default_rng(0).permutation(len(pairs))[: 20 * len(np.unique(y)) ** 2]
        similar = y[pairs[:, 0]] == y[pairs[:, 1]]
        told = {"pairs": pairs[some], "pair_labels": similar[some]}
        yield f"{name} {n}", X, pairs[some], similar[some], told
        yield f"{name} {n}", X, pairs, similar, {"y": y}


def main(seconds=60.0):
    print("              pairs sweeps    plain     ITML  ratio   objective: plain, ITML")
    for name, X, pairs, similar, told in problems():
        start = time.perf_counter()
        learner = ITML().fit(X, **told)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        A, sweeps = plain_itml(X, pairs, similar, learner.bounds_, seconds=seconds)
        plain = time.perf_counter() - start
        value = itml_objective(A, X, pairs, similar, learner.bounds_)
        print(
            f"{name:11}{len(pairs):7}{sweeps:7}{plain:8.2f}s{ours:8.3f}s{plain / ours:7.0f}   "
            f"{value:.4f}, {learner.objective_:.4f}"
        )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
