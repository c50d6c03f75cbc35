"""From a table of records to columns that are compared: dates, numbers or text."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

import numpy as np

from ..._utils._cells._ids import is_code, looks_like_ids
from ..._utils._typing import Array
from ...records import DuplicateFinder
from ._ask_rows import row_ids
from ._tables import InputTable, NamedColumns


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
    tables: Sequence[InputTable], without: Collection[str], finder: DuplicateFinder | None = None
) -> DuplicateFinder:
    """Fit a finder to the columns of one table or of two, all but some of them."""
    finder = DuplicateFinder(random_state=0) if finder is None else finder
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
    from ._tables import Faults, as_categories, parse_dates, stack, to_numbers

    for name in (*without, *text):
        if not any(name in (table.names or ()) for table in tables):
            tables[0].cells(name)  # its error names the columns that there are
    # `check_records` refuses arrays.
    named = [table for table in tables if isinstance(table, NamedColumns)]
    kept = [table.without([n for n in without if n in table.names]) for table in named]
    table = kept[0] if len(kept) == 1 else stack(kept)
    columns: dict[str, Array] = {}
    for name in table.names or ():
        cells = table.cells(name)
        if name in text:
            columns[name] = as_categories(cells)
            continue
        dates = parse_dates(cells)
        if dates is not None:
            columns[name] = dates
            continue
        faults = Faults()
        numbers = to_numbers(name, cells, faults, decimal_comma=table.decimal_comma)
        if faults.commas:
            others = named[0].with_decimal_commas(faults), *named[1:]
            return record_columns(others, without, text)
        if len(numbers) == 0 or faults.infinite or _are_codes(numbers):
            columns[name] = as_categories(cells)
        elif why := looks_like_ids("", np.asarray(numbers)):
            warnings.warn(
                f"{tables[0].path}: left out {name!r} ({why}). To use it all the same, name it "
                "with --text.",
                stacklevel=2,
            )
        else:
            columns[name] = numbers
    if not columns:
        raise ValueError(f"{tables[0].path}: no column is left to compare.")
    return columns


def _are_codes(numbers: Array) -> bool:
    """Return whether numbers are codes in no order; such text keeps its leading zeros."""
    return is_code(numbers) and looks_like_ids("", numbers) is None
