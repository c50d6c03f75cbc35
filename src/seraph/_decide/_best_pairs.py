"""Search all pairs of points for the best by some score, without storing more than a few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._utils._tiles import upper_tiles
from .._utils._typing import Array
from ..metrics._tiles import Tile

# Candidates kept per wanted pair, since those that share a point with a better pair drop out;
# but no more than _MOST: if the candidates run out, the search starts again from the free points.
_CANDIDATES, _MOST = 50, 1 << 19


def best_pairs(score: Tile, n: int, labeled: Array, pairs: Array, tile: int = 512) -> Array:
    """Find the pairs of rows with the highest scores; no row is in two of them.

    The choice is greedy: the best pair, then the best that shares no row with it, and so on.
    Among equal scores it is arbitrary, but always the same. Memory is O(n_points + tile^2).

    `score` takes two arrays of row numbers, and returns the scores of all their pairs, a matrix.
    Pairs of two `labeled` rows, and the `pairs`, are left out. Returns the numbers of the two rows
    of each pair, the smaller first; fewer than `n` pairs if there are fewer.
    """
    free = np.ones(len(labeled), dtype=bool)
    n = min(n, len(labeled) // 2)
    chosen: list[tuple[int, int]] = []
    while len(chosen) < n:
        size = min(_CANDIDATES * (n - len(chosen)), _MOST)
        candidates = _best(_tiles(score, np.flatnonzero(free), labeled, pairs, tile), size)
        if len(candidates) == 0:
            break
        for i, j in candidates.tolist():
            if free[i] and free[j] and len(chosen) < n:
                chosen.append((i, j))
                free[i] = free[j] = False
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)


def _best(tiles: Iterator[tuple[Array, Array, Array]], size: int) -> Array:
    """Find the `size` best pairs of all tiles, best first."""
    rng = np.random.default_rng(0)
    scores, pairs, order = np.empty(0), np.empty((0, 2), dtype=np.intp), np.empty(0)
    lowest = -np.inf
    for a, b, tile_scores in tiles:
        i, j = np.nonzero(tile_scores > lowest)
        scores = np.concatenate([scores, tile_scores[i, j]])
        pairs = np.concatenate([pairs, np.column_stack([a[i], b[j]])])
        # At random among equal scores, as duplicate points have: in the order of the rows, most
        # candidates would share a row, and a search would find one pair.
        order = np.concatenate([order, rng.random(len(i))])
        # Twice as many as wanted, so that they are not sorted for every tile.
        if len(scores) > 2 * size:
            best = np.lexsort([order, -scores])[:size]
            scores, pairs, order = scores[best], pairs[best], order[best]
            lowest = float(scores[-1])
    return pairs[np.lexsort([order, -scores])[:size]]


def _tiles(
    score: Tile, rows: Array, labeled: Array, pairs: Array, tile: int
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield rows, columns and scores of each tile on or above the diagonal; -inf if left out."""
    place = np.full(len(labeled), -1)
    place[rows] = np.arange(len(rows))
    first, second = np.sort(place[pairs], axis=1).T
    for upper, lower in upper_tiles(len(rows), tile):
        a, b = rows[upper], rows[lower]
        scores = score(a, b)
        scores[np.logical_and.outer(labeled[a], labeled[b])] = -np.inf
        inside = (upper.start <= first) & (first < upper.stop)
        inside &= (lower.start <= second) & (second < lower.stop)
        scores[first[inside] - upper.start, second[inside] - lower.start] = -np.inf
        if upper is lower:
            scores[np.tril_indices(len(scores))] = -np.inf
        yield a, b, scores
