"""Every formula written out pair by pair: slow and obvious."""

import numpy as np
from scipy.special import expit, log_expit


def log_likelihood(d2, similar, eta):
    """ln p(y), equation (8)."""
    return log_expit(eta - d2) if similar else log_expit(d2 - eta)


def entropy(t):
    """-p ln p - (1 - p) ln(1 - p) at p = 1 / (1 + exp(t))."""
    return -sum(expit(s) * log_expit(s) for s in (t, -t))


def labeled_pairs(codes, pairs=(), similar=()):
    """{(i, j): similar} with i < j, from the codes of the first rows and the listed pairs."""
    known = {
        (i, j): bool(codes[i] == codes[j])
        for i in range(len(codes))
        for j in range(i + 1, len(codes))
    }
    known.update({tuple(sorted(pair)): bool(s) for pair, s in zip(pairs, similar, strict=True)})
    return known


def marked_log_likelihood(d2, mark, eta):
    """w (q ln p + (1 - q) ln(1 - p)) of a mark: True, False, or a pair (q, w)."""
    q, weight = mark if isinstance(mark, tuple) else (float(mark), 1.0)
    return weight * sum(
        share * log_likelihood(d2, similar, eta)
        for share, similar in ((q, True), (1.0 - q, False))
        if share
    )


def triplet_log_likelihood(X, A, triplet):
    """-ln(1 + exp(d2(a, b) - d2(a, c)))."""
    a, b, c = X[list(triplet)]
    return -np.logaddexp(0.0, (a - b) @ A @ (a - b) - (a - c) @ A @ (a - c))


def objective(X, A, known, *, eta=1.0, mu=0.0, lam=0.0, q=None, triplets=()):
    """Value of (7), or of (11) if `q(d)` gives the probability of a difference vector d."""
    total = -lam * np.trace(A)
    total += sum(triplet_log_likelihood(X, A, triplet) for triplet in triplets)
    for i in range(len(X)):
        for j in range(i + 1, len(X)):
            d = X[i] - X[j]
            d2 = d @ A @ d
            if (i, j) in known:
                total += marked_log_likelihood(d2, known[i, j], eta)
            elif q is None:
                total -= mu * entropy(d2 - eta)
            else:
                total += mu * q(d) * log_likelihood(d2, True, eta)
                total += mu * (1 - q(d)) * log_likelihood(d2, False, eta)
    return total


def pair_sums(Z, Y, eta, counts, q=None):
    """Value, slope and ``Lap(W) Y`` of a sum over the pairs i < j, one row after the other.

    ``counts[i, j]`` is how often a pair counts, and ``q[i, j]`` how likely it is similar; without
    `q` the term of each pair is minus its entropy.
    """
    value, slope, product = 0.0, 0.0, np.zeros(Y.shape)
    for i in range(len(Z)):
        t = np.sum((Z[i] - Z[i + 1 :]) ** 2, axis=1) - eta
        p, count = expit(-t), counts[i, i + 1 :]
        phi, w = -entropy(t), p * (1 - p) * t
        if q is not None:
            similar = q[i, i + 1 :]
            phi = similar * log_expit(-t) + (1 - similar) * log_expit(t)
            w = p - similar
        value += count @ phi
        slope += count @ w
        apart = (count * w)[:, np.newaxis] * (Y[i] - Y[i + 1 :])
        product[i] += apart.sum(axis=0)
        product[i + 1 :] -= apart
    return value, slope, product


def numeric_gradient(f, M, h=1e-6):
    """Central differences of f by the entries of M."""
    gradient = np.zeros_like(M)
    for index in np.ndindex(M.shape):
        E = np.zeros_like(M)
        E[index] = h
        gradient[index] = (f(M + E) - f(M - E)) / (2 * h)
    return gradient
