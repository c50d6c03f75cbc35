"""LMNN by gradient descent on the factor, over a list of all triples."""

import time

import numpy as np
from scipy.spatial.distance import cdist


def plain_lmnn(X, y, n_neighbors=3, push_weight=0.5, tol=1e-3, max_iter=1000, seconds=np.inf):
    """Return factor, objective and number of steps of gradient descent from the identity.

    A step that raises the objective is halved; after one that does not, the step grows by 1%.
    Stop where a step lowers the objective by less than `tol`.
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
