"""Choose the pairs to sum, their weights and the order of the rows.

A `Plan` is all that a backend knows about samples. There are three forms:

- **All pairs**, in tiles on and above the diagonal.
- **A share of the pairs, in tiles.** A tile costs less for each pair than a list, whose points
  have to be gathered. This is a balanced incomplete U-statistic (Blom 1976): every row is in
  equally many pairs, so that a function of one point of a pair alone is summed exactly. The rows
  must be in random order, which `Plan.order` returns; on a cluster, whose rows stay in place, each
  task permutes its own instead.
- **A list of unlabeled pairs**, which needs no order of the rows, and memory for its pairs.

::

         L     U            Tiles of a share: a circulant band. A block of rows of a kind has tiles
       +---+--------+       with the next few blocks, cyclically; a block of labeled rows (L) also
     L |## |#  #  # |       with some blocks of the others (U), evenly spaced.
       | ##|        |
       +---+--------+       All pairs of two labeled rows are summed, unless there are too many:
     U |   | ##     |       they are the most informative ones.
       |   |   ##   |
       |   |#    ## |
       +---+--------+

Samples have two uses. With ``unlabeled_pairs``, the objective itself is a sum over a sample. And
solvers take most of their steps on smaller samples of the objective, of its pairs or of its rows:
`Plan.samples`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .._utils._tiles import row_slices
from .._utils._typing import Array
from ._lists import PairList, sample_pairs


class Strip(NamedTuple):
    """A block of rows, the blocks of columns that it meets in tiles, and the weight of a pair.

    The pairs are of two class-labeled rows (`labeled`), or else unlabeled. A tile whose columns
    are its rows has each pair twice.
    """

    rows: slice
    columns: list[slice]
    weight: float = 1.0
    labeled: bool = False

    @property
    def stop(self) -> int:
        """Number of the last row or column, plus one."""
        return max([int(block.stop) for block in (self.rows, *self.columns)])


# Rows and columns of a strip.
_Tiles = tuple[slice, list[slice]]

# The smallest sample of solvers has at least this share of all pairs, and of a list this number of
# pairs.
_SMALLEST_SHARE, _SMALLEST_LIST = 0.005, 1 << 18
# Growth factor of the samples, and their largest share of the pairs.
_GROWTH, _LARGEST_SHARE = 4, 0.2
# With fewer rows than this for each feature, gradients by the metric, one for each surrogate, cost
# too much, unless the search starts so near the maximum that it needs only two or three.
_ROWS_PER_FEATURE = 16
# Least number of blocks of rows in tiles of a share, so that any share can be approximated
# closely.
_LEAST_BLOCKS = 32
# Where a share has too few pairs for each row to sample these, solvers sample this part of the
# rows. (With a quarter or a sixteenth, fits of 20,000 rows took longer.)
_ROWS_PART = 1 / 8


@dataclass(frozen=True)
class SampleSizes:
    """From which sizes on pairs are sampled, and how.

    Parameters
    ----------
    listed, listed_per_row : int
        The user's sample is a list up to this number of pairs, or this number for each row,
        whichever is more: for fewer pairs, tiles would be too small to be fast.
    many_pairs : int
        Solvers take samples from this number of pairs on: below it, a fit over all pairs takes
        less than a second (docs/scale.md has the times).
    per_row : int
        Their smallest sample has this number of pairs for each row, unless a least share is more:
        with smaller ones, solvers need more sums over all pairs.
    """

    listed: int = 1 << 20
    listed_per_row: int = 64
    many_pairs: int = 1_500_000
    per_row: int = 128

    def can_list(self, size: int, n: int) -> bool:
        """Whether a sample of `size` of the pairs of `n` rows is a list, or else one of tiles."""
        return size <= max(self.listed, self.listed_per_row * n)


@dataclass(frozen=True)
class Plan:
    """Which pairs a sweep visits, and their sampling weights; all pairs by default.

    Parameters
    ----------
    share, labeled_share : float
        Share of the unlabeled pairs to visit in tiles, and of the pairs of two class-labeled rows.
    seed : int
        Seed of the order of the rows, or of their permutations in the tasks of a cluster.
    listed : PairList or None
        Unlabeled pairs to visit instead of tiles. Each is listed once.
    step : int
        Visit every `step`-th pair of the list.
    weight : float
        Sampling weight of the list: number of unlabeled pairs, divided by the number visited.
    by_rows : bool
        Whether `samples` may be of rows, which are in the order that `order` returns.
    rows : int or None
        Number of rows, the first ones, whose unlabeled pairs stand for those of all rows; `share`
        is a share of their pairs. None for all rows.
    sizes : SampleSizes
        From which sizes on `samples` are taken.

    Examples
    --------
    >>> strips = Plan().tiles(n=6, n_labeled=0, side=3)
    >>> strips[0].rows, strips[0].columns, strips[0].weight
    (slice(0, 3, None), [slice(0, 3, None), slice(3, 6, None)], 1.0)
    >>> [round(share, 4) for share, _ in Plan().samples((20_000, 64), n_labeled=100)]
    [0.0128, 0.0512]
    """

    share: float = 1.0
    labeled_share: float = 1.0
    seed: int = 0
    listed: PairList | None = None
    step: int = 1
    weight: float = 1.0
    by_rows: bool = False
    rows: int | None = None
    sizes: SampleSizes = SampleSizes()

    @classmethod
    def for_list(
        cls, n: int, n_labeled: int, marked: Array, size: int, rng: np.random.RandomState
    ) -> Plan:
        """Sample unlabeled pairs and list them; see `sample_pairs` for the parameters."""
        n_unlabeled = n * (n - 1) // 2 - n_labeled * (n_labeled - 1) // 2 - len(marked)
        pairs = sample_pairs(n, n_labeled, marked, size, rng)
        return cls(listed=pairs, weight=n_unlabeled / size)

    @property
    def is_whole(self) -> bool:
        """Whether all tiles are visited, of the pairs that are not listed."""
        return self.share == self.labeled_share == 1.0

    def order(
        self, shape: Sequence[int], labeled: Array, *, unlabeled: bool = True
    ) -> Array | None:
        """Return an order of all rows in which tiles of a share stand for all pairs.

        Parameters
        ----------
        shape : sequence of two ints
            Number of rows and of features.
        labeled : ndarray of int of shape (k,)
            The class-labeled rows, sorted by class: they stay in this order, in which sums are
            faster, if all their pairs are visited.
        unlabeled : bool, default=True
            Whether the unlabeled pairs count.

        Returns
        -------
        ndarray of int of shape (n,) or None
            The class-labeled rows first; None if neither this plan nor one of its `samples` needs
            an order.
        """
        either = replace(self, by_rows=True)
        more = either.samples(shape, len(labeled), unlabeled=unlabeled, near=True)
        plans = [self, *(plan for _, plan in more)]
        if self.listed is not None or all(plan.is_whole for plan in plans):
            return None
        rng = np.random.default_rng(self.seed)
        if any(plan.labeled_share < 1.0 for plan in plans):
            labeled = rng.permutation(labeled)
        others = np.ones(shape[0], dtype=bool)
        others[labeled] = False
        return np.concatenate([labeled, rng.permutation(np.flatnonzero(others))])

    def samples(
        self,
        shape: Sequence[int],
        n_labeled: int,
        *,
        unlabeled: bool = True,
        near: bool = False,
    ) -> list[tuple[float, Plan]]:
        """Return shares of the visited pairs, and plans that visit these, the smallest first.

        Parameters
        ----------
        shape : sequence of two ints
            Number of rows and of features.
        n_labeled : int
            Number of class-labeled rows.
        unlabeled : bool, default=True
            Whether the unlabeled pairs count.
        near : bool, default=False
            Whether the search starts near the maximum.
        """
        n, n_features = shape
        labeled = self.labeled_share * (n_labeled * (n_labeled - 1) // 2)
        if not unlabeled:
            n, n_pairs, smallest = n_labeled, 0.0, self.sizes.per_row * n_labeled
        elif self.listed is None:
            n_pairs = self.share * (n * (n - 1) // 2 - n_labeled * (n_labeled - 1) // 2)
            smallest = self.sizes.per_row * n
        else:
            n_pairs, smallest = len(range(0, len(self.listed), self.step)), _SMALLEST_LIST
        total = labeled + n_pairs
        if not (near or n >= _ROWS_PER_FEATURE * n_features):
            return []
        most = _LARGEST_SHARE * total
        has_few_pairs = unlabeled and self.share < 1.0 and smallest > most
        if self.by_rows and self.listed is None and has_few_pairs:
            sample_labeled = labeled + _ROWS_PART * n_pairs > most
            return [(_ROWS_PART, self._take_rows(n, n_labeled, sample_labeled=sample_labeled))]
        if total < self.sizes.many_pairs:
            return []
        first = max(smallest / total, _SMALLEST_SHARE)
        sample_labeled = self.listed is None and labeled + first * n_pairs > most
        found = []
        for part in (first, _GROWTH * first):
            if (part * labeled if sample_labeled else labeled) + part * n_pairs <= most:
                found.append((part, self._shrink(part, sample_labeled=sample_labeled)))
        return found

    def _take_rows(self, n: int, n_labeled: int, *, sample_labeled: bool) -> Plan:
        """Return a plan for the pairs of a part of the rows, as many for each row."""
        rows = n_labeled + round(_ROWS_PART * (n - n_labeled))
        labeled = self.labeled_share * (_ROWS_PART if sample_labeled else 1.0)
        share = min(1.0, self.share * (n - n_labeled - 1) / max(rows - n_labeled - 1, 1))
        return replace(self, rows=rows, share=share, labeled_share=labeled)

    def _shrink(self, part: float, *, sample_labeled: bool) -> Plan:
        """Return a plan for a part of the pairs."""
        if self.listed is None:
            labeled = self.labeled_share * (part if sample_labeled else 1.0)
            return replace(self, share=part * self.share, labeled_share=labeled)
        step = self.step * round(1.0 / part)
        before, after = (len(range(0, len(self.listed), some)) for some in (self.step, step))
        return replace(self, step=step, weight=self.weight * before / after)

    def tiles(
        self,
        n: int,
        n_labeled: int,
        side: int,
        least_side: int = 1,
        *,
        mu: float = 1.0,
    ) -> list[Strip]:
        """Cut the pairs into tiles. No tile has pairs of two kinds, so none needs a mask.

        Parameters
        ----------
        n, n_labeled : int
            Number of rows, and of class-labeled ones, which come first.
        side : int
            Largest side of a tile.
        least_side : int, default=1
            Smallest side of an efficient tile, unless there are few rows; the share may become
            larger.
        mu : float, default=1.0
            Weight of the unlabeled pairs; 0 leaves them out.

        Returns
        -------
        list of Strip
            The tiles, with the weights of their pairs.
        """
        sides, k = (least_side, side), n_labeled
        corner = _cut_square(0, k, sides, self.labeled_share)
        labeled = _weigh(corner, k * (k - 1) / 2.0, 1.0, labeled=True)
        if mu == 0.0:
            return labeled
        rest = _cut_square(k, n if self.rows is None else self.rows, sides, self.share)
        others = [rows for rows, _ in rest]
        across = [
            (rows, _choose_spread(others, number, self.share))
            for number, (rows, _) in enumerate(corner if others else [])
        ]
        u = n - k
        return [*labeled, *_weigh(across, k * u, mu), *_weigh(rest, u * (u - 1) / 2.0, mu)]


def choose_band(n: int, span: int, share: float) -> tuple[int, float]:
    """Choose the half-width of a cyclic band: the spans on either side of each span of rows.

    Parameters
    ----------
    n : int
        Number of rows.
    span : int
        Number of rows of a span; the last one may be shorter.
    share : float
        Share of the pairs.

    Returns
    -------
    reach : int
        The number of spans on either side.
    weight : float
        Sampling weight of the pairs of the band.

    Examples
    --------
    >>> choose_band(2048, 512, 0.75)
    (1, 1.333...)
    """
    spans = np.diff([*range(0, n, span), n])
    reach = max(0, min(round((share * n / span - 1) / 2), (len(spans) - 1) // 2))
    met = sum(np.roll(spans, step) for step in range(-reach, reach + 1))
    n_met = (int(spans @ met) - n) / 2
    return reach, n * (n - 1) / 2 / max(n_met, 1.0)


def _cut_square(start: int, stop: int, sides: tuple[int, int], share: float) -> list[_Tiles]:
    """Cut the pairs of some rows, or a share of them, into tiles."""
    (least_side, side), n = sides, stop - start
    if share < 1.0 and n:
        per_row = share * (n - 1) / 2.0
        fine = max(1, n // _LEAST_BLOCKS)
        blocks = cut_rows(start, stop, min(fine, max(least_side, min(side, round(per_row)))))
        reach = max(1, round(per_row / _length(blocks[0])))
        if 2 * reach < len(blocks):  # else a pair would be met from both sides
            return [
                (rows, [blocks[(number + step) % len(blocks)] for step in range(1, reach + 1)])
                for number, rows in enumerate(blocks)
            ]
    blocks = cut_rows(start, stop, side)
    return [(rows, blocks[number:]) for number, rows in enumerate(blocks)]


def _weigh(
    tiles: list[_Tiles], n_pairs: float, weight: float, *, labeled: bool = False
) -> list[Strip]:
    """Weigh pairs so that they stand for `n_pairs` pairs of a given weight."""
    n_met = 0.0
    for rows, columns in tiles:
        n_met += _length(rows) * sum(map(_length, columns))
        if rows == columns[0]:  # a tile on the diagonal
            n_met -= _length(rows) * (_length(rows) + 1) / 2.0
    weight *= n_pairs / max(n_met, 1.0)
    return [Strip(rows, columns, weight, labeled) for rows, columns in tiles]


def _choose_spread(blocks: list[slice], first: int, share: float) -> list[slice]:
    """Choose a share of the blocks, evenly spaced from the block number `first` on."""
    if share == 1.0 or not blocks:
        return blocks
    count = max(1, round(share * len(blocks)))
    places = (first + step * len(blocks) // count for step in range(count))
    return [blocks[place % len(blocks)] for place in places]


def _length(rows: slice) -> int:
    return int(rows.stop - rows.start)


def cut_rows(start: int, stop: int, side: int) -> list[slice]:
    """Cut the rows from `start` to `stop` into blocks of nearly equal length."""
    blocks = row_slices(stop - start, side)
    return [slice(start + block.start, start + block.stop) for block in blocks]
