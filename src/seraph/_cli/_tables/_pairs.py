"""Read marked pairs from a table with the columns i, j and similar."""

from __future__ import annotations

from math import isnan

import numpy as np

from ..._typing import BoolArray, IntArray
from ._cells import MISSING
from ._table import InputTable

_ANSWERS = {
    **dict.fromkeys(("1", "+1", "1.0", "true", "yes"), True),
    **dict.fromkeys(("0", "-1", "0.0", "-1.0", "false", "no"), False),
}


def read_pairs(table: InputTable, n_rows: int) -> tuple[IntArray, BoolArray]:
    r"""Return the pairs that have been answered.

    Parameters
    ----------
    table : InputTable
        Table of pairs. i and j are row numbers, from 0, of the data; similar says whether the two
        rows are similar: 1 or 0, +1 or -1, true or false, yes or no. If it is empty, the pair
        has not been answered and is left out. Other columns are ignored.
    n_rows : int
        Number of rows of the data.

    Returns
    -------
    pairs : ndarray of int of shape (n_pairs, 2)
        Row numbers.
    similar : ndarray of bool of shape (n_pairs,)
        Which pairs are similar.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from seraph._cli._tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pairs.csv"
    ...     _ = path.write_text("i,j,similar\n0,1,yes\n0,2,\n3,2,no\n")
    ...     table = read_table(path)
    >>> pairs, similar = read_pairs(table, n_rows=4)
    >>> pairs.tolist(), similar.tolist()
    ([[0, 1], [3, 2]], [True, False])
    """
    if table.names is None:
        raise ValueError(
            f"{table.path}: an array has no column names, and pairs need the columns i, j and "
            "similar: save them as a .csv."
        )
    answers = [_text(cell) for cell in table.cells("similar").to_pylist()]
    answered = [row for row, answer in enumerate(answers) if answer not in MISSING]
    for row in answered:
        if answers[row] not in _ANSWERS:
            raise ValueError(
                f"{table.path}, row {row}: similar is {answers[row]!r}. It must be 1 or 0, +1 or "
                "-1, true or false, yes or no, or empty if the pair has not been answered."
            )
    sides = []
    for name in ("i", "j"):
        cells = [_text(cell) for cell in table.cells(name).to_pylist()]
        sides.append([_row_number(cells[row], name, row, table, n_rows) for row in answered])
    pairs = np.array(sides, dtype=np.intp).T.reshape(-1, 2)
    return pairs, np.array([_ANSWERS[answers[row]] for row in answered], dtype=bool)


def _text(cell: object) -> str:
    missing = cell is None or (isinstance(cell, float) and isnan(cell))
    return "" if missing else str(cell).strip().casefold()


def _row_number(text: str, name: str, row: int, table: InputTable, n_rows: int) -> int:
    whole = text.removesuffix(".0")
    if not whole.isdecimal() or not whole.isascii() or len(whole) > 18:
        raise ValueError(
            f"{table.path}, row {row}: {name} is {text!r}, which is not a row number from 0 to "
            f"{n_rows - 1}."
        )
    number = int(whole)
    if number >= n_rows:
        raise ValueError(
            f"{table.path}, row {row}: {name} is {number}, but the data only have rows 0 to "
            f"{n_rows - 1}."
        )
    return number
