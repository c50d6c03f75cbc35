"""Read the first sheet of a spreadsheet: names in the first row, then one row each."""

from __future__ import annotations

import io
import re
import zipfile
from functools import reduce
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa

from ...._utils._cells._types import typed_column
from ._limits import check_memory

# Bytes of a cell while a sheet is read, over `TIMES`.
_CELL = 16


def spreadsheet_table(data: bytes) -> Any:
    """Return the first sheet of an .xlsx or .ods file as a pyarrow table.

    Rows and columns that are empty at the end are left out. A column of several types becomes
    text.
    """
    try:
        from python_calamine import CalamineWorkbook
    except ImportError as error:
        raise ImportError(
            "Spreadsheets need python-calamine: pip install 'seraph-learn[cli]'."
        ) from error
    _check_extent(data)
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


def _check_extent(data: bytes) -> None:
    """Refuse an .xlsx with a cell so far away that calamine, which makes room for all, aborts."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        if "xl/workbook.xml" not in book.namelist():
            return  # an .ods
        first = ElementTree.fromstring(book.read("xl/workbook.xml")).find(".//{*}sheet")
        ids = [] if first is None else [v for name, v in first.items() if name.endswith("}id")]
        links = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))
        paths = [f"{link.get('Target')}" for link in links if link.get("Id") in ids]
        sheet = b"".join(book.read(f"xl/{path.removeprefix('/xl/')}") for path in paths)
    rows = [int(row) for row in re.findall(rb'[<:]row r="(\d+)"', sheet)] or [1]
    columns = set(re.findall(rb'[<:]c r="([A-Z]+)\d+"[^>/]*>', sheet))  # those with a value
    numbers = [reduce(lambda n, letter: 26 * n + letter - 64, name, 0) for name in columns]
    check_memory(_CELL * (max(rows) - min(rows) + 1) * max(numbers, default=0))
