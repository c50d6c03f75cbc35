"""Lists of pairs: those that users have marked, and samples of the unlabeled ones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._utils._typing import Array

# Pairs to draw at a time: their numbers take 8 bytes each, and their list 1 to 4.
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class PairList:
    """Pairs of rows, grouped by the first row: the rows of a sparse matrix.

    A sampled pair takes one to four bytes.

    Parameters
    ----------
    rows : ndarray of shape (k,)
        First rows, each once.
    starts : ndarray of shape (k + 1,)
        Where the pairs of each of them start in `columns`, and where the last ones end.
    columns : ndarray of shape (l,)
        Second rows.

    Examples
    --------
    >>> pairs = PairList.of(np.array([[0, 4], [0, 7], [5, 2]]))
    >>> len(pairs), pairs[1:].tolist()
    (3, [[0, 7], [5, 2]])
    """

    rows: Array
    starts: Array
    columns: Array

    @classmethod
    def of(cls, pairs: Array) -> PairList:
        """Make a list of an array of shape (l, 2), whose equal first rows must be neighbors."""
        first, columns = pairs.T
        starts = np.flatnonzero(np.diff(first, prepend=-1))
        return cls(first[starts], np.append(starts, len(pairs)), columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, some: slice) -> Array:
        """Return some pairs, as an array of shape (l, 2)."""
        rows, starts, columns = self.part(some)
        pairs = np.empty((len(columns), 2), dtype=np.int64)
        pairs[:, 0] = np.repeat(rows, np.diff(starts))
        pairs[:, 1] = columns
        return pairs

    def part(self, some: slice) -> tuple[Array, Array, Array]:
        """Return `rows`, `starts` and `columns` of consecutive pairs."""
        start, stop, _ = some.indices(len(self))
        first = max(int(np.searchsorted(self.starts, start, side="right")) - 1, 0)
        last = max(int(np.searchsorted(self.starts, stop)), first)
        starts = np.clip(self.starts[first : last + 1], start, stop) - start
        return self.rows[first:last], starts, self.columns[start:stop]

    def every(self, step: int) -> PairList:
        """Return every `step`-th pair, from the first one on."""
        return PairList(self.rows, -(-self.starts // step), self.columns[::step])


class Listed(NamedTuple):
    """Pairs to sum one by one, with their weights; every `step`-th of them.

    The term of a pair is ``weight * phi(similar) + unlabeled * phi``: the labeled one (11), if
    there are probabilities `similar`, and the unlabeled one. `unlabeled` is negative for marked
    pairs, whose unlabeled terms the tiles have added. `weights` of None are 1. `pairs` is an
    array of shape (l, 2) or a `PairList`; or None, if the points are the differences of pairs.
    """

    pairs: Any
    similar: Array | None = None
    weights: Array | None = None
    unlabeled: float = 0.0
    step: int = 1

    @property
    def stop(self) -> int:
        """Number of the last row of a pair, plus one; of differences, all rows are summed."""
        if self.pairs is None:
            return sys.maxsize
        pairs = self.pairs
        rows = [pairs.rows, pairs.columns] if isinstance(pairs, PairList) else [pairs]
        return 1 + max((int(some.max()) for some in rows if some.size), default=-1)

    def every(self) -> Listed:
        """Return a list with `step` 1."""
        if self.step == 1 or not isinstance(self.pairs, PairList):
            return self
        return self._replace(pairs=self.pairs.every(self.step), step=1)


def sample_pairs(
    n: int, n_labeled: int, marked: Array, size: int, rng: np.random.RandomState
) -> PairList:
    """Sample unlabeled pairs: each with the same probability, none twice.

    Pairs ``i < j`` are numbered ``u = j (j - 1) / 2 + i``. The labeled rows come first, so their
    pairs have the lowest numbers. This is stratified sampling: the numbers of the unlabeled pairs
    are cut into as many strata of equal length as pairs are wanted, from a random start, and one
    pair is drawn from each. So every row has nearly its share of the pairs, and the variance of
    the sum is smaller than with independent pairs. It takes little memory besides the list.

    Parameters
    ----------
    n : int
        Number of rows.
    n_labeled : int
        Number of class-labeled rows, which come first; their pairs are not sampled.
    marked : ndarray of int of shape (l, 2)
        Further pairs to leave out. At most one row of each is class-labeled.
    size : int
        Number of pairs to sample, at most all of them.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    PairList
        The pairs, the larger row of each first.

    Examples
    --------
    >>> sample_pairs(4, 2, np.array([[0, 3]]), 4, np.random.RandomState(0))[:].tolist()
    [[2, 0], [2, 1], [3, 1], [3, 2]]
    """
    low, high = n_labeled * (n_labeled - 1) // 2, n * (n - 1) // 2
    small, large = np.sort(marked, axis=1).T.astype(np.int64)
    known = np.unique(large * (large - 1) // 2 + small) - low
    # Count of the free numbers below each known one.
    free_below = known - np.arange(len(known))
    columns, end = np.empty(size, dtype=np.min_scalar_type(n - 1)), 0
    rows, counts = [], []
    for places in _draw_one_of_each_run(high - low - len(known), size, rng):
        numbers = low + places + np.searchsorted(free_below, places, side="right")
        small, large = _find_rows(numbers)
        columns[end : end + len(small)] = small
        end += len(small)
        some, count = np.unique(large, return_counts=True)
        rows.append(some)
        counts.append(count)
    # The pairs of a row may come in two chunks.
    found = np.concatenate(rows)
    first = np.flatnonzero(np.diff(found, prepend=-1))
    starts = np.cumsum(np.append(0, np.add.reduceat(np.concatenate(counts), first)))
    return PairList(found[first], starts, columns)


def _draw_one_of_each_run(n: int, size: int, rng: np.random.RandomState) -> Iterator[Array]:
    """Cut ``range(n)`` into cyclic runs from a random start; yield a number of each.

    The lengths of the runs differ by one. A number in a longer run is less likely to be drawn, but
    more likely to be in one: over all places to start from, each number has the same probability.
    """
    length, rest = divmod(n, size)
    start, offset = divmod(int(rng.randint(n, dtype=np.int64)), size)

    def draw(run: Array) -> Array:
        # (In whole numbers of 64 bits: a product of `n` and `size` would not fit.)
        low, high = (
            start + some * length + (some * rest + offset) // size for some in (run, run + 1)
        )
        found: Array = rng.randint(low, high, dtype=np.int64)
        return found

    last = draw(np.array([size - 1]))
    if last[0] >= n:  # this run ends where the first one starts
        yield last - n
    for begin in range(0, size - 1, _CHUNK):
        yield draw(np.arange(begin, min(begin + _CHUNK, size - 1)))
    if last[0] < n:
        yield last


def _find_rows(numbers: Array) -> tuple[Array, Array]:
    """Return the smaller and the larger row of each pair."""
    large = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The square root of a 60-bit number may be off by one.
    large -= large * (large - 1) // 2 > numbers
    large += large * (large + 1) // 2 <= numbers
    return numbers - large * (large - 1) // 2, large
