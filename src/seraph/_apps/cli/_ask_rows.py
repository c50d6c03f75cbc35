"""The rows that ``seraph ask`` asks about: what is shown of them, and digests of their cells."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...tables import cell_text

if TYPE_CHECKING:
    from ..ask._arrays import FloatArray
    from ._tables import InputTable


def shown_table(points: InputTable, described: Path | None) -> InputTable:
    """Return the table with ids and columns to show, which an array has in another file."""
    from ._tables import read_table

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


def row_contents(tables: Sequence[InputTable], rows: Sequence[int]) -> list[str]:
    """Return a digest of each of some rows; those of a second table are numbered on."""
    from ..ask._row_names import digest

    numbers, start = np.asarray(rows, dtype=np.intp), 0
    digests = np.empty(len(numbers), dtype=object)
    for table in tables:
        in_table = (numbers >= start) & (numbers < start + table.n_rows)
        if in_table.any():
            digests[in_table] = [
                *map(digest, _rows_as_bytes(table.take(numbers[in_table] - start)))
            ]
        start += table.n_rows
    return digests.tolist()


def _rows_as_bytes(table: InputTable) -> Iterator[bytes]:
    if table.names is None:
        yield from (np.ascontiguousarray(row).tobytes() for row in np.asarray(table.points()))
        return
    # As text: a row that is added may turn a column of whole numbers into one of decimals.
    columns = [map(cell_text, table.cells(name).to_pylist()) for name in table.names]
    yield from (repr(cells).encode() for cells in zip(*columns, strict=True))


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
        from ._tables import FileTable

        self._cells = [cell for table in tables for cell in table.cells(name).to_pylist()]
        numbers = [table.numbers(name) for table in tables if isinstance(table, FileTable)]
        self._numbers: FloatArray | None = None
        self.sizes: FloatArray | None = None
        known = [part for part in numbers if part is not None and not np.isnan(part).all()]
        if len(known) == len(tables):
            self._numbers = np.concatenate(known)
            self.sizes = self._numbers / (float(np.nanstd(self._numbers)) or 1.0)

    def __getitem__(self, row: int) -> str:
        number = math.nan if self._numbers is None else float(self._numbers[row])
        whole = math.isnan(number) or number.is_integer()
        return cell_text(self._cells[row]) if whole else f"{number:.4g}"
