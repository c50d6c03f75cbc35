"""Lists of pairs that take two to four bytes a pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._utils._typing import Array


@dataclass(frozen=True, eq=False)
class PairList:
    """Pairs of rows, grouped by the first row: the rows of a sparse matrix.

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
        """Make a list of an array of shape (l, 2) in which equal first rows are neighbors."""
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
        """Return the first pair, and each one after so many."""
        return PairList(self.rows, -(-self.starts // step), self.columns[::step])


def index_type(n: int) -> type[np.integer]:
    """Return the smallest type that numbers `n` rows."""
    if n <= 1 << 16:
        return np.uint16
    return np.uint32 if n <= 1 << 32 else np.int64
