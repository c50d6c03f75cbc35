"""How a column is read: settled once, by the rows of a fit, and then cell by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from .._utils._optional import Late
from .._utils._typing import Array, BoolArray, FloatArray, IntArray
from ._columns import Column
from ._dates import ISO, parse_dates, settle_dates, without_never
from ._numbers import Settled, in_text, number_in, settle_numbers
from ._words import MISSING, UNKNOWN, cell_text, is_missing

pa, pc = Late("pyarrow"), Late("pyarrow.compute")
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*|(-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])0*")
# A point that separates no thousands, in a number without commas and units.
_DECIMAL_POINT = r"\.([0-9]{0,2}|[0-9]{4,}|[0-9]*[eE].*)$|^[+-]?(0[0-9]*|[0-9]{4,})?\."
_FIRST_DAY, _LAST_DAY = 18000101, 21991231


def read_column(how: Column, cells: Any) -> tuple[Array, BoolArray]:
    """Return the values of a column, and which cells are missing because they do not fit.

    The value of a cell depends on no other cell.
    """
    wrong = np.zeros(len(cells), dtype=bool)
    if how.use == "categories":
        return categories_of(cells), wrong
    if how.use == "dates":
        if holds(cells) != "dates":
            return _by_text(how, cells, lambda texts: parse_dates(texts, how.form))
        return without_never(pc.cast(cells, pa.timestamp("s"), safe=False).to_numpy()), wrong
    values = None
    if holds(cells) == "numbers":
        width = pa.float32() if pa.types.is_float32(cells.type) else pa.float64()
        values = np.asarray(pc.cast(cells, width, safe=False).to_numpy())
    elif how[:4] == _PLAIN[:4]:
        values = _plain_numbers(column_text(cells))
    if values is None:
        values, wrong = _by_text(
            how,
            cells,
            lambda texts: np.array([number_in(t, how.form, how.unit) for t in texts], dtype=float),
        )
    # The square of a feature is summed.
    too_large = np.abs(values) > 1e-4 * np.sqrt(np.finfo(values.dtype).max)
    return np.where(too_large, np.nan, values), wrong | too_large


def _by_text(
    how: Column, cells: Any, parse: Callable[[list[str]], Array]
) -> tuple[Array, BoolArray]:
    """Read each distinct text of a column once."""
    texts, places = _distinct(column_text(cells), "")
    values = parse(texts)
    fits = [text in how.words or is_missing(text, unknown=True) for text in texts]
    wrong = (values != values) & ~np.array(fits)  # noqa: PLR0124 (NaN, NaT)
    return values[places], wrong[places]


def _distinct(cells: Any, empty: Any) -> tuple[list[Any], IntArray]:
    """Return the distinct cells of a column, `empty` last, and which of them each cell is."""
    encoded = pc.dictionary_encode(cells.combine_chunks())
    known = [*encoded.dictionary.to_pylist(), empty]
    return known, pc.fill_null(encoded.indices, len(known) - 1).to_numpy(zero_copy_only=False)


_PLAIN = Column("numbers")


def settle(
    cells: Any, decimal: str | None = None, *, semicolons: bool = False, dates: bool = True
) -> Settled:
    """Say how a column is read: as numbers, or as dates if these may be; else why not.

    For `decimal` and `semicolons` see `settle_numbers`.
    """
    kind, two_ways = holds(cells), False
    if kind == "dates":
        return Settled(Column("dates", ISO) if dates else None)
    if not kind:
        return Settled()
    low, high = pc.min_max(cells).as_py().values() if kind == "numbers" else (0, 0)
    may_be_days = low is not None and _FIRST_DAY <= low <= high <= _LAST_DAY
    if dates and (kind == "text" or may_be_days):
        settled = settle_dates(text_counts(cells))
        if settled is not None and settled[0]:
            return Settled(Column("dates", settled[0], words=tuple(settled[1])))
        two_ways = settled is not None
    if kind == "numbers" and not pa.types.is_null(cells.type):
        return Settled(_PLAIN)
    text = column_text(cells)
    if decimal != "," and _plain_numbers(text) is not None:
        if not semicolons:
            return Settled(_PLAIN)
        if len(decimals := text.filter(pc.match_substring_regex(text, _DECIMAL_POINT))):
            return Settled(_PLAIN, points=str(decimals[0]))
    found = settle_numbers(text_counts(cells), decimal, semicolons=semicolons)
    return replace(found, two_ways=two_ways and found.column is None)


def read_numbers(cells: Iterable[Any], *, decimal: str | None = None) -> FloatArray | None:
    """Return the cells of a column as numbers, NaN without one; None if it holds something else.

    `decimal` is the mark elsewhere in the table; the column itself is stronger evidence.
    """
    column = typed_column(cells)
    found = settle(column, decimal, dates=False)
    if found.column is None or found.ambiguous:
        return None
    return read_column(found.column, column)[0]


def read_dates(cells: Iterable[Any]) -> Array | None:
    """Return the cells of a column as dates, in UTC; None if it holds something else.

    A column that could have either the day or the month first is not read.
    """
    column = typed_column(cells)
    how = settle(column).column
    return read_column(how, column)[0] if how is not None and how.use == "dates" else None


def typed_column(cells: Iterable[Any]) -> Any:
    """Return cells as a column of pyarrow, not a dictionary; cells of mixed types as text."""
    values: Any = cells if hasattr(cells, "__len__") else list(cells)
    is_column = isinstance(values, pa.ChunkedArray)
    try:
        column = values if is_column else pa.chunked_array([pa.array(values, from_pandas=True)])
        kind = column.type
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if not isinstance(kind, pa.BaseExtensionType):  # such as pandas' intervals and periods
            return column
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    cells = values.to_pylist() if is_column else [*values]
    beside = {cell.strip() for cell in cells if isinstance(cell, str) and "," in cell}
    texts = [
        in_text(cell_text(cell), beside)
        if isinstance(cell, (float, np.floating, Decimal))
        else cell_text(cell)
        for cell in cells
    ]
    return pa.chunked_array([pa.array([text or None for text in texts], pa.string())])


def categories_of(column: Any) -> Array:
    """Return a column as text, NaN where a cell is empty; equal values are equal texts."""
    cells, places = _distinct(column, None)
    if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
        width = column.type.to_pandas_dtype()  # 0.1 is not the double nearest to it
        cells = [None if cell is None else float(str(width(cell))) for cell in cells]
    texts = (np.nan if is_missing(cell) else _category(cell_text(cell)) for cell in cells)
    return np.array([*texts], dtype=object)[places]


def _category(text: str) -> str:
    if text.casefold() in ("true", "false"):
        return text.capitalize()
    match = _WHOLE.fullmatch(text)
    return text if match is None else match[1] or match[2]


def text_counts(column: Any, *, unknown: bool = False) -> dict[str, int]:
    """Return the distinct texts of a column and how many cells have each, without missing ones.

    `unknown` includes words for something unknown.
    """
    return {
        pair["values"]: pair["counts"]
        for pair in pc.value_counts(column_text(column)).to_pylist()
        if pair["values"] is not None and (unknown or pair["values"].casefold() not in UNKNOWN)
    }


def column_text(column: Any) -> Any:
    """Return a column as text without spaces around it, null where a cell is empty."""
    if holds(column) != "text":
        texts = [cell_text(cell) or None for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, type=pa.string())])
    column = pc.utf8_trim_whitespace(column)
    empty = pc.is_in(column, value_set=pa.array(MISSING, type=column.type))
    return _with_nulls(column, empty)


def without_values(column: Any, values: Collection[Any]) -> Any:
    """Return a column with null where a cell has one of the values, as number or as text."""
    column = typed_column(column)
    if not values:
        return column

    text, words = column_text(column), {*map(cell_text, values)}
    known = {number_in(word) for word in words} - {None}
    meant = [
        text
        for text in pc.unique(text).to_pylist()
        if text in words or (text and known and number_in(text) in known)
    ]
    is_missing_value = pc.is_in(text, value_set=pa.array(meant, type=text.type))
    return _with_nulls(column, is_missing_value)


def holds(cells: Any) -> str:
    """Return what a column of pyarrow holds by its type: "text", "dates", "numbers" or ""."""
    kinds = {
        "text": ("string", "large_string", "string_view"),
        "dates": ("date", "timestamp"),
        "numbers": ("integer", "floating", "decimal", "boolean", "null"),
    }
    holds = (
        kind for kind in kinds for of in kinds[kind] if getattr(pa.types, f"is_{of}")(cells.type)
    )
    return next(holds, "")


def _with_nulls(column: Any, missing: Any) -> Any:
    """Return a column with null where `missing`.

    (In slices of text, `if_else` of pyarrow 16 to 22 returns garbage.)
    """
    return column.take(pa.array(np.arange(len(column)), mask=np.asarray(missing)))


def _plain_numbers(text: Any) -> FloatArray | None:
    """Return text as numbers if all of it is; pyarrow reads fewer forms than we, but faster."""
    try:
        return np.asarray(pc.cast(text, pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return None
