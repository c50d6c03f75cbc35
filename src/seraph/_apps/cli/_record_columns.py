"""From a table of records to columns that are compared: dates, numbers or text."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

from ..._utils._typing import Array
from ...records import DuplicateFinder
from ...tables._columns import REASONS
from ...tables._ids import is_code, looks_like_ids
from ...tables._reading import read_dates, typed_column
from ...tables._table import InputTable, NamedColumns, as_text, row_ids


def check_records(tables: Sequence[InputTable], id_column: str | None) -> None:
    """Refuse arrays, which have no text, and ids that are missing or not unique."""
    for table in tables:
        if table.names is None:
            raise ValueError(
                f"{table.path} is an array of numbers: duplicates are found by text. Learn a "
                "distance with seraph fit instead."
            )
        row_ids(table, id_column)


def fitted_finder(
    tables: Sequence[InputTable], without: Collection[str], finder: DuplicateFinder
) -> DuplicateFinder:
    """Fit a finder to the columns of one table or of two, all but some of them."""
    columns = record_columns(tables, without, finder.text)
    n = tables[0].n_rows
    first = {name: values[:n] for name, values in columns.items()}
    other = {name: values[n:] for name, values in columns.items()}
    try:
        return finder.fit(first, other if len(tables) == 2 else None)
    except ValueError as error:
        raise ValueError(f"{tables[0].path}: {error}") from None


def record_columns(
    tables: Sequence[InputTable], without: Collection[str], text: Collection[str] = ()
) -> dict[str, Array]:
    """Return the columns to compare, of both tables together: dates, numbers or text."""
    for name in (*without, *text):
        if not any(name in (table.names or ()) for table in tables):
            tables[0].cells(name)  # its error names the columns that there are
    table = _together(tables, without)
    columns: dict[str, Array] = {}
    for name in table.names:
        cells, numbers = table.cells(name), table.numbers(name)
        ids = "" if numbers is None else looks_like_ids("", numbers)
        dates = None if name in text else read_dates(cells)
        if dates is not None:
            columns[name] = dates
        elif name in text or numbers is None or (is_code(numbers) and not ids):
            columns[name] = as_text(cells)  # codes in no order keep their leading zeros
        elif ids:
            warnings.warn(
                f"{tables[0].path}: left out {name!r} ({REASONS[ids][0]}). To use it all the "
                "same, name it with --text.",
                stacklevel=2,
            )
        else:
            columns[name] = numbers
    if not columns:
        raise ValueError(f"{tables[0].path}: no column is left to compare.")
    return columns


def _together(tables: Sequence[InputTable], without: Collection[str]) -> NamedColumns:
    """Return the rows of one table, or of two with the same columns, one below the other."""
    columns = {}
    for name in tables[0].names or ():
        if name not in without:
            first, *other = (table.cells(name) for table in tables)
            cells = [cell for part in (first, *other) for cell in part.to_pylist()]
            columns[name] = typed_column(cells) if other else first
    return NamedColumns(tables[0].path, columns, tables[0].written)
