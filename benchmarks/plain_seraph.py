"""The projected gradient of the SERAPH paper in dense numpy, with n x n arrays."""

import numpy as np


def plain_seraph(X, y, mu, lam, eta=1.0, max_iter=200, tol=1e-3):
    """Maximize (7) from A = m / (m + 1) I; y has class labels, -1 where unknown."""
    n, m = X.shape
    labeled = (y[:, None] >= 0) & (y[None, :] >= 0)
    similar = labeled & (y[:, None] == y[None, :])
    dissimilar = labeled & ~similar
    other = np.triu(np.ones((n, n), dtype=bool), k=1)

    def value_and_gradient(A):
        squares = np.einsum("ij,jk,ik->i", X, A, X)
        t = squares[:, None] + squares[None, :] - 2.0 * X @ A @ X.T - eta
        p = 1.0 / (1.0 + np.exp(t))
        log_p, log_not_p = -np.logaddexp(0.0, t), -np.logaddexp(0.0, -t)
        terms = np.where(similar, log_p, np.where(dissimilar, log_not_p, 0.0))
        weights = np.where(similar, p - 1.0, np.where(dissimilar, p, 0.0))
        terms += np.where(labeled, 0.0, mu * (p * log_p + (1.0 - p) * log_not_p))
        weights += np.where(labeled, 0.0, mu * p * (1.0 - p) * t)
        gradient = X.T @ (weights.sum(axis=1)[:, None] * X - weights @ X) - lam * np.eye(m)
        return terms[other].sum() - lam * np.trace(A), gradient

    A = m / (m + 1.0) * np.eye(m)
    value, gradient = value_and_gradient(A)
    for k in range(1, max_iter + 1):
        step = 0.1 * m / (np.linalg.norm(gradient) * np.sqrt(k))
        for _ in range(21):
            values, vectors = np.linalg.eigh(A + step * gradient)
            A_next = (vectors * np.maximum(values, 0.0)) @ vectors.T
            value_next, gradient_next = value_and_gradient(A_next)
            if value_next >= value:
                break
            step /= 2.0
        else:
            break
        change = np.linalg.norm(A_next - A)
        A, value, gradient = A_next, value_next, gradient_next
        if change < tol:
            break
    return A, value
