"""A random sample of the unlabeled pairs: an incomplete U-statistic.

Memory holds the list of the sample and little else: many draws are repeated instead of kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from itertools import pairwise

import numpy as np

from .._sweep import PairList, index_type
from .._utils._typing import Array

# From this share of the pairs on, toss a coin for each.
_DENSE = 0.2
# Pairs to toss for at a time, and pairs to work on at a time.
_BLOCK, _CHUNK = 2**18, 2**14
# Numbers to sort at a time: at most this many, or this many for each row.
_SORTED, _SORTED_PER_ROW = 2**17, 8


def sample_pairs(
    n: int, n_labeled: int, listed: Array, size: int, rng: np.random.RandomState
) -> PairList:
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
    PairList
        The pairs, either row of each first.

    Examples
    --------
    >>> sample_pairs(4, 2, np.array([[0, 3]]), 4, np.random.RandomState(0))[:]
    array([[0, 2],
           [1, 2],
           [1, 3],
           [2, 3]])
    """
    low, high = n_labeled * (n_labeled - 1) // 2, n * (n - 1) // 2
    small, large = np.sort(listed, axis=1).T.astype(np.int64)
    if size >= _DENSE * (high - low):
        return _tossed(n, n_labeled, np.unique(_numbers(n - 1 - large, n - 1 - small)), size, rng)
    room = max(_SORTED, _SORTED_PER_ROW * n)
    found = _distinct(low, high, np.unique(_numbers(small, large)), size, rng, room)
    columns, counts, end = np.empty(size, dtype=index_type(n)), _Counts(), 0
    for numbers in found:
        i, j = _rows(numbers)
        columns[end : end + len(i)] = i
        counts.add(j)
        end += len(i)
    return counts.listed(columns)


class _Counts:
    """Counts the pairs of each first row; those of a row come one after the other."""

    def __init__(self) -> None:
        self.rows: list[Array] = []
        self.counts: list[Array] = []

    def add(self, first: Array) -> None:
        """Count more pairs, by their first rows."""
        starts = np.flatnonzero(np.diff(first, prepend=-1))
        rows, counts = first[starts], np.diff(starts, append=len(first))
        if len(rows) and self.rows and self.rows[-1][-1] == rows[0]:
            self.counts[-1][-1] += counts[0]
            rows, counts = rows[1:], counts[1:]
        if len(rows):
            self.rows.append(rows)
            self.counts.append(counts)

    def listed(self, columns: Array, dropped: Array | None = None) -> PairList:
        """Make the list of the pairs, except those in the places that were dropped."""
        starts = np.cumsum(np.concatenate([[0], *self.counts]))
        if dropped is not None:
            starts -= np.searchsorted(dropped, starts)
        return PairList(np.concatenate(self.rows), starts, columns)


