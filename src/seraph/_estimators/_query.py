"""Search all pairs of points for the best by some score, without storing more than a few."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from .._typing import Array
from ..metrics._tiles import Tile

_TILE = 512
# Candidates kept per wanted pair, since those that share a point with a better pair drop out.
_CANDIDATES = 50


def best_pairs(score: Tile, n: int, labeled: Array, pairs: Array, tile: int = _TILE) -> Array:
    """Find the pairs of rows with the highest scores; no row is in two of them.

    The choice is greedy: the best pair, then the best that shares no row with it, and so on.
    Memory is O(n_points + tile^2).

    Parameters
    ----------
    score : callable
        Takes two arrays of row numbers and returns the scores of all their pairs, a matrix.
    n : int
        Number of pairs.
    labeled : ndarray of bool of shape (n_points,)
        Which rows have a class; pairs of two such rows are left out.
    pairs : ndarray of int of shape (l, 2)
        Pairs to leave out.
    tile : int, default=512
        Side of a tile of pairs.

    Returns
    -------
    ndarray of int of shape (n, 2), or fewer rows if there are fewer pairs
        Row numbers, smaller first; best pair first.
    """
    free = np.ones(len(labeled), dtype=bool)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n:
        rows = np.flatnonzero(free)
        candidates = _best(score, _CANDIDATES * n, rows, labeled, pairs, tile)
        if len(candidates) == 0:
            break
        for i, j in candidates.tolist():
            if len(chosen) < n and free[i] and free[j]:
                chosen.append((i, j))
                free[[i, j]] = False
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)


def _best(score: Tile, n: int, rows: Array, labeled: Array, pairs: Array, tile: int) -> Array:
    """Find the `n` best pairs of some rows, best first."""
    scores, first, second = np.empty(0), np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    lowest = -np.inf
    for a, b, found in _tiles(score, rows, labeled, pairs, tile):
        i, j = np.nonzero(found > lowest)
        scores = np.concatenate([scores, found[i, j]])
        first, second = np.concatenate([first, a[i]]), np.concatenate([second, b[j]])
        if len(scores) > n:
            keep = np.argpartition(-scores, n - 1)[:n]
            scores, first, second = scores[keep], first[keep], second[keep]
            lowest = scores.min()
    return np.column_stack([first, second])[np.lexsort([second, first, -scores])]


def _tiles(
    score: Tile, rows: Array, labeled: Array, pairs: Array, tile: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows, columns and scores of each tile on or above the diagonal; -inf if left out."""
    place = np.full(len(labeled), -1)
    place[rows] = np.arange(len(rows))
    left_out = defaultdict(list)
    for i, j in np.sort(place[pairs], axis=1).tolist():
        if i >= 0:
            left_out[i // tile, j // tile].append((i % tile, j % tile))
    for i in range(0, len(rows), tile):
        for j in range(i, len(rows), tile):
            a, b = rows[i : i + tile], rows[j : j + tile]
            found = score(a, b)
            found[np.logical_and.outer(labeled[a], labeled[b])] = -np.inf
            for at in left_out[i // tile, j // tile]:
                found[at] = -np.inf
            if i == j:
                found[np.tril_indices(len(found))] = -np.inf
            yield a, b, found
