"""A random sample of the unlabeled pairs: an incomplete U-statistic."""

from __future__ import annotations

import numpy as np

from .._typing import Array

# From this share of the pairs on, toss a coin for each.
_DENSE = 0.2
# Pairs to toss for at a time.
_BLOCK = 2**18


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
    if size >= _DENSE * (high - low):
        return _tossed(n, n_labeled, np.unique(_numbers(n - 1 - large, n - 1 - small)), size, rng)
    numbers = _distinct(low, high, np.unique(_numbers(small, large)), size, rng)
    i, j = _rows(numbers)
    return np.stack([i, j], axis=1)[np.lexsort([j, i])]


def _tossed(n: int, n_labeled: int, known: Array, size: int, rng: np.random.RandomState) -> Array:
    """Sample by a coin for each pair, and drop the surplus; memory holds the sample only once.

    The coins favor no pair, so neither does the sample, however many pairs they select. Pairs are
    numbered from the last row backwards here: then they come out in order.
    """
    labeled = n_labeled * (n_labeled - 1) // 2
    n_free = n * (n - 1) // 2 - labeled - len(known)
    spread = 6 * int(np.sqrt(size)) + 16
    share = (size + spread) / n_free
    pairs = np.empty((min(size + 2 * spread, n_free), 2), dtype=np.int64)
    count = -1
    while not size <= count <= len(pairs):
        count = 0
        for high in range(n * (n - 1) // 2, 0, -_BLOCK):
            low = max(high - _BLOCK, 0)
            numbers = low + np.flatnonzero(rng.random_sample(high - low) < share)[::-1]
            numbers = numbers[
                ~np.isin(numbers, known[slice(*np.searchsorted(known, [low, high]))])
            ]
            small, large = _rows(numbers)
            new = np.stack([n - 1 - large, n - 1 - small], axis=1)
            new = new[new[:, 1] >= n_labeled]
            room = pairs[count : count + len(new)]
            room[:] = new[: len(room)]
            count += len(new)
    nothing = np.empty(0, dtype=np.int64)
    surplus = np.sort(_distinct(0, count, nothing, count - size, rng))
    # Close the gaps in place.
    ends = np.append(surplus, count)[1:]
    for gap, (start, end) in enumerate(zip(surplus, ends, strict=True)):
        pairs[start - gap : end - gap - 1] = pairs[start + 1 : end]
    return pairs[:size]


def _distinct(low: int, high: int, known: Array, size: int, rng: np.random.RandomState) -> Array:
    """Sample distinct numbers from `low` to below `high` that are not known."""
    numbers = np.empty(0, dtype=np.int64)
    while len(numbers) < size:
        more = rng.randint(low, high, size=size + size // 4 + 8, dtype=np.int64)
        # Keep the order of sampling, so that cutting off the surplus stays uniform.
        more = np.concatenate([numbers, more[~np.isin(more, known)]])
        numbers = more[np.sort(np.unique(more, return_index=True)[1])]
    return numbers[:size]


def _numbers(small: Array, large: Array) -> Array:
    return large * (large - 1) // 2 + small


def _rows(numbers: Array) -> tuple[Array, Array]:
    """Return the smaller and the larger row of each pair."""
    large = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The square root of a 60-bit number may be off by one.
    large -= large * (large - 1) // 2 > numbers
    large += large * (large + 1) // 2 <= numbers
    return numbers - large * (large - 1) // 2, large
