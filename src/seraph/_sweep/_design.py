"""Which tiles stand for all unlabeled pairs where only a share of the pairs is swept.

A sample of tiles costs less than one of single pairs, which have to be gathered. Every
row meets equally many others, so that a sum over rows is exact, and only what depends on both
points of a pair is an estimate (a balanced incomplete U-statistic; Blom 1976). ::

         L     U            Blocks of unlabeled rows meet the next few blocks, the last ones the
       +---+--------+       first. Blocks of labeled rows meet some blocks, evenly spaced.
     L |   |#  #  # |
       +---+--------+       The rows must be in random order.
     U |   | ##     |
       |   |   ##   |
       |   |#    ## |
       +---+--------+
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._utils._typing import Array

# A block of rows, and the blocks of columns that it meets.
Strip = tuple[slice, list[slice]]

# Samples pay off from this number of unlabeled pairs on.
_MANY_PAIRS = 1_500_000
# The smallest sample has this number of pairs a row, or this share of all, whichever is more.
_PER_ROW, _SMALLEST_SHARE = 128, 0.005
# The smallest sample of sampled pairs has this number.
_SAMPLED_PAIRS = 1 << 18
# With fewer rows than this for each feature, gradients by the metric cost too much, unless the
# search starts so near the maximum that it needs only two or three of them.
_ROWS_PER_FEATURE = 16
# There are at least this many blocks of rows, so that any share can be met closely.
_LEAST_BLOCKS = 32
# The next sample is this many times as large. None costs more than _LARGEST_SHARE of all pairs.
_GROWTH, _LARGEST_SHARE = 4, 0.2
# The smallest subset of the rows has this number, so many for each feature, or this share of all.
_SUBSET_ROWS, _SUBSET_ROWS_PER_FEATURE, _SUBSET_SHARE = 2048, 64, 0.1


class Design(NamedTuple):
    """Tiles, and the number of unlabeled pairs that each of their unlabeled pairs stands for.

    Parameters
    ----------
    strips : list of Strip
        The tiles: all of the labeled pairs, and some of the others.
    weights : tuple of two floats
        For the pairs of a class-labeled row with another, and for those of two others.
    """

    strips: list[Strip]
    weights: tuple[float, float]


def shares(
    shape: Sequence[int],
    n_labeled: int,
    n_sampled: int | None = None,
    share: float = 1.0,
    *,
    near: bool = False,
) -> tuple[float, ...]:
    """Return shares of the swept pairs to sweep before all of them, the smallest first.

    Parameters
    ----------
    shape : sequence of two ints
        Number of rows and of features.
    n_labeled : int
        Number of class-labeled rows, whose pairs are all swept.
    n_sampled : int, optional
        Number of unlabeled pairs, if they are listed.
    share : float, default=1.0
        Share of the unlabeled pairs that is swept, if they are sampled in tiles.
    near : bool, default=False
        Whether the search starts near the maximum.

    Examples
    --------
    >>> shares((1000, 64), 10), [round(share, 4) for share in shares((20_000, 64), 100)]
    ((), [0.0128, 0.0512])
    """
    n, n_features = shape
    labeled = n_labeled * (n_labeled - 1) // 2
    n_pairs = share * (n * (n - 1) // 2 - labeled) if n_sampled is None else n_sampled
    if n_pairs < _MANY_PAIRS or not (near or n >= _ROWS_PER_FEATURE * n_features):
        return ()
    smallest = _SAMPLED_PAIRS if n_sampled is not None else _PER_ROW * n
    first = max(smallest / n_pairs, _SMALLEST_SHARE)
    affordable = _LARGEST_SHARE * (labeled + n_pairs)
    return tuple(
        part for part in (first, _GROWTH * first) if labeled + part * n_pairs <= affordable
    )


def subset_sizes(n: int, n_features: int) -> tuple[int, ...]:
    """Return numbers of rows whose pairs to sweep before those of all `n`, the smallest first.

    Examples
    --------
    >>> subset_sizes(1000, 16), subset_sizes(100_000, 16)
    ((), (10000, 20000))
    """
    n_pairs = n * (n - 1) // 2
    if n_pairs < _MANY_PAIRS or n < _ROWS_PER_FEATURE * n_features:
        return ()
    by_features = _SUBSET_ROWS_PER_FEATURE * n_features
    first = max(_SUBSET_ROWS, by_features, round(_SUBSET_SHARE * n))
    return tuple(
        size for size in (first, 2 * first) if size * (size - 1) // 2 <= _LARGEST_SHARE * n_pairs
    )


def stratified(n: int, n_labeled: int, size: int) -> Array:
    """Choose rows at random: of each class, and of the rows without one, about the same share.

    Parameters
    ----------
    n : int
        Number of rows.
    n_labeled : int
        Number of class-labeled rows, which come first, sorted by class.
    size : int
        About how many rows to choose.
    """
    rng = np.random.default_rng(0)  # the same rows in each fit, so that a fit repeats
    chosen = []
    for start, stop in ((0, n_labeled), (n_labeled, n)):
        count = round(size * (stop - start) / n)
        edges = np.linspace(start, stop, count + 1)[:count]
        places = edges + rng.uniform(size=count) * (stop - start) / max(count, 1)
        chosen.append(np.clip(places.astype(np.intp), start, stop - 1))
    return np.unique(np.concatenate(chosen))


def design(n: int, n_labeled: int, side: int, share: float, least_side: int = 1) -> Design:
    """Choose tiles of about a share of the unlabeled pairs.

    Parameters
    ----------
    n : int
        Number of rows.
    n_labeled : int
        Number of class-labeled rows, which come first.
    side : int
        Largest side of a tile.
    share : float
        Share of the unlabeled pairs; at least one block for each.
    least_side : int, default=1
        Smallest side of a tile that is worth the call, unless there are few rows; the share may
        become larger.
    """
    k = n_labeled
    per_row = share * (n - k - 1) / 2.0
    labeled = row_blocks(0, k, side)
    fine = max(1, (n - k) // _LEAST_BLOCKS)
    others = row_blocks(k, n, min(fine, max(least_side, min(side, round(per_row)))))
    reach = _reach(len(others), round(per_row / (others[0].stop - others[0].start)))
    strips: list[Strip] = []
    n_met = 0
    for number, rows in enumerate(labeled):
        met = _spread(others, number, share)
        n_met += _length(rows) * sum(map(_length, met))
        strips.append((rows, [*labeled[number:], *met]))
    n_banded = 0
    for number, rows in enumerate(others):
        met = [others[(number + step) % len(others)] for step in range(1, reach + 1)]
        n_banded += _length(rows) * sum(map(_length, met))
        strips.append((rows, met))
    u = n - k
    return Design(strips, (k * u / max(n_met, 1), u * (u - 1) / 2.0 / max(n_banded, 1)))


def design_across(split: int, n: int, side: int, share: float, seed: int) -> Design:
    """Choose tiles of about a share of the pairs of one of the first `split` rows with another.

    Parameters
    ----------
    split, n : int
        Number of the first rows, and of all.
    side : int
        Largest side of a tile.
    share : float
        Share of the pairs; at least one tile.
    seed : int
        Seed of the choice.
    """
    # A few blocks meet a large share closely, and take less time.
    n_blocks = min(_LEAST_BLOCKS, max(8, round(4.0 / np.sqrt(share))))
    left, right = (
        row_blocks(start, stop, min(side, max(1, (stop - start) // n_blocks)))
        for start, stop in ((0, split), (split, n))
    )
    count = max(1, round(share * len(left) * len(right)))
    chosen = np.random.default_rng(seed).choice(len(left) * len(right), count, replace=False)
    chosen = np.sort(chosen)
    strips = []
    for row in np.unique(chosen // len(right)).tolist():
        met = (chosen[chosen // len(right) == row] % len(right)).tolist()
        strips.append((left[row], [right[column] for column in met]))
    n_met = sum(_length(rows) * sum(map(_length, met)) for rows, met in strips)
    weight = split * (n - split) / n_met
    return Design(strips, (weight, weight))


def _spread(blocks: list[slice], first: int, share: float) -> list[slice]:
    """Choose a share of the blocks, evenly spaced: the same number whatever the first."""
    count = max(1, round(share * len(blocks)))
    places = (first + step * len(blocks) // count for step in range(count))
    return [blocks[place % len(blocks)] for place in places]


def _reach(n_blocks: int, wanted: int) -> int:
    """How many of the next blocks a block meets: no block from either side."""
    return max(1, min(wanted, (n_blocks - 1) // 2))


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)


def row_blocks(start: int, stop: int, side: int) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of nearly equal length."""
    if stop <= start:
        return []
    edges = np.linspace(start, stop, -(-(stop - start) // side) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(edges)]
