"""Sums over listed pairs: marks, and samples of the pairs of two classified rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._utils._typing import AnyArray, Array
from ._functions import PairFunction, library, wide


@dataclass(frozen=True)
class ListedPairs:
    """Pairs of rows, each with a weight, and how likely it is similar: `q`.

    `incidence` is sparse, of shape (l, n): +1 at the first row of each pair and -1 at the second,
    so that its product with the points are the differences of the pairs. `transposed` is its
    transpose.
    """

    incidence: AnyArray
    transposed: AnyArray
    q: AnyArray
    weights: AnyArray

    @classmethod
    def make(
        cls, pairs: Array, q: Array, weights: Array, n_rows: int, *, like: AnyArray
    ) -> ListedPairs:
        """Make the arrays, of the library and type of the points `like`."""
        number = np.arange(len(pairs))
        lines, columns = np.concatenate([number, number]), np.concatenate(pairs.T)
        signs = np.repeat([1.0, -1.0], len(pairs))
        shape = (len(pairs), n_rows)
        xp = library(like)
        if xp is np:
            matrix = sparse.csr_array((signs.astype(like.dtype), (lines, columns)), shape=shape)
            return cls(matrix, matrix.T.tocsr(), q.astype(like.dtype), weights.astype(like.dtype))
        place = {"dtype": like.dtype, "device": like.device}
        indices = np.stack([lines, columns])
        # (Without a word about the checks, torch warns that it does not check.)
        tensor = xp.sparse_coo_tensor(indices, signs, shape, check_invariants=False, **place)
        q, weights = (xp.as_tensor(a, **place) for a in (q, weights))
        return cls(tensor.coalesce(), tensor.t().coalesce(), q, weights)

    def squared_distances(self, Z: AnyArray) -> AnyArray:
        """Return the squared distance of each pair."""
        apart = self.incidence @ Z
        return (apart * apart).sum(-1)

    def times_laplacian(self, w: AnyArray, Y: AnyArray) -> AnyArray:
        """Return ``Lap(W) Y``, where `w` has the entry of W for each pair."""
        return self.transposed @ (w[:, None] * (self.incidence @ Y))


def sum_over_list(
    Z: AnyArray,
    Y: AnyArray,
    pairs: ListedPairs,
    *terms: tuple[PairFunction, Any, Any],
    eta: float = 0.0,
) -> tuple[Any, Any, AnyArray]:
    """Sum functions of listed pairs, each with its q and its weights; see `sum_over_blocks`.

    Examples
    --------
    >>> from seraph._pairs import LogLikelihood
    >>> X = np.array([[0.0], [1.0]])
    >>> pairs = ListedPairs.make(np.array([[0, 1]]), np.ones(1), np.ones(1), 2, like=X)
    >>> term = LogLikelihood(), pairs.q, 1.0
    >>> value, slope, product = sum_over_list(X, X, pairs, term, eta=1.0)
    >>> bool(np.isclose(value, -np.log(2.0))), float(slope), product.tolist()
    (True, -0.5, [[0.5], [-0.5]])
    """
    t = pairs.squared_distances(Z) - eta
    value, W = 0.0, 0.0 * t
    for function, q, weights in terms:
        phi, slopes = function.of_each(t, q)
        value = value + library(t).sum(weights * phi, dtype=wide(t))
        W = W + weights * slopes
    return value, W.sum(), pairs.times_laplacian(W, Y)
