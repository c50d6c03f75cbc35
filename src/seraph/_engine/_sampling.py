"""A random sample of the unlabeled pairs: an incomplete U-statistic."""

from __future__ import annotations

import numpy as np

from .._typing import Array

# From this share of the pairs on, list all of them and permute.
_DENSE = 0.2


def sample_pairs(
    n: int, n_labeled: int, listed: Array, size: int, rng: np.random.RandomState
) -> Array:
    """Sample unlabeled pairs uniformly without replacement.

    Pairs ``i < j`` are numbered ``u = j (j - 1) / 2 + i``. The labeled rows come first, so
    their pairs have the lowest numbers and are skipped at once.

    Parameters
    ----------
    n : int
        Number of rows.
    n_labeled : int
        Number of class-labeled rows, which come first; their pairs are not sampled.
    listed : ndarray of int of shape (l, 2)
        Further pairs to leave out.
    size : int
        Number of pairs to sample, fewer than there are.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    ndarray of int of shape (size, 2)
        The pairs, the smaller row first, in ascending order.

    Examples
    --------
    >>> sample_pairs(4, 2, np.array([[0, 3]]), 4, np.random.RandomState(0))
    array([[0, 2],
           [1, 2],
           [1, 3],
           [2, 3]])
    """
    low, high = n_labeled * (n_labeled - 1) // 2, n * (n - 1) // 2
    small, large = np.sort(listed, axis=1).T.astype(np.int64)
    known = np.unique(large * (large - 1) // 2 + small)
    if size >= _DENSE * (high - low):
        numbers = np.setdiff1d(np.arange(low, high), known, assume_unique=True)
        numbers = rng.permutation(numbers)[:size]
    else:
        numbers = np.empty(0, dtype=np.int64)
        while len(numbers) < size:
            more = rng.randint(low, high, size=size + size // 4 + 8, dtype=np.int64)
            # Keep the order of sampling, so that cutting off the surplus stays uniform.
            more = np.concatenate([numbers, more[~np.isin(more, known)]])
            numbers = more[np.sort(np.unique(more, return_index=True)[1])]
        numbers = numbers[:size]
    j = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The square root of a 60-bit number may be off by one.
    j -= j * (j - 1) // 2 > numbers
    j += j * (j + 1) // 2 <= numbers
    i = numbers - j * (j - 1) // 2
    return np.stack([i, j], axis=1)[np.lexsort([j, i])]
