"""How answers find their rows again, and how we know that these are still the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

# Returns the digest of a row.
Contents = Callable[[int], str]


class RowNames:
    """How answers find their rows again: by id, or by number if they have no ids.

    `contents` returns the `digest` of a row, by which a changed row is noticed. If there
    are two tables, which may share ids, `n_first` is the number of rows of the first; an answer
    then names a row of each.

    Examples
    --------
    >>> RowNames(["a", "b"]).find(["b", "a"])
    [1, 0]
    >>> RowNames(["a", "b", "a"], n_first=2).find(["a", "a"])
    [0, 2]
    >>> RowNames(["a", "b"], ["f00d", "cafe"].__getitem__).changed([1, 0], "cafe beef")
    {1: False, 0: True}
    """

    def __init__(
        self, ids: Sequence[str], contents: Contents | None = None, n_first: int | None = None
    ) -> None:
        self.ids = ids
        self._contents = None if contents is None else cache(contents)
        self._n_first = n_first
        first = {name: row for row, name in enumerate(ids[:n_first])}
        self._places = [first, first]
        if n_first is not None:
            self._places[1] = {name: n_first + row for row, name in enumerate(ids[n_first:])}

    def numbers(self, rows: Sequence[int]) -> list[str]:
        """Return the numbers of rows; a second table has row numbers of its own."""
        first = self._n_first
        return [str(row if first is None or row < first else row - first) for row in rows]

    def content(self, rows: Sequence[int]) -> str:
        """Return the digests of rows; nothing if there are none."""
        return "" if self._contents is None else " ".join(map(self._contents, rows))

    def find(self, ids: Sequence[str]) -> list[int]:
        """Return the numbers of the rows of an answer; a KeyError if one is not there."""
        return [self._places[k][name] for k, name in enumerate(ids)]

    def changed(self, rows: Sequence[int], content: str) -> dict[int, bool]:
        """Return for each row of an answer whether it holds something else than it did then.

        An answer without digests cannot be checked.
        """
        digests = content.split(" ")
        if self._contents is None or len(digests) != len(rows):
            return {}
        then = zip(rows, digests, strict=True)
        return {row: self._contents(row) != digest for row, digest in then}
