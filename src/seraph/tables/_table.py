"""Tables with named columns, and arrays: where they come from, and their cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._utils._optional import Late, optional_module
from .._utils._typing import Array, BoolArray, FloatArray, IntArray
from ._reading import read_numbers, typed_column
from ._words import advice, and_more, cell_text, is_missing

pd = Late("pandas")
_LONGEST_TEXT = 30  # letters of a cell in a message
_LISTED = 12  # columns in a message; the rest are counted


class Written(NamedTuple):
    """How a table is written, to write another like it.

    `decimal_comma` says that numbers in text have one. `header` has the names of columns as the
    file writes them; `mixed` the columns with cells of several types, and these cells.
    """

    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    decimal_comma: bool = False
    header: Mapping[str, str] = MappingProxyType({})
    mixed: Mapping[str, tuple[Any, Sequence[Any]]] = MappingProxyType({})


CSV = Written()


@dataclass(frozen=True)
class NamedColumns:
    """A table with named columns of pyarrow, and the file that messages about it name.

    `TablePreparer` takes it like a data frame. `lines` has the line of the file of each row, if it
    has lines.
    """

    path: Path
    columns: dict[str, Any]
    written: Written = CSV
    lines: Sequence[int] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Name a row as its file does, such as "line 5"; without lines by its number from 0."""
        return f"line {self.lines[row]}" if len(self.lines) else f"row {row}"

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        if name not in self.columns:
            raise ValueError(f"{self.path} has no column {name!r}.{advice(name, self.names)}")
        return self.columns[name]

    def take(self, rows: IntArray) -> NamedColumns:
        """Return a table of some of the rows."""
        columns = {name: column.take(np.asarray(rows)) for name, column in self.columns.items()}
        mixed = {
            name: (columns[name], [cells[k] for k in rows])
            for name, (_, cells) in self.written.mixed.items()
            if name in columns
        }
        lines = [self.lines[k] for k in rows] if len(self.lines) else ()
        written = self.written._replace(mixed=mixed)
        return replace(self, columns=columns, written=written, lines=lines)

    def without(self, names: Collection[str | None]) -> NamedColumns:
        """Return the table without some columns, which it must have."""
        for name in names:
            if name is not None:
                self.cells(name)
        kept = {name: column for name, column in self.columns.items() if name not in names}
        if not kept:
            raise ValueError(f"{self.path}: no column is left: drop fewer, or add some.")
        return replace(self, columns=kept)

    def numbers(self, name: str) -> FloatArray | None:
        """Return a column as numbers; None if it holds something else."""
        return read_numbers(self.cells(name), decimal="," if self.written.decimal_comma else None)

    def points(self, names: Sequence[str] | None = None) -> Any:
        """Return columns as a data frame: numbers where these are, and text elsewhere."""
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
    written = CSV

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def place(self, row: int) -> str:
        """Name a row by its number from 0."""
        return f"row {row}"

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


InputTable: TypeAlias = NamedColumns | PlainArray


def row_ids(table: InputTable, column: str | None) -> list[str]:
    """Return the name of each row, its number without a column of ids; refuse equal names."""
    if column is None:
        return [str(row) for row in range(table.n_rows)]
    ids = [cell_text(cell) for cell in table.cells(column).to_pylist()]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name or not name.isprintable():
            raise ValueError(
                f"{table.path}, {table.place(row)}: {name!r} in {column!r} cannot name a row: an "
                "id is one line of text."
            )
        if first.setdefault(name, row) != row:
            raise ValueError(
                f"{table.path}, {table.place(first[name])} and {table.place(row)}: both have the "
                f"id {name!r} in {column!r}, and ids must be unique. Remove one, or name another "
                "column."
            )
    return ids


def as_text(cells: Any) -> Array:
    """Return a column as text, NaN where a cell is missing."""
    texts = [np.nan if is_missing(cell) else cell_text(cell) for cell in cells.to_pylist()]
    return np.array(texts, dtype=object)


def check_columns(table: NamedColumns, names: Sequence[str]) -> None:
    """Refuse a table that lacks columns which a model was fitted on."""
    absent = [name for name in names if name not in table.columns]
    if absent:
        which = and_more([repr(name) for name in absent[:_LISTED]], len(absent))
        raise ValueError(
            f"{table.path} lacks {len(absent)} of the {len(names)} columns that the model was "
            f"fitted on: {which}.{advice(absent[0], table.names)} Add them; cells may be empty."
        )


def first_of(table: NamedColumns, name: str, texts: Collection[str], *, count: bool = True) -> str:
    """Return the first cell with one of some texts, as `about` does; "" if there is none."""
    known = {*texts}
    cells = table.columns[name].to_pylist()
    mask = np.array([isinstance(c, str) and c.strip() in known for c in cells], dtype=bool)
    return about(table, name, mask, count=count) if mask.any() else ""


def about(table: NamedColumns, name: str, cells: BoolArray, *, count: bool = True) -> str:
    """Return the first of some cells and its place, for a message, and `count` the others."""
    row = int(np.flatnonzero(cells)[0])
    text = f"{table.columns[name][row].as_py()}"
    text = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
    others = int(cells.sum()) - 1 if count else 0
    return f"{text!r} in {table.place(row)}" + (f" and {others} more" if others else "")


def as_table(X: Any) -> NamedColumns:
    """Return a table of pandas, polars or pyarrow as named columns; refuse anything else."""
    pa = optional_module("pyarrow", "TablePreparer needs pyarrow", "tables")
    optional_module("pandas", "TablePreparer needs pandas", "tables")
    from .._utils._validation import check_read, shown

    if isinstance(X, NamedColumns):
        return X
    check_read("X", X)
    if type(X).__module__.startswith("dask"):
        X = X.compute()
    if isinstance(X, pd.DataFrame):
        names = [str(name) for name in X.columns]
        columns = [typed_column(X.iloc[:, k]) for k in range(X.shape[1])]
    elif isinstance(X, pa.Table) or hasattr(X, "to_arrow"):
        arrow = X if isinstance(X, pa.Table) else X.to_arrow()
        names = [str(name) for name in arrow.column_names]
        columns = [typed_column(column) for column in arrow.columns]
    else:
        raise ValueError(
            "X must be a table with named columns, of pandas, polars or pyarrow; got "
            f"{shown(X)}. (An array of numbers needs a scaler alone, such as StandardScaler.)"
        )
    twice = next((name for name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise ValueError(f"X has two columns called {twice!r}: rename one of them.")
    if not names or len(X) == 0:
        raise ValueError(f"X has {len(X)} rows and {len(names)} columns: it needs some of each.")
    return NamedColumns(Path("X"), dict(zip(names, columns, strict=True)))
