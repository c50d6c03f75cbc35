"""A popular baseline for frozen embeddings: an unconstrained matrix, trained by Adam."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.sparse import coo_array

from seraph import Marks
from seraph._utils._typing import Array


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

    def fit(self, X: Array, y: None = None, *, marks: Marks) -> Self:  # noqa: ARG002
        """Take the steps; `y` is not used."""
        rows, places = np.unique(marks.pairs, return_inverse=True)
        points = np.asarray(X, dtype=np.float64)[rows]
        marked, labels = places.reshape(-1, 2), np.where(marks.similar, 1, -1)
        W = np.eye(points.shape[1])
        mean, square = np.zeros_like(W), np.zeros_like(W)
        for step in range(1, self.steps + 1):
            _, gradient = cosine_loss(W, points, marked, labels)
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


def cosine_loss(W: Array, X: Array, pairs: Array, labels: Array) -> tuple[float, Array]:
    """Return the mean squared error of the cosines of pairs of rows of `X @ W`, and its gradient.

    Examples
    --------
    >>> import numpy as np
    >>> value, gradient = cosine_loss(np.eye(2), np.eye(2), np.array([[0, 1]]), np.array([1]))
    >>> value, gradient.shape
    (1.0, (2, 2))
    """
    Z = X @ W
    length = np.linalg.norm(Z, axis=1, keepdims=True)
    Z = Z / length
    i, j = pairs.T
    cosine = (Z[i] * Z[j]).sum(axis=1)
    error = cosine - labels
    slope = 2 * error / len(pairs)
    # d cos / d z_i = (z_j - cos z_i) / |z_i|, summed over the pairs of each row.
    n = len(X)
    links = coo_array((slope, (i, j)), shape=(n, n)).tocsr()
    own = np.bincount(i, slope * cosine, n) + np.bincount(j, slope * cosine, n)
    toward = (links @ Z + links.T @ Z - own[:, np.newaxis] * Z) / length
    return float((error**2).mean()), X.T @ toward
