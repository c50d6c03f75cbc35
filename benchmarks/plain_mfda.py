"""MFDA in its plainest form: loops over pairs and points, a dense matrix of neighbors."""

import numpy as np


def plain_mfda(X, y, n_components, n_neighbors=10, alpha=0.2, max_iter=100, tol=1e-10):
    """Return W, with orthonormal columns, and its trace ratio."""
    varying = X.std(axis=0) > 0.0  # a constant feature would waste a column
    X = X[:, varying]
    n, m = X.shape
    apart, together = np.zeros((m, m)), np.zeros((m, m))
    for i in range(n):
        for j in range(i):
            scatter = np.outer(X[i] - X[j], X[i] - X[j])
            if y[i] == y[j]:
                together += scatter
            else:
                apart += scatter

    R = np.zeros((n, n))
    for i in range(n):
        distances = [np.inf if j == i else np.sum((X[i] - X[j]) ** 2) for j in range(n)]
        neighbors = np.argsort(distances)[:n_neighbors]
        offsets = X[neighbors] - X[i]
        gram = offsets @ offsets.T
        gram += 1e-3 * np.trace(gram) * np.eye(len(gram))
        weights = np.linalg.solve(gram, np.ones(len(gram)))
        R[i, neighbors] = weights / weights.sum()
    E = (np.eye(n) - R).T @ (np.eye(n) - R)
    together += alpha * X.T @ E @ X

    ratio = np.trace(apart) / np.trace(together)
    for _ in range(max_iter):
        W = np.linalg.eigh(apart - ratio * together)[1][:, -n_components:]
        old, ratio = ratio, np.trace(W.T @ apart @ W) / np.trace(W.T @ together @ W)
        if ratio - old <= tol * ratio:
            break
    return np.eye(len(varying))[:, varying] @ W, ratio
