"""The rows that ``seraph ask`` asks about: what they are called, and what is shown of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
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


def row_ids(table: InputTable, column: str | None) -> list[str]:
    """Return the name of each row; refuse names that are missing or not unique."""
    if column is None:
        return [str(row) for row in range(table.n_rows)]
    if table.names is None:
        raise ValueError(f"--id {column}: an array has no columns: pass a table with --table.")
    ids = [text_of(cell) for cell in table.cells(column).to_pylist()]
    first: dict[str, int] = {}
    for row, name in enumerate(ids):
        if not name or not name.isprintable():
            raise ValueError(
                f"{table.path}, row {row}: {name!r} in {column!r} cannot name a row: an id is one "
                "line of text."
            )
        if name in first:
            raise ValueError(
                f"{table.path}: rows {first[name]} and {row} have the same id {name!r} in "
                f"{column!r}: ids must be unique. Remove one, or name another column."
            )
        first[name] = row
    return ids


def row_contents(tables: Sequence[InputTable], rows: Sequence[int]) -> list[str]:
    """Return a digest of each of some rows; those of a second table are numbered on."""
    import numpy as np

    from ..ask._row_names import digest

    numbers, start = np.asarray(rows, dtype=np.intp), 0
    found = np.empty(len(numbers), dtype=object)
    for table in tables:
        own = (numbers >= start) & (numbers < start + table.n_rows)
        if own.any():
            found[own] = [*map(digest, _rows_as_bytes(table.take(numbers[own] - start)))]
        start += table.n_rows
    return found.tolist()


def _rows_as_bytes(table: InputTable) -> Iterator[bytes]:
    import numpy as np

    if table.names is None:
        yield from (np.ascontiguousarray(row).tobytes() for row in np.asarray(table.points()))
        return
    # As text: a row that is added may turn a column of whole numbers into one of decimals.
    columns = [map(text_of, table.cells(name).to_pylist()) for name in table.names]
    yield from (repr(cells).encode() for cells in zip(*columns, strict=True))


def what_to_show(
    table: InputTable, wanted: Iterable[str], id_column: str | None
) -> tuple[list[str], Path | None]:
    """Return the columns and the folder to show."""
    columns: list[str] = []
    folder: Path | None = None
    for name in wanted:
        if Path(name).is_dir():
            if folder is not None:
                raise ValueError(f"--show names two folders, {folder} and {name}: choose one.")
            folder = Path(name)
        elif name in (table.names or ()):
            columns.append(name)
        else:
            raise ValueError(
                f"--show {name}: there is neither such a folder nor such a column. Columns: "
                f"{', '.join(table.names or ['none'])}."
            )
    if not columns and folder is None:
        if table.names is None:
            raise ValueError(
                "An array has nothing to show: name a folder (--show), or a table of its rows "
                "(--table)."
            )
        columns = [name for name in table.names if name != id_column]
    return columns, folder


class Column:
    """A column, of one table or of two, whose cells become text when they are shown.

    Parameters
    ----------
    name : str
        Name of the column.
    tables : sequence of InputTable
        The tables.

    Attributes
    ----------
    sizes : ndarray or None
        The cells in units of their spread; None if they are no numbers.
    """

    def __init__(self, name: str, tables: Sequence[InputTable]) -> None:
        import numpy as np

        self._parts = [table.cells(name) for table in tables]
        numbers = [numbers_of(name, table) for table in tables]
        self._numbers: FloatArray | None = None
        self.sizes: FloatArray | None = None
        if all(len(part) for part in numbers):
            self._numbers = np.concatenate(numbers)
            spread = float(np.nanstd(self._numbers))
            self.sizes = self._numbers / (spread or 1.0)

    def __getitem__(self, row: int) -> str:
        first = len(self._parts[0])
        part, place = (0, row) if row < first else (1, row - first)
        text = text_of(self._parts[part][place].as_py())
        number = math.nan if self._numbers is None else float(self._numbers[row])
        return text if math.isnan(number) or number.is_integer() else f"{number:.4g}"


def numbers_of(name: str, table: InputTable) -> FloatArray:
    """Return the numbers of a column; nothing if it has none."""
    import numpy as np

    from ._tables import Faults, to_numbers

    faults = Faults()
    values = to_numbers(name, table.cells(name), faults, decimal_comma=table.decimal_comma)
    return np.zeros(0) if np.isinf(values).any() or np.isnan(values).all() else values


def text_of(cell: Any) -> str:
    """Return a cell as text, empty if it is missing."""
    from ._tables import cell_text

    return "" if cell is None or cell != cell else cell_text(cell).strip()  # noqa: PLR0124 (NaN)
