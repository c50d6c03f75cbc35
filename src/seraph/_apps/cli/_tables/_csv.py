"""Parse text tables into named columns of text; name the line of whatever cannot be parsed.

pyarrow parses the cells. Python's csv module finds the separator and the line of a row with too
few or too many cells: pyarrow counts rows, which are not lines once a cell holds a line end.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import csv as arrow_csv

from ._limits import check_columns, check_memory

_SEPARATORS = (",", ";", "\t", "|")
# Characters that no text has, at the beginning of what may not be one.
_CONTROLS = [bytes([k]) for k in range(32) if k not in b"\t\n\r\f"]
_HEAD = 4096
# A longer name means that the file is not a table, or that a quotation mark was never closed.
_LONGEST_NAME = 10_000
# Bytes that are decoded or parsed at a time.
_BLOCK = 1 << 24


def parse_csv(data: bytes, separator: str) -> dict[str, Any]:
    r"""Return the columns of a text table by name, as pyarrow arrays of text, header left out.

    `data` is what `as_utf8` returns. No cell is read as a number or as missing yet.

    Examples
    --------
    >>> parse_csv(b"a;;b\n1,5;x;y\n", ";")["a"].to_pylist()
    ['1,5']
    """
    names = _names(data, separator)
    n_cells = data.count(separator.encode()) + data.count(b"\n")
    check_memory(max(len(data), 8 * n_cells))
    columns = _columns(data, separator, len(names))
    return {name: column.slice(1) for name, column in zip(names, columns, strict=True)}


def _names(data: bytes, separator: str) -> list[str]:
    """Return the names in the header of a text table."""
    try:
        header: list[str] = next((row for row in _rows(data, separator) if row), [])
    except csv.Error as error:
        raise ValueError(f"the header cannot be read ({error}).") from None
    if not header:
        raise ValueError("the file is empty: it needs a header line and rows.")
    names = [name.strip() for name in header]
    _check_names(names)
    return [name or f"unnamed_{number}" for number, name in enumerate(names, start=1)]


def as_utf8(data: bytes, encoding: str = "utf-8") -> bytes:
    """Return a text table as UTF-8 without a byte-order mark; refuse what is no text table."""
    try:
        if codecs.lookup(encoding).name != "utf-8":
            data = data.decode(encoding).encode()
    except LookupError:
        raise ValueError(
            f"--encoding {encoding} is not known: utf-8, latin-1 and cp1252 are, and others "
            "that Python knows."
        ) from None
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
        raise ValueError(f"line {line} is not {encoding} ({error.reason}).") from None
    _check_text(data)
    return data.removeprefix(codecs.BOM_UTF8)


def guess_encoding(data: bytes, other: str | None, path: Path) -> str:
    """Return the encoding of a text table; warn if it is neither UTF-8 nor UTF-16, nor `other`.

    `other` is what a table like it was read as; None takes what Windows uses in Western Europe.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    start = _first_bad_byte(data)
    if start is None or any(control in data[:_HEAD] for control in _CONTROLS):
        return "utf-8"  # or no text, which is refused as such
    if other is not None:
        return other
    try:
        data[start:].decode("cp1252")
        other = "cp1252"
    except UnicodeDecodeError:  # a few bytes have no meaning in cp1252
        other = "latin-1"
    warnings.warn(
        f"{path}: line {_line(data, start)} is not UTF-8 (byte 0x{data[start]:02x}): read as "
        f"{other}. If that is wrong, name the encoding (--encoding).",
        stacklevel=2,
    )
    return other


def _line(data: bytes, place: int) -> int:
    return data.count(b"\n", 0, place) + 1


def _check_text(data: bytes) -> None:
    """Refuse what is no text in UTF-8, or has a quotation mark that never ends."""
    if b"\0" in data:
        raise ValueError(
            "it contains NUL bytes, which a text table never does: is it another format?"
        )
    bad = _first_bad_byte(data)
    if bad is not None:
        raise ValueError(
            f"line {_line(data, bad)} is not UTF-8 (byte 0x{data[bad]:02x}): save the table as "
            "UTF-8."
        )
    if data.count(b'"') % 2:
        raise ValueError("a quotation mark is opened and never closed: add the closing one.")


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
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1:
            found = (len(rows[-1]) == len(rows[0]), len(rows[0]), separator)
            best = max(best, found, key=lambda f: f[:2])
    return best[2]


def _columns(data: bytes, separator: str, width: int) -> list[Any]:
    """Return all cells, including the header, column by column."""
    if len(data) <= _BLOCK and not data.endswith(b"\n"):
        data += b"\n"  # pyarrow ignores a header without a line end
    try:
        return _parsed(data, separator, width, _BLOCK)
    except pa.ArrowInvalid:
        pass  # perhaps only because a row is longer than a block
    try:
        return _parsed(data, separator, width, max(len(data), _BLOCK))
    except pa.ArrowInvalid as error:
        _check_rows(data, separator, width)
        raise ValueError(f"{error}.") from None


def _parsed(data: bytes, separator: str, width: int, block: int) -> list[Any]:
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


def _check_rows(data: bytes, separator: str, width: int) -> None:
    """Refuse the first row with too few or too many cells by its line."""
    rows = _rows(data, separator)
    try:
        for row in rows:
            if row and len(row) != width:
                raise ValueError(
                    f"line {rows.line_num} has {len(row)} cells, but the header has {width}: "
                    "correct that line (a cell that contains the separator needs quotation marks)."
                )
    except csv.Error as error:
        raise ValueError(f"line {rows.line_num} cannot be read ({error}).") from None


def _check_names(names: list[str]) -> None:
    check_columns(len(names))
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


def check_distinct(names: Sequence[str]) -> None:
    """Refuse two columns with the same name."""
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"two columns are called {name!r}: rename one of them.")
