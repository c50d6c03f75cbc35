"""Rows of overlapping classes, and their pairs."""

import numpy as np


def blobs(n=40, m=4, n_classes=3, seed=0):
    """Rows of several classes; each feature varies more than the one before."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    means = rng.normal(size=(n_classes, m))
    return means[y] + rng.normal(size=(n, m)) * np.linspace(0.5, 2.0, m), y


def even_blobs(n=30, m=3, classes=3, seed=0):
    """Classes of the same size, as far as n allows."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    return rng.normal(size=(n, m)) + rng.normal(scale=1.5, size=(classes, m))[y], y


def overlapping(rng, n=45, m=4, classes=3):
    """Classes that differ in one feature, beside others that only make noise."""
    y = np.arange(n) % classes
    X = rng.normal(size=(n, m)) * np.array([0.4, *[1.5] * (m - 1)])
    X[:, 0] += y
    return X, y


def every_pair(y):
    """All pairs of the labeled rows, as marked pairs."""
    known = np.flatnonzero(np.asarray(y) >= 0)
    i, j = np.triu_indices(len(known), 1)
    rows = np.column_stack([known[i], known[j]])
    return rows, np.where(y[rows[:, 0]] == y[rows[:, 1]], 1, -1)


def literal_scatters(X, rows, signs, ridge):
    """Means over the similar and over the dissimilar pairs by a loop, each with its ridge."""
    m, scatters = X.shape[1], []
    for sign in (1, -1):
        chosen = [pair for pair, s in zip(rows, signs, strict=True) if s == sign]
        mean = sum(np.outer(X[i] - X[j], X[i] - X[j]) for i, j in chosen) / len(chosen)
        scatters.append(mean + ridge * np.trace(mean) / m * np.eye(m))
    return scatters
