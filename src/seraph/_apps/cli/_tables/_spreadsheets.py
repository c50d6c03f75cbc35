"""Read the first sheet of a spreadsheet: names in the first row, then one row each."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from ...._utils._columns._cells import cell_text
from ._limits import check_unpacked

# A sheet becomes a rectangle from its first cell to its last, empty cells included.
_BYTES_OF_A_CELL = 16
# A cell of an .xlsx file, or a row: its column in letters, and its row.
_PLACE = re.compile(rb"""\br=["']([A-Z]{0,3})([0-9]{1,9})["']""")
# A row of an .ods file, and a cell; each may stand for many.
_ODS_ROW = re.compile(rb"<table:table-row\b([^>]*?)(?:/>|>(.*?)</table:table-row>)", re.DOTALL)
_ODS_CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*?)(/?)>")
_REPEATED = re.compile(rb"""-repeated=["']([0-9]{1,10})["']""")


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
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_unpacked(len(data), sum(entry.file_size for entry in archive.infolist()))
            extent = max(map(_extent, _sheets(archive)), default=0)
            check_unpacked(len(data), _BYTES_OF_A_CELL * extent)
    book = CalamineWorkbook.from_filelike(io.BytesIO(data))
    rows = book.get_sheet_by_index(0).to_python(skip_empty_area=True)
    rows = [row for row in rows if any(cell != "" for cell in row)]
    if not rows:
        raise ValueError("the first sheet is empty: it needs a row of names, then the rows")
    header = [str(name).strip() for name in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) or [() for _ in header]
    names = [name or f"unnamed_{number}" for number, name in enumerate(header, start=1)]
    return pa.Table.from_arrays([_column(cells) for cells in columns], names=names)


def _sheets(archive: zipfile.ZipFile) -> Iterator[bytes]:
    """Yield the XML of the sheets of an .xlsx or .ods file."""
    for name in archive.namelist():
        if name == "content.xml" or name.startswith("xl/worksheets/"):
            yield archive.read(name)


def _extent(sheet: bytes) -> int:
    """Return the number of cells in the rectangle of a sheet: one far cell makes it large."""
    width = height = 0
    if b"<table:table-row" in sheet:
        empty = 0
        for attributes, content in _ODS_ROW.findall(sheet):
            cells = [(_times(text), not closed) for text, closed in _ODS_CELL.findall(content)]
            while cells and not cells[-1][1]:
                cells.pop()
            empty += _times(attributes)
            if cells:  # rows that are empty up to here are part of it
                height, empty = height + empty, 0
                width = max(width, sum(times for times, _ in cells))
        return width * height
    for letters, row in set(_PLACE.findall(sheet)):
        number = 0
        for letter in letters:
            number = 26 * number + letter - 64
        width, height = max(width, number), max(height, int(row))
    return max(width, 1) * height


def _times(attributes: bytes) -> int:
    found = _REPEATED.search(attributes)
    return int(found[1]) if found else 1


def _column(cells: Sequence[Any]) -> Any:
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
    texts = [cell if cell is None or type(cell) is str else cell_text(cell) for cell in known]
    return pa.array(texts, type=pa.string())
