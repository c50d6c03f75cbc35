"""Tables from files: with named columns, or arrays; and several tables as one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from ....tables import NamedColumns, Written, cell_text, is_missing, read_numbers
from ...ask._arrays import Array, IntArray

_NAMES = 12  # Names that a message lists; the rest are left out.


@dataclass(frozen=True)
class FileTable(NamedColumns):
    """A table with named columns from a file."""

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        if name not in self.columns:
            raise ValueError(f"{self.path} has no column {name!r}.{advice(name, self.names)}")
        return self.columns[name]

    def take(self, rows: IntArray) -> FileTable:
        """Return a table of some of the rows."""
        columns = {name: column.take(np.asarray(rows)) for name, column in self.columns.items()}
        return replace(self, columns=columns, written=self.written._replace(lines=False))

    def without(self, names: Collection[str | None]) -> FileTable:
        """Return the table without some columns, which it must have."""
        for name in names:
            if name is not None:
                self.cells(name)
        kept = {name: column for name, column in self.columns.items() if name not in names}
        if not kept:
            raise ValueError(f"{self.path}: no column is left: drop fewer, or add some.")
        return replace(self, columns=kept)

    def numbers(self, name: str) -> Array | None:
        """Return a column as numbers; None if it holds something else."""
        return read_numbers(self.cells(name), decimal="," if self.decimal_comma else None)

    def points(self, names: Sequence[str] | None = None) -> Any:
        """Return columns as a data frame: numbers where these are, and text elsewhere."""
        import pandas as pd

        columns = {name: self.numbers(name) for name in names or self.names}
        texts = {n: as_text(self.cells(n)) for n, values in columns.items() if values is None}
        return pd.DataFrame(columns | texts, index=range(self.n_rows), copy=False)


@dataclass(frozen=True)
class PlainArray:
    """A table from an array X, whose columns have no names, and the labels y beside it."""

    path: Path
    X: Array
    y: Array | None = None

    names = None
    decimal_comma = False
    written = Written()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def points(self) -> Any:
        """Return the features in single or double precision."""
        small = self.X.dtype in (np.float32, np.float16)
        return np.ascontiguousarray(self.X, dtype=np.float32 if small else np.float64)

    def take(self, rows: IntArray) -> PlainArray:
        """Return a table of some of the rows."""
        return replace(self, X=self.X[rows], y=None if self.y is None else self.y[rows])

    def without(self, names: Collection[str | None]) -> PlainArray:
        """Return the table; refuse names, which its columns do not have."""
        for name in names:
            if name is not None:
                self.cells(name)
        return self

    def cells(self, name: str) -> Any:
        """Refuse: an array has no named columns."""
        raise ValueError(
            f"{self.path} is an array, whose columns have no names: there is no column {name!r}. "
            "(For labels, save X and y in an .npz file; for ids, pass a table with --table.)"
        )


InputTable: TypeAlias = FileTable | PlainArray


def row_ids(table: InputTable, column: str | None) -> list[str]:
    """Return the name of each row, its number without a column of ids; refuse equal names."""
    if column is None:
        return [str(row) for row in range(table.n_rows)]
    ids = [cell_text(cell) for cell in table.cells(column).to_pylist()]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name or not name.isprintable():
            raise ValueError(
                f"{table.path}, row {row}: {name!r} in {column!r} cannot name a row: an id is one "
                "line of text."
            )
        if first.setdefault(name, row) != row:
            raise ValueError(
                f"{table.path}: rows {first[name]} and {row} have the same id {name!r} in "
                f"{column!r}: ids must be unique. Remove one, or name another column."
            )
    return ids


def as_text(cells: Any) -> Array:
    """Return a column as text, NaN where a cell is missing."""
    texts = [np.nan if is_missing(cell) else cell_text(cell) for cell in cells.to_pylist()]
    return np.array(texts, dtype=object)


def advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    return f" It has {', '.join(map(repr, names))}." if len(names) <= _NAMES else ""


def and_more(texts: Sequence[str], n: int) -> str:
    """Join the first of `n` texts, and count the others.

    Examples
    --------
    >>> and_more(["a", "b"], 2), and_more(["a", "b"], 5)
    ('a, b', 'a, b and 3 more')
    """
    return ", ".join(texts) + (f" and {n - len(texts)} more" if n > len(texts) else "")


def quoted(text: str) -> str:
    """Return text as an argument of a command, in quotation marks if it needs any."""
    return text if re.fullmatch(r"\w+", text) else f'"{text}"'
