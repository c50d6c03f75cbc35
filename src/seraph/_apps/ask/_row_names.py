"""How answers find their rows again, and how we know that these are still the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

# Another table, if more than this share of the rows of the answers has changed. Two tables with
# few columns have a few rows in common by chance.
_CHANGED = 0.25


class Contents(Protocol):
    """A digest of each row."""

    def __getitem__(self, row: int, /) -> str: ...


class RowNames:
    """How answers find their rows again: by id, or by what is in the row if it has no id.

    Parameters
    ----------
    ids : sequence of str
        Name of each row.
    contents : sequence of str or None
        Digest of each row (`digests`). If the ids are mere row numbers, which mean other rows in
        another table, the digests find the rows and must all be there and differ.
    n_first : int or None
        Number of rows of the first table, if the ids are those of two tables, which may share
        them; an answer then names a row of each.
    by_id : bool
        Whether the user gave the ids. They find the rows then, and the digests only tell whether
        this is still the same table.

    Examples
    --------
    >>> RowNames(["a", "b"]).find(["b", "a"], "")
    [1, 0]
    >>> RowNames(["a", "b", "a"], n_first=2).find(["a", "a"], "")
    [0, 2]
    >>> RowNames(["0", "1"], ["f00d", "cafe"]).find(["0", "1"], "cafe f00d")
    [1, 0]
    >>> RowNames(["a", "b"], ["f00d", "cafe"], by_id=True).changed(["b", "a"], "cafe beef")
    {1: False, 0: True}
    """

    def __init__(
        self,
        ids: Sequence[str],
        contents: Contents | None = None,
        n_first: int | None = None,
        *,
        by_id: bool = False,
    ) -> None:
        self.ids = ids
        self.by_id = by_id or contents is None
        self._contents = contents
        self._n_first = n_first
        found_by = (
            ids if self.by_id or contents is None else [contents[k] for k in range(len(ids))]
        )
        one = {name: row for row, name in enumerate(found_by)}
        self._places = [one, one]
        if n_first is not None and self.by_id:
            self._places = [
                {name: row for row, name in enumerate(ids) if (row < n_first) == first}
                for first in (True, False)
            ]

    def numbers(self, rows: Sequence[int]) -> list[str]:
        """Return the numbers of rows; a second table has row numbers of its own."""
        first = self._n_first
        return [str(row if first is None or row < first else row - first) for row in rows]

    def content(self, rows: Sequence[int]) -> str:
        """Return the digests of rows; nothing if there are none."""
        return "" if self._contents is None else " ".join(self._contents[row] for row in rows)

    def find(self, ids: Sequence[str], content: str) -> list[int]:
        """Return the numbers of the rows of an answer; a KeyError if one is not there."""
        names = ids if self.by_id else content.split(" ")
        return [self._places[min(k, 1)][name] for k, name in enumerate(names)]

    def changed(self, ids: Sequence[str], content: str) -> dict[int, bool]:
        """Return for each row of an answer whether it holds something else than it did then.

        Rows that go by their content, or whose answer has no digests, are left out.
        """
        digests = content.split(" ")
        if self._contents is None or not self.by_id or len(digests) != len(ids):
            return {}
        rows = self.find(ids, content)
        return {
            row: self._contents[row] != digest for row, digest in zip(rows, digests, strict=True)
        }


def digests(rows: Iterable[bytes]) -> list[str]:
    """Return a short digest of the content of each row; equal rows are numbered.

    Examples
    --------
    >>> a, b, again = digests([b"a", b"b", b"a"])
    >>> again == a + "-2", len(a)
    (True, 12)
    """
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        name = hashlib.blake2b(row, digest_size=6).hexdigest()
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return found


def rows_of_another_table(changed: Mapping[int, bool]) -> list[int]:
    """Return the rows that have changed if the table is another one; none if few have.

    Examples
    --------
    >>> rows_of_another_table({3: True, 5: True, 8: False})
    [3, 5]
    >>> rows_of_another_table({3: True, 5: False, 8: False})
    []
    """
    others = [row for row, other in changed.items() if other]
    return others if len(others) > max(1.0, _CHANGED * len(changed)) else []
