"""The rows that ``seraph ask`` asks about: what is shown of them, and digests of their cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...tables._words import cell_text

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
    from ...tables._table import InputTable


def shown_table(points: InputTable, described: Path | None) -> InputTable:
    """Return the table with ids and columns to show, which an array has in another file."""
    from ...tables._files import read_table

    if described is None:
        return points
    if points.names is not None:
        raise ValueError(
            f"--table is for arrays: {points.path} has columns of its own to show and to name its "
            "rows by."
        )
    table = read_table(described)
    if table.names is None or table.n_rows != points.n_rows:
        kind = f"{table.n_rows} rows" if table.names is not None else "no named columns"
        raise ValueError(
            f"{described} has {kind}, and {points.path} has {points.n_rows} rows: --table needs "
            "named columns and one line for each row."
        )
    return table


def what_to_show(
    table: InputTable, wanted: Iterable[str], id_column: str | None
) -> tuple[list[str], Path | None]:
    """Return the columns and the folder to show."""
    names = table.names or ()
    folders = [name for name in wanted if Path(name).is_dir()]
    columns = [name for name in wanted if name not in folders]
    for name in columns:
        if name not in names:
            raise ValueError(
                f"--show {name}: there is neither such a folder nor such a column. Columns: "
                f"{', '.join(names or ['none'])}."
            )
    if not columns and not folders and not names:
        raise ValueError(
            "An array has nothing to show: name a folder (--show), or a table of its rows "
            "(--table)."
        )
    if not columns and not folders:
        columns = [name for name in names if name != id_column]
    return columns, Path(folders[0]) if folders else None


class Column:
    """A column, of one table or of two, whose cells become text when they are shown.

    `sizes` are its cells in units of their spread; None if they are no numbers.
    """

    def __init__(self, name: str, tables: Sequence[InputTable]) -> None:
        from ...tables._table import NamedColumns

        self._cells = [cell for table in tables for cell in table.cells(name).to_pylist()]
        numbers = [table.numbers(name) for table in tables if isinstance(table, NamedColumns)]
        self._numbers: FloatArray | None = None
        self.sizes: FloatArray | None = None
        known = [part for part in numbers if part is not None and not np.isnan(part).all()]
        if len(known) == len(tables):
            self._numbers = np.concatenate(known)
            self.sizes = self._numbers / (float(np.nanstd(self._numbers)) or 1.0)
            self._digits = _digits(self._numbers)

    def __getitem__(self, row: int) -> str:
        number = math.nan if self._numbers is None else float(self._numbers[row])
        whole = math.isnan(number) or number.is_integer()
        return cell_text(self._cells[row]) if whole else f"{number:.{self._digits}g}"


def _digits(numbers: FloatArray) -> int:
    """Return how many digits tell different numbers apart: 4 to 15, the rest is rounding.

    With d digits, numbers below 10^e are rounded to multiples of 10^(e - d), so those that differ
    by that much stay different.
    """
    values = np.unique(numbers[np.isfinite(numbers)])
    if len(values) < 2:
        return 4
    largest = np.maximum(np.abs(values[1:]), np.abs(values[:-1]))
    needed = np.floor(np.log10(largest)) + 1.0 - np.log10(np.diff(values))
    return int(np.clip(np.ceil(needed.max()), 4, 15))
