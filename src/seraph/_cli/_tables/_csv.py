"""Parse text tables into named columns of text; name the line of whatever cannot be parsed.

pyarrow parses the cells. Python's csv module finds the separator and the line of a row with too
few or too many cells: pyarrow counts rows, which are not lines once a cell holds a line end.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from itertools import islice
from typing import Any

_SEPARATORS = (",", ";", "\t", "|")
# A longer name means that the file is not a table, or that a quotation mark was never closed.
_LONGEST_NAME = 10_000
# Bytes that are decoded or parsed at a time.
_BLOCK = 1 << 24


def parse_csv(data: bytes, separator: str | None = None) -> dict[str, Any]:
    r"""Return the columns of a text table by name, as pyarrow arrays of text.

    Parameters
    ----------
    data : bytes
        Content of the file.
    separator : str, optional
        Separator between cells; by default, found from the first two rows.

    Returns
    -------
    dict of str to pyarrow.ChunkedArray
        Columns, in order. No cell is read as a number or as missing yet.

    Examples
    --------
    >>> parse_csv(b"a;b\n1,5;x\n")["a"].to_pylist()
    ['1,5']
    """
    data = _checked(data)
    if separator is None:
        separator = separator_of(data)
    columns = _columns(data, separator)
    if not columns:
        raise ValueError("the file is empty: it needs a header line and rows.")
    names = [column[0].as_py().strip() for column in columns]
    _check_names(names)
    return {
        name or f"unnamed_{number}": column.slice(1)
        for number, (name, column) in enumerate(zip(names, columns, strict=True), start=1)
    }


def _checked(data: bytes) -> bytes:
    """Return text without a byte-order mark; refuse what is not UTF-8 with its line."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ValueError("the text is UTF-16: save it as UTF-8.")
    if b"\0" in data:
        raise ValueError(
            "it contains NUL bytes, which a text table never does: is it another format?"
        )
    start = _first_bad_byte(data)
    if start is not None:
        line = data.count(b"\n", 0, start) + 1
        raise ValueError(
            f"line {line} is not UTF-8 (byte 0x{data[start]:02x}): save the table as UTF-8."
        )
    if data.count(b'"') % 2:
        raise ValueError("a quotation mark is opened and never closed: add the closing one.")
    return data.removeprefix(codecs.BOM_UTF8)


def _first_bad_byte(data: bytes) -> int | None:
    """Return the place of the first byte that is not UTF-8, decoding a block at a time."""
    start = 0
    while start < len(data):
        block = data[start : start + _BLOCK]
        last = start + len(block) == len(data)
        try:
            start += codecs.utf_8_decode(block, "strict", last)[1]
        except UnicodeDecodeError as error:
            return start + error.start
    return None


def _rows(data: bytes, separator: str) -> Any:
    """Return Python's csv reader, whose ``line_num`` is the current line."""
    # Lines are decoded as they are read: the whole text would take twice the memory.
    lines = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", newline="")
    return csv.reader(lines, delimiter=separator)


def separator_of(data: bytes) -> str:
    r"""Return the separator that gives both of the first two rows the most cells.

    Examples
    --------
    >>> separator_of(b"a;b\n1,5;2,5\n")
    ';'
    """
    best = (False, 1, ",")
    for separator in _SEPARATORS:
        try:
            rows = list(islice((row for row in _rows(data, separator) if row), 2))
        except (csv.Error, UnicodeDecodeError):
            continue
        if rows and len(rows[0]) > 1:
            found = (len(rows[-1]) == len(rows[0]), len(rows[0]), separator)
            best = max(best, found, key=lambda f: f[:2])
    return best[2]


def _columns(data: bytes, separator: str) -> list[Any]:
    """Return all cells, including the header, column by column."""
    import pyarrow as pa

    try:
        header: list[str] = next((row for row in _rows(data, separator) if row), [])
    except csv.Error as error:
        raise ValueError(f"the header cannot be read ({error}).") from None
    if not header:
        return []
    if not data.endswith(b"\n"):
        data += b"\n"  # pyarrow ignores a header without a line end
    try:
        return _parsed(data, separator, len(header), _BLOCK)
    except pa.ArrowInvalid:
        pass  # perhaps only because a row is longer than a block
    try:
        return _parsed(data, separator, len(header), max(len(data), _BLOCK))
    except pa.ArrowInvalid as error:
        raise ValueError(_ragged(data, separator, len(header)) or f"{error}.") from None


def _parsed(data: bytes, separator: str, width: int, block: int) -> list[Any]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(
        pa.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            use_threads=False,
            block_size=min(block, 2**31 - 1),
            autogenerate_column_names=True,
        ),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(
            column_types={f"f{k}": pa.string() for k in range(width)},
            strings_can_be_null=False,
        ),
    )
    columns: list[Any] = table.columns
    return columns


def _ragged(data: bytes, separator: str, width: int) -> str | None:
    """Describe the first row with too few or too many cells."""
    rows = _rows(data, separator)
    try:
        for row in rows:
            if row and len(row) != width:
                return (
                    f"line {rows.line_num} has {len(row)} cells, but the header has {width}: "
                    "correct that line (a cell that contains the separator needs quotation marks)."
                )
    except csv.Error as error:
        return f"line {rows.line_num} cannot be read ({error})."
    return None


def _check_names(names: list[str]) -> None:
    named = [name for name in names if name]
    if any(len(name) > _LONGEST_NAME for name in named):
        raise ValueError("the first line is too long for a header: is this a text table?")
    numbers = [
        name for name in named if re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", name)
    ]
    if numbers and len(numbers) == len(named) and not all(map(str.isdecimal, numbers)):
        raise ValueError(
            f"the first line holds numbers ({numbers[0]}, ...) instead of column names: add a "
            "header line."
        )
    check_distinct(named)


def check_distinct(names: list[str]) -> None:
    """Refuse two columns with the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"two columns are called {name!r}: rename one of them.")
        seen.add(name)