def _tossed(
    n: int, n_labeled: int, known: Array, size: int, rng: np.random.RandomState
) -> PairList:
    """Sample by a coin for each pair, and drop the surplus.

    The coins favor no pair, so neither does the sample, however many pairs they select. Pairs are
    numbered from the last row backwards here: then they come out in order.
    """
    labeled = n_labeled * (n_labeled - 1) // 2
    n_free = n * (n - 1) // 2 - labeled - len(known)
    spread = 6 * int(np.sqrt(size)) + 16
    share = (size + spread) / n_free
    columns = np.empty(min(size + 2 * spread, n_free), dtype=index_type(n))
    count = -1
    while not size <= count <= len(columns):
        count, counts = 0, _Counts()
        for numbers in _heads(n * (n - 1) // 2, share, rng):
            small, large = _rows(numbers[~_is_known(numbers, known)])
            free = n - 1 - small >= n_labeled
            second = n - 1 - small[free]
            room = columns[count : count + len(second)]
            room[:] = second[: len(room)]
            counts.add(n - 1 - large[free])
            count += len(second)
    found = [*_distinct(0, count, known[:0], count - size, rng)]
    surplus = np.concatenate([known[:0], *found])
    # Close the gaps in place.
    ends = np.append(surplus, count)[1:]
    for gap, (start, end) in enumerate(zip(surplus, ends, strict=True)):
        columns[start - gap : end - gap - 1] = columns[start + 1 : end]
    return counts.listed(columns[:size], surplus)


def _heads(n: int, share: float, rng: np.random.RandomState) -> Iterator[Array]:
    """Toss a coin for each of `n` numbers; the numbers of the heads, from high to low."""
    for high in range(n, 0, -_BLOCK):
        low = max(high - _BLOCK, 0)
        heads = np.empty(high - low, dtype=bool)
        for start in range(0, len(heads), _CHUNK):
            some = heads[start : start + _CHUNK]
            some[:] = rng.random_sample(len(some)) < share
        for start in reversed(range(0, len(heads), _CHUNK)):
            yield low + start + np.flatnonzero(heads[start : start + _CHUNK])[::-1]


def _distinct(
    low: int, high: int, known: Array, size: int, rng: np.random.RandomState, room: int = _SORTED
) -> Iterator[Array]:
    """Sample distinct numbers from `low` to below `high` that are not known; they ascend.

    These are the first new ones of many draws. Instead of being kept, many draws are repeated:
    once for each range of numbers that there is room to sort, to find which of them were new, and
    once more to return these.
    """
    if size == 0:
        return iter(())
    draws = _Draws(rng, low, high, size + size // 4 + 8)
    n_draws, repeated = 0, known[:0]
    while n_draws - len(repeated) < size:
        n_draws = draws.more()
        # A number and its draw are sorted as one whole number, of less than 63 bits.
        n_ranges = max(-(-n_draws // room), (high - low) * n_draws >> 61, 1)
        edges = [low + (high - low) * part // n_ranges for part in range(n_ranges + 1)]
        found = [some for part in pairwise(edges) for some in draws.repeated(n_draws, part, known)]
        repeated = np.concatenate([known[:0], *found])
        del found
        repeated.sort()
    # Those after the last new one do not count.
    n_draws = size + int(np.count_nonzero(repeated - np.arange(len(repeated)) < size))
    return (some for part in pairwise(edges) for some in draws.new(n_draws, part, known))


class _Draws:
    """Batches of random numbers from `low` to below `high`: the same in each pass over them."""

    def __init__(self, rng: np.random.RandomState, low: int, high: int, batch: int) -> None:
        self.rng, self.low, self.high, self.batch = rng, low, high, batch
        self.kept: list[Array] | None = [] if batch <= _CHUNK else None
        self.again = None if batch <= _CHUNK else deepcopy(rng)  # others may use `rng` meanwhile
        self.start = {} if self.again is None else self.again.get_state(legacy=False)
        self.count = 0

    def more(self) -> int:
        """Draw another batch; return the number of draws so far."""
        for some in self._drawn(self.rng, self.batch):
            if self.kept is not None:
                self.kept.append(some)
        self.count += self.batch
        return self.count

    def _drawn(self, rng: np.random.RandomState, count: int) -> Iterator[Array]:
        for start in range(0, count, _CHUNK):
            size = min(_CHUNK, count - start)
            yield rng.randint(self.low, self.high, size=size, dtype=np.int64)

    def _pass(self, count: int) -> Iterator[tuple[int, Array]]:
        """Go through the first draws, and say how many came before."""
        parts: Iterable[Array] = self.kept or ()
        if self.again is not None:
            self.again.set_state(self.start)
            parts = self._drawn(self.again, count)
        before = 0
        for some in parts:
            yield before, some[: count - before]
            before = min(before + len(some), count)

    def _of(self, part: tuple[int, int], n_draws: int, factor: int) -> Iterator[Array]:
        """Sort the draws of a range of numbers: ``factor place + draw``.

        The place is that in the range, from 1 on. With a factor of 1, without the draw. Some come
        at a time, with the one before them, which is 0 at first.
        """
        (first, last), found = part, []
        kind = np.uint32 if factor == 1 and last - first < 2**32 - 1 else np.int64
        for before, some in self._pass(n_draws):
            places = some - (first - 1)
            here = np.flatnonzero((places > 0) & (places <= last - first))
            keys = places[here] if factor == 1 else places[here] * factor + (here + before)
            found.append(keys.astype(kind))
        ordered = np.concatenate([np.zeros(1, dtype=kind), *found])
        del found
        ordered.sort()
        for start in range(1, len(ordered), _CHUNK):
            yield ordered[start - 1 : start + _CHUNK]

    def repeated(self, n_draws: int, part: tuple[int, int], known: Array) -> Iterator[Array]:
        """Find the draws that brought a number which is known or came before."""
        for keys in self._of(part, n_draws, factor=n_draws):
            places = keys // n_draws
            old = places[1:] == places[:-1]
            old |= _is_known(part[0] - 1 + places[1:], known)
            yield keys[1:][old] % n_draws

    def new(self, n_draws: int, part: tuple[int, int], known: Array) -> Iterator[Array]:
        """Find the numbers of the other draws."""
        for places in self._of(part, n_draws, factor=1):
            new = part[0] - 1 + places[1:][places[1:] > places[:-1]].astype(np.int64)
            yield new[~_is_known(new, known)]


def _is_known(numbers: Array, known: Array) -> Array:
    """Whether numbers are among the known ones, which ascend."""
    if not len(known):
        return np.zeros(len(numbers), dtype=bool)
    place = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    found: Array = known[place] == numbers
    return found


def _numbers(small: Array, large: Array) -> Array:
    return large * (large - 1) // 2 + small


def _rows(numbers: Array) -> tuple[Array, Array]:
    """Return the smaller and the larger row of each pair."""
    large = ((1.0 + np.sqrt(1.0 + 8.0 * numbers)) / 2.0).astype(np.int64)
    # The square root of a 60-bit number may be off by one.
    large -= large * (large - 1) // 2 > numbers
    large += large * (large + 1) // 2 <= numbers
    return numbers - large * (large - 1) // 2, large
