"""Read marked pairs from a table with the columns i, j and similar."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

import numpy as np

from ...._utils._cells._table import NamedColumns
from ...._utils._cells._types import MISSING, cell_text
from ...._utils._typing import BoolArray, IntArray
from ._arrays import InputTable

_ANSWERS = {
    **dict.fromkeys(("1", "+1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "-1", "0.0", "-1.0", "false", "no"), False),
}


def read_pairs(
    table: InputTable,
    n_rows: int,
    ids: Sequence[object] | None = None,
    other: tuple[int, Sequence[object] | None] | None = None,
    *,
    is_array: bool = False,
    may_change: bool = False,
) -> tuple[IntArray, BoolArray]:
    r"""Return the pairs that have been answered, by row number, and which of them are similar.

    `table` has the columns i and j, row numbers from 0 of the data, and similar: 1 or 0, +1 or -1,
    true or false, yes or no; empty if the pair has not been answered. Other columns are ignored.
    If the data have `ids`, and the table the columns id_i and id_j, these name the rows, wherever
    they are now; an array (`is_array`) has no ids. `other` has the number of rows and the ids of a
    second table, if j and id_j are about its rows. Two answers about one pair that differ are
    refused, unless they `may_change`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from seraph._apps.cli._tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pairs.csv"
    ...     _ = path.write_text("i,j,similar\n0,1,yes\n0,2,\n3,2,no\n")
    ...     table = read_table(path)
    >>> pairs, similar = read_pairs(table, n_rows=4)
    >>> pairs.tolist(), similar.tolist()
    ([[0, 1], [3, 2]], [True, False])
    """
    if not isinstance(table, NamedColumns):
        raise ValueError(
            f"{table.path}: an array has no column names, and pairs need the columns i, j and "
            "similar: save them as a .csv."
        )
    answers = [_text(cell) for cell in table.cells("similar").to_pylist()]
    empty = {text.casefold() for text in MISSING}
    answered = [row for row, answer in enumerate(answers) if answer not in empty]
    for row in answered:
        if answers[row] not in _ANSWERS:
            raise ValueError(
                f"{table.path}, {table.place(row)}: similar is {answers[row]!r}. It must be 1 "
                "or 0, +1 or -1, true or false, yes or no, or empty if the pair has not been "
                "answered."
            )
    by_id = {"id_i", "id_j"} <= set(table.names)
    if by_id and ids is None:
        by_id = not is_array and not _are_row_numbers(table)
    if by_id and ids is None:
        raise ValueError(
            f"{table.path}: its columns id_i and id_j name the rows, which may have moved since: "
            "say which column of the data holds these ids (--id)."
        )
    sides = []
    tables = [(n_rows, ids), (n_rows, ids) if other is None else other]
    for name, (size, names) in zip(("id_i", "id_j") if by_id else "ij", tables, strict=True):
        raw = table.cells(name).to_pylist()
        if by_id and names is not None:
            row_of = _rows_of(names)
            sides.append([_named_row(raw[row], name, row, table, row_of) for row in answered])
        else:
            cells = [_text(cell) for cell in raw]
            sides.append([_row_number(cells[row], name, row, table, size) for row in answered])
    pairs = np.array(sides, dtype=np.intp).T.reshape(-1, 2)
    similar = np.array([_ANSWERS[answers[row]] for row in answered], dtype=bool)
    if not may_change:
        _check_consistent(table, pairs if other else np.sort(pairs, axis=1), similar, answered)
    return pairs, similar


def _check_consistent(
    table: NamedColumns, pairs: IntArray, similar: BoolArray, rows: Sequence[int]
) -> None:
    """Refuse two answers about one pair that contradict each other, by their lines."""
    first: dict[tuple[int, ...], int] = {}
    for number, pair in enumerate(map(tuple, pairs.tolist())):
        before = first.setdefault(pair, number)
        if similar[before] != similar[number]:
            raise ValueError(
                f"{table.path}, {table.place(rows[before])} and {table.place(rows[number])}: the "
                f"rows {pair[0]} and {pair[1]} are called similar and dissimilar. Remove one of "
                "the two answers."
            )


def _are_row_numbers(table: NamedColumns) -> bool:
    """Return whether the ids are i and j, as `seraph ask` writes them for rows without a name."""
    return all(
        name in table.names
        and [cell_text(cell) for cell in table.cells(name).to_pylist()]
        == [cell_text(cell) for cell in table.cells(f"id_{name}").to_pylist()]
        for name in "ij"
    )


def _text(cell: object) -> str:
    missing = cell is None or (isinstance(cell, float) and isnan(cell))
    return "" if missing else str(cell).strip().casefold()


def _rows_of(ids: Sequence[object]) -> dict[str, int]:
    row_of: dict[str, int] = {}
    for row, cell in enumerate(ids):
        text = "" if _text(cell) in MISSING else cell_text(cell)
        if not text or row_of.setdefault(text, row) != row:
            trouble = f"{text!r}, as row {row_of[text]} does" if text else "no id"
            raise ValueError(
                f"Row {row} of the data has {trouble}: pairs find their rows by id, so each row "
                "needs its own."
            )
    return row_of


def _named_row(
    cell: object, name: str, row: int, table: NamedColumns, row_of: dict[str, int]
) -> int:
    text = cell_text(cell)
    if text not in row_of:
        raise ValueError(
            f"{table.path}, {table.place(row)}: {name} is {text!r}, and no row of the data "
            "has this id. Correct it, or remove the pair."
        )
    return row_of[text]


def _row_number(text: str, name: str, row: int, table: NamedColumns, n_rows: int) -> int:
    whole = text.removesuffix(".0")
    if not whole.isdecimal() or not whole.isascii() or len(whole) > 18:
        raise ValueError(
            f"{table.path}, {table.place(row)}: {name} is {text!r}, which is not a row "
            f"number from 0 to {n_rows - 1}."
        )
    number = int(whole)
    if number >= n_rows:
        raise ValueError(
            f"{table.path}, {table.place(row)}: {name} is {number}, but the data only have "
            f"rows 0 to {n_rows - 1}."
        )
    return number
