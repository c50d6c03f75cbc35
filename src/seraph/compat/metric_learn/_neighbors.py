"""What NCA and MLKR share: each point picks another, the nearer the likelier."""

from __future__ import annotations

import numpy as np

from ..._utils._typing import Array


def neighbor_shares(Z: Array) -> Array:
    """Return the probability that a point picks another: the softmax of the squared distances.

    Examples
    --------
    >>> neighbor_shares(np.array([[0.0], [0.0], [9.0]])).round(3)
    array([[0. , 1. , 0. ],
           [1. , 0. , 0. ],
           [0.5, 0.5, 0. ]])
    """
    norms = np.einsum("ij,ij->i", Z, Z)
    squared = Z @ (-2.0 * Z.T)
    squared += norms
    np.fill_diagonal(squared, np.inf)
    shares = np.exp(squared.min(axis=1, keepdims=True) - squared)
    shares /= shares.sum(axis=1, keepdims=True)
    return shares


def laplacian_gradient(weights: Array, Z: Array, points: Array) -> Array:
    """Return the gradient by the map, flat, of a sum whose slopes by squared distance are given.

    The rows of `weights` must add up to zero.
    """
    symmetric = weights + weights.T
    pull = symmetric @ Z - weights.sum(axis=0)[:, np.newaxis] * Z
    gradient: Array = (pull.T @ points).ravel()
    return gradient
