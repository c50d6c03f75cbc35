"""LMNN by gradient descent on the factor, over a list of all triples.

``python -m benchmarks.plain_lmnn [seconds]`` compares it with `LMNN`; the plain form is
stopped after so many seconds (60).
"""

import sys
import time

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from seraph.classic import LMNN


def plain_lmnn(X, y, n_neighbors=3, push_weight=0.5, tol=1e-3, max_iter=1000, seconds=np.inf):
    """Factor, objective and number of steps of gradient descent from the identity.

    A step that does not lower the objective is halved, one that does is followed by one
    longer by 1%; stops where a step lowers it by less than `tol`.
    """
    deadline = time.perf_counter() + seconds
    euclidean = cdist(X, X, "sqeuclidean")
    triples = []
    for i in range(len(X)):
        others = np.flatnonzero((y == y[i]) & (np.arange(len(X)) != i))
        for j in others[np.argsort(euclidean[i, others])[:n_neighbors]]:
            triples += [(i, j, impostor) for impostor in np.flatnonzero(y != y[i])]
    i, j, impostors = np.array(triples).T
    pull = outer_products(X, *np.unique([i, j], axis=1))

    def objective_and_gradient(L):
        d2 = cdist(X @ L.T, X @ L.T, "sqeuclidean")
        hinge = 1.0 + d2[i, j] - d2[i, impostors]
        on = hinge > 0.0
        push = outer_products(X, i[on], j[on]) - outer_products(X, i[on], impostors[on])
        value = (1.0 - push_weight) * np.vdot(L @ pull, L) + push_weight * hinge[on].sum()
        return value, 2.0 * L @ ((1.0 - push_weight) * pull + push_weight * push)

    L, step = np.eye(X.shape[1]), 1e-7
    value, gradient = objective_and_gradient(L)
    steps = 0
    while steps < max_iter:
        steps += 1
        while True:
            trial = L - step * gradient
            trial_value, trial_gradient = objective_and_gradient(trial)
            if trial_value <= value:
                break
            step /= 2.0
        fallen = value - trial_value
        L, value, gradient = trial, trial_value, trial_gradient
        step *= 1.01
        if fallen < tol or time.perf_counter() > deadline:
            break
    return L, value, steps


def outer_products(X, i, j):
    difference = X[i] - X[j]
    return difference.T @ difference


def problems():
    """Name, points and class labels."""
    wine, digits = load_wine(return_X_y=True), load_digits(return_X_y=True)
    for name, (X, y), n in (("wine", wine, 178), ("digits", digits, 100), ("digits", digits, 400)):
        yield f"{name} {n}", StandardScaler().fit_transform(X)[:n], y[:n]


def main(seconds=60.0):
    print(f"{'':11}{'steps':>6}{'plain':>9}{'LMNN':>8}{'ratio':>8}   objective: plain, LMNN")
    for name, X, y in problems():
        start = time.perf_counter()
        learner = LMNN().fit(X, y)
        ours = time.perf_counter() - start
        start = time.perf_counter()
        _, objective, steps = plain_lmnn(X, y, seconds=seconds)
        plain = time.perf_counter() - start
        print(
            f"{name:11}{steps:6}{plain:8.2f}s{ours:7.3f}s{plain / ours:8.0f}   "
            f"{objective:.3f}, {learner.objective_:.3f}",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
