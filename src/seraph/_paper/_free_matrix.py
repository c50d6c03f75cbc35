"""The popular recipe for a frozen embedding, as a rival: a free matrix and gradient steps."""

from __future__ import annotations

from typing import Self

import numpy as np

from .._typing import Array


class FreeMatrix:
    r"""Train a square matrix so that similar pairs get a cosine of 1, and others of -1.

    .. math:: \min_W \frac{1}{N} \sum_k (\cos(W a_k, W b_k) - l_k)^2

    for the marked pairs :math:`(a_k, b_k)` and :math:`l_k = \pm 1`, as OpenAI's cookbook
    "Customizing embeddings" does. It starts at the identity and not at a random matrix, which is
    kinder to it: without steps, it is the plain cosine.

    Parameters
    ----------
    steps : int, default=60
        Number of steps of Adam, each over all pairs.
    rate : float, default=0.01
        Length of a step.
    """

    def __init__(self, steps: int = 60, rate: float = 0.01) -> None:
        self.steps = steps
        self.rate = rate

    def fit(self, X: Array, *, pairs: Array, pair_labels: Array) -> Self:
        """Take the steps."""
        a, b = (np.asarray(X, dtype=np.float64)[rows] for rows in np.asarray(pairs).T)
        W = np.eye(a.shape[1])
        mean, square = np.zeros_like(W), np.zeros_like(W)
        for step in range(1, self.steps + 1):
            _, gradient = cosine_loss(W, a, b, np.asarray(pair_labels))
            mean = 0.9 * mean + 0.1 * gradient
            square = 0.999 * square + 0.001 * gradient**2
            length = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            W = W - self.rate * mean / (1 - 0.9**step) / length
        self.matrix_ = W
        return self

    def transform(self, X: Array) -> Array:
        """Map points and scale them to unit length, so that distances follow the cosine."""
        Z: Array = X @ self.matrix_
        return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def cosine_loss(W: Array, a: Array, b: Array, labels: Array) -> tuple[float, Array]:
    """Return the mean squared error of the cosines of `a @ W` and `b @ W`, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = cosine_loss(np.eye(2), np.eye(2), np.eye(2)[::-1], np.array([1, -1]))
    >>> value, gradient.shape
    (1.0, (2, 2))
    """
    u, v = a @ W, b @ W
    p, q = np.linalg.norm(u, axis=1)[:, None], np.linalg.norm(v, axis=1)[:, None]
    u, v = u / p, v / q
    cosine = (u * v).sum(axis=1)[:, None]
    error = cosine - labels[:, None]
    slope = 2 * error / len(a)
    gradient = a.T @ (slope * (v - cosine * u) / p) + b.T @ (slope * (u - cosine * v) / q)
    return float((error**2).mean()), gradient
