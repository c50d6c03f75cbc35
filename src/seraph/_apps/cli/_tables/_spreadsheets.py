"""Read the first sheet of a spreadsheet: names in the first row, then one row each."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa

from ...._utils._cells._types import typed_column


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
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise ImportError(
            "Spreadsheets need python-calamine: pip install 'seraph-learn[cli]'."
        ) from error
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True)
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError("the first sheet is empty: it needs a row of names, then the rows")
    header = [str(name).strip() for name in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) or [() for _ in header]
    names = [name or f"unnamed_{number}" for number, name in enumerate(header, start=1)]
    known = [[None if cell == "" else cell for cell in cells] for cells in columns]
    return pa.Table.from_arrays(list(map(typed_column, known)), names=names)
