"""Read the first sheet of a spreadsheet: names in the first row, then one row each."""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Sequence
from typing import Any

from ._limits import check_unpacked


def spreadsheet_table(data: bytes) -> Any:
    """Return the first sheet of an .xlsx or .ods file as a pyarrow table.

    Parameters
    ----------
    data : bytes
        Content of the file.

    Returns
    -------
    pyarrow.Table
        Columns of numbers, dates, truth values or text. Rows and columns that are empty at the
        end are left out. A column of several types becomes text.
    """
    import pyarrow as pa

    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise ImportError(
            "Spreadsheets need python-calamine: pip install 'seraph-learn[cli]'."
        ) from error
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_unpacked(len(data), sum(entry.file_size for entry in archive.infolist()))
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True)
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError("the first sheet is empty: it needs a row of names, then the rows")
    header = [str(name).strip() for name in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) or [() for _ in header]
    names = [name or f"unnamed_{number}" for number, name in enumerate(header, start=1)]
    return pa.Table.from_arrays([_column(cells) for cells in columns], names=names)


def _column(cells: Sequence[Any]) -> Any:
    import pyarrow as pa

    known = [None if cell == "" else cell for cell in cells]
    kinds = {type(cell) for cell in known if cell is not None}
    if kinds <= {int, float} or kinds == {bool}:
        return pa.array(known, from_pandas=True, type=None if kinds <= {bool} else pa.float64())
    if kinds <= {datetime.date, datetime.datetime}:
        moments = [
            datetime.datetime(cell.year, cell.month, cell.day) if type(cell) is datetime.date
            else cell
            for cell in known
        ]  # fmt: skip
        return pa.array(moments, type=pa.timestamp("s"))
    return pa.array([None if cell is None else _text(cell) for cell in known], type=pa.string())


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)
