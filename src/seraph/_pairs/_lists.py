"""Sums over listed pairs: marks, and samples of the pairs of two classified rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._utils._typing import Array
from ._formulas import AnyArray, cross_entropy, e_step, library, negative_entropy, wide


@dataclass(frozen=True)
class ListedPairs:
    """Pairs of rows, each with a label and a weight.

    Parameters
    ----------
    incidence, transposed : sparse array of shape (l, n), and its transpose
        +1 at the first row of each pair and -1 at the second: its product with the points are
        the differences of the pairs.
    q, weights : array of shape (l,)
        How likely each pair is similar, and its weight.
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


def sum_over_list(
    Z: AnyArray,
    Y: AnyArray,
    pairs: ListedPairs,
    eta: float,
    *,
    unlabeled: float = 0.0,
    frozen: AnyArray | bool | None = None,
    mu: float = 0.0,
) -> tuple[Any, Any, AnyArray]:
    """Sum the terms of listed pairs; see `sum_over_blocks`.

    Parameters
    ----------
    unlabeled : float, default=0.0
        Multiple of the term of an unlabeled pair that each pair has besides: minus the weight
        with which another sum counts it as unlabeled.
    frozen : array, False or None
        That term is the entropy if None; otherwise that of an M-step, with ``q = 0`` if False.
    """
    t = _margins(pairs, Z, eta)
    values, derivatives = cross_entropy(t, pairs.q)
    value = library(t).sum(pairs.weights * values, dtype=wide(t))
    W = pairs.weights * derivatives
    if unlabeled:
        if frozen is None:
            more, part = negative_entropy(t)
        else:
            q = 0.0 * t if frozen is False else e_step(_margins(pairs, frozen, eta), mu)
            terms, part = cross_entropy(t, q)
            more = terms.sum()
        value, W = value + unlabeled * more, W + unlabeled * part
    product = pairs.transposed @ (W[:, None] * (pairs.incidence @ Y))
    return value, W.sum(), product


def _margins(pairs: ListedPairs, Z: AnyArray, eta: float) -> AnyArray:
    apart = pairs.incidence @ Z
    return (apart * apart).sum(-1) - eta


def sample_class_pairs(
    codes: Array, partners: int, rng: np.random.RandomState
) -> tuple[Array, Array, Array]:
    """Sample pairs of classified rows: for each row some of its class, and some of all others.

    Weights make the sums over similar and over dissimilar pairs right on average.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Class of each row.
    partners : int
        Number of rows of each kind that a row meets after it, in random order on a circle.

    Returns
    -------
    pairs, q, weights : ndarrays of shape (l, 2), (l,) and (l,)
        The pairs, 1 or 0 for similar or not, and their weights.

    Examples
    --------
    >>> codes = np.arange(300) % 3
    >>> pairs, q, weights = sample_class_pairs(codes, 4, np.random.RandomState(0))
    >>> weights[q == 1].sum().round(), 3 * 100 * 99 / 2
    (np.float64(14850.0), 14850.0)
    """
    order = rng.permutation(len(codes))
    parts = []
    for code in np.unique(codes):
        rows = order[codes[order] == code]
        n = len(rows)
        if n <= 2 * partners + 1:
            i, j = np.triu_indices(n, 1)
            parts.append((np.column_stack([rows[i], rows[j]]), np.ones(len(i))))
        else:
            pairs = _neighbors(rows, partners)
            parts.append((pairs, np.full(len(pairs), (n - 1) / (2.0 * partners))))
    similar, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    others = _neighbors(order, partners)
    others = others[codes[others[:, 0]] != codes[others[:, 1]]]
    sizes = np.bincount(codes)
    n_different = (len(codes) ** 2 - int(sizes @ sizes)) / 2.0
    return (
        np.concatenate([similar, others]),
        np.concatenate([np.ones(len(similar)), np.zeros(len(others))]),
        np.concatenate([weights, np.full(len(others), n_different / max(len(others), 1))]),
    )


def _neighbors(rows: Array, count: int) -> Array:
    """Pair each row with the next ones on a circle."""
    return np.concatenate(
        [np.column_stack([rows, np.roll(rows, -shift)]) for shift in range(1, count + 1)]
    )
