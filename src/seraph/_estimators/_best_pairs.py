"""Search all pairs of points for the best by some score, without storing more than a few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._utils._tiles import upper_tiles
from .._utils._typing import Array
from ..metrics._tiles import Tile

_TILE = 512
# Candidates kept per wanted pair, since those that share a point with a better pair drop out.
_CANDIDATES = 50
# But no more than this: if the candidates run out, the search starts again from the free points.
_MOST_CANDIDATES = 1 << 19
# A pair of rows, its score, and its place among pairs of equal score.
_CANDIDATE = [("score", "f8"), ("order", "u8"), ("first", "intp"), ("second", "intp")]


def best_pairs(score: Tile, n: int, labeled: Array, pairs: Array, tile: int = _TILE) -> Array:
    """Find the pairs of rows with the highest scores; no row is in two of them.

    The choice is greedy: the best pair, then the best that shares no row with it, and so on.
    Among equal scores it is arbitrary, but always the same. Memory is O(n_points + tile^2).

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
    n = min(n, len(labeled) // 2)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n:
        size = min(_CANDIDATES * (n - len(chosen)), _MOST_CANDIDATES)
        candidates = _best(score, size, np.flatnonzero(free), labeled, pairs, tile)
        if len(candidates) == 0:
            break
        for i, j in candidates.tolist():
            if free[i] and free[j]:
                chosen.append((i, j))
                free[i] = free[j] = False
                if len(chosen) == n:
                    break
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)


def _best(score: Tile, n: int, rows: Array, labeled: Array, pairs: Array, tile: int) -> Array:
    """Find the `n` best pairs of some rows, best first."""
    best = np.empty(0, dtype=_CANDIDATE)
    lowest, last = -np.inf, np.uint64(0)
    for a, b, found in _tiles(score, rows, labeled, pairs, tile):
        i, j = np.nonzero((found >= lowest) & (found > -np.inf))
        some = _candidates(found[i, j], a[i], b[j])
        some = some[(some["score"] > lowest) | (some["order"] < last)]
        best = np.concatenate([best, some])
        # Twice as many as wanted, so that they are not sorted for every tile.
        if len(best) > 2 * n:
            best = _best_first(best)[:n]
            lowest, last = best["score"][-1], best["order"][-1]
    best = _best_first(best)[:n]
    return np.column_stack([best["first"], best["second"]])


def _candidates(scores: Array, first: Array, second: Array) -> Array:
    """Join pairs of rows with their scores, and an order among pairs of equal score.

    The order is pseudorandom, so that among many pairs of equal score (duplicate points), those
    that are kept seldom share a row. If they all did, a search would find one pair.
    """
    # Multipliers of the generator splitmix64.
    order = first.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + second.astype(np.uint64)
    order = (order ^ (order >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    order = (order ^ (order >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    order = order ^ (order >> np.uint64(31))
    columns = [scores, order, first, second]
    return np.rec.fromarrays(columns, dtype=_CANDIDATE).view(np.ndarray)


def _best_first(candidates: Array) -> Array:
    return candidates[np.lexsort([candidates["order"], -candidates["score"]])]


def _tiles(
    score: Tile, rows: Array, labeled: Array, pairs: Array, tile: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows, columns and scores of each tile on or above the diagonal; -inf if left out."""
    place = np.full(len(labeled), -1)
    place[rows] = np.arange(len(rows))
    first, second = np.sort(place[pairs], axis=1).T
    for some, others in upper_tiles(len(rows), tile):
        a, b = rows[some], rows[others]
        found = score(a, b)
        found[np.logical_and.outer(labeled[a], labeled[b])] = -np.inf
        here = (some.start <= first) & (first < some.stop)
        here &= (others.start <= second) & (second < others.stop)
        found[first[here] - some.start, second[here] - others.start] = -np.inf
        if some is others:
            found[np.tril_indices(len(found))] = -np.inf
        yield a, b, found
