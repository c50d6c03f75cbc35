"""How a column is read: settled once, by the rows of a fit, and then cell by cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from .._utils._typing import Array, BoolArray, FloatArray
from ._dates import ISO, parse_dates, settle_dates
from ._numbers import NumberFormat, Settled, in_text, settle_numbers
from ._words import MISSING, UNKNOWN, cell_text, is_missing

_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))\.0*|(-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])0*")
_FIRST_DAY, _LAST_DAY = 18000101, 21991231


@dataclass(frozen=True)
class Reading:
    """How a column is read."""

    kind: str  # "numbers", "dates" or "categories"
    form: str = "."  # the mark before decimals, or the format of dates
    unit: str = ""
    words: Collection[str] = ()  # for nothing, beside those that every table may have

    def read(self, column: Any) -> tuple[Array, BoolArray]:
        """Return the values of a column, and which cells are missing because they do not fit.

        The value of a cell depends on no other cell.
        """
        column = _decoded(column)
        if self.kind == "categories":
            return categories_of(column), np.zeros(len(column), dtype=bool)
        if self.kind == "dates":
            return self._dates(column)
        return self._numbers(column)

    def _numbers(self, column: Any) -> tuple[Array, BoolArray]:
        import pyarrow as pa
        import pyarrow.compute as pc

        form = NumberFormat(self.form, self.unit)
        if is_numeric(column.type):
            width = pa.float32() if pa.types.is_float32(column.type) else pa.float64()
            values = np.asarray(pc.cast(column, width, safe=False).to_numpy())
            wrong = np.zeros(len(values), dtype=bool)
        else:
            values, wrong = self._by_text(
                column, lambda texts: np.array([form.value(t) for t in texts], dtype=float)
            )
        too_large = np.abs(values) > largest_allowed(values)
        return np.where(too_large, np.nan, values), wrong | too_large

    def _dates(self, column: Any) -> tuple[Array, BoolArray]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if is_date(column.type):
            seconds = np.asarray(pc.cast(column, pa.timestamp("s"), safe=False).to_numpy())
            return seconds, np.zeros(len(column), dtype=bool)
        return self._by_text(column, lambda texts: parse_dates(texts, self.form))

    def _by_text(
        self, column: Any, parse: Callable[[list[str]], Array]
    ) -> tuple[Array, BoolArray]:
        """Read each distinct text of a column once."""
        import pyarrow.compute as pc

        text = column_text(column)
        if self == _PLAIN and (numbers := _plain_numbers(text)) is not None:
            return numbers, np.zeros(len(numbers), dtype=bool)
        encoded = pc.dictionary_encode(text.combine_chunks())
        texts = encoded.dictionary.to_pylist()
        values = parse([*texts, ""])  # the last one is for empty cells
        wrong = np.array(
            [
                bool(value != value) and t not in self.words and not is_missing(t, unknown=True)  # noqa: PLR0124 (NaN, NaT)
                for t, value in zip([*texts, ""], values, strict=True)
            ]
        )
        places = pc.fill_null(encoded.indices, len(texts)).to_numpy(zero_copy_only=False)
        return values[places], wrong[places]


_PLAIN = Reading("numbers")


def settle(
    column: Any, decimal: str | None = None, *, semicolons: bool = False, dates: bool = True
) -> tuple[Reading | None, Settled]:
    """Say how a column is read: as numbers, or as dates if these may be; else None, and why.

    For `decimal` and `semicolons` see `settle_numbers`.
    """
    import pyarrow as pa

    column = _decoded(column)
    if is_date(column.type):
        return (Reading("dates", ISO) if dates else None), Settled(None)
    numeric = is_numeric(column.type)
    if not numeric and not is_text(column.type):
        return None, Settled(None)
    if dates and (not numeric or _may_be_days(column)):
        settled = settle_dates(text_counts(column))
        if settled is not None:
            return Reading("dates", settled[0], words=tuple(settled[1])), Settled(None)
    if numeric and not pa.types.is_null(column.type):
        return _PLAIN, Settled(NumberFormat())
    if decimal != "," and _plain_numbers(column_text(column)) is not None:
        return _PLAIN, Settled(NumberFormat())
    settled_numbers = settle_numbers(text_counts(column), decimal, semicolons=semicolons)
    if settled_numbers.form is None:
        return None, settled_numbers
    return Reading(
        "numbers", settled_numbers.form.mark, settled_numbers.form.unit, settled_numbers.words
    ), settled_numbers


def read_numbers(cells: Iterable[Any], *, decimal: str | None = None) -> FloatArray | None:
    """Return the cells of a column as numbers; None if it holds something else.

    Parameters
    ----------
    cells : iterable
        Numbers, or text such as "12", "12,5", "1,000.00", "$35,000" or "920 g".
    decimal : {".", ","}, optional
        The mark before decimals elsewhere in the table; the column itself is stronger evidence.

    Returns
    -------
    ndarray of shape (n_cells,) or None
        Numbers, NaN where a cell is missing, or holds a word among numbers.

    Examples
    --------
    >>> from seraph.tables import read_numbers
    >>> read_numbers(["12,5", "3,75", "n/a"])
    array([12.5 ,  3.75,   nan])
    >>> read_numbers(["1,000", "12.5"])
    array([1000. ,   12.5])
    >>> read_numbers(["red", "green"])
    """
    column = typed_column(cells)
    reading, settled = settle(column, decimal, dates=False)
    if reading is None or settled.ambiguous:
        return None
    return reading.read(column)[0]


def read_dates(cells: Iterable[Any]) -> Array | None:
    """Return the cells of a column as dates; None if it holds something else.

    Parameters
    ----------
    cells : iterable
        Dates, time stamps, text such as 2026-01-31, 31.1.2026 or 1/31/2026, or whole numbers
        such as 20260131.

    Returns
    -------
    ndarray of datetime64[s] or None
        Dates, in UTC if they have a time zone, NaT where a cell is missing. A column that could
        have either the day or the month first is not read.

    Examples
    --------
    >>> from seraph.tables import read_dates
    >>> read_dates(["31.1.2026", "1.2.2026", ""])
    array(['2026-01-31T00:00:00', '2026-02-01T00:00:00',                 'NaT'],
          dtype='datetime64[s]')
    >>> read_dates(["1/2/2026", "2/1/2026"])
    """
    column = typed_column(cells)
    reading, _ = settle(column)
    return reading.read(column)[0] if reading is not None and reading.kind == "dates" else None


def typed_column(cells: Iterable[Any]) -> Any:
    """Return cells as a column of pyarrow; cells of several types become text.

    Parameters
    ----------
    cells : iterable
        A list, a column of pandas or polars, or one of pyarrow, which is returned as it is.

    Returns
    -------
    pyarrow.ChunkedArray
        The column.

    Examples
    --------
    >>> from seraph.tables import typed_column
    >>> typed_column([1.0, None, "a"]).to_pylist(), typed_column([1, None]).to_pylist()
    (['1', None, 'a'], [1, None])
    """
    import pyarrow as pa

    values: Any = cells if hasattr(cells, "__len__") else list(cells)
    is_column = isinstance(values, pa.ChunkedArray)
    try:
        column = values if is_column else pa.chunked_array([pa.array(values, from_pandas=True)])
        kind = getattr(column.type, "value_type", column.type)
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
    """Return a column as text, NaN where a cell is empty; equal values are equal texts.

    Examples
    --------
    >>> [categories_of(typed_column(cells)).tolist() for cells in ([1, None], [1.0], ["1.0"])]
    [['1', nan], ['1'], ['1']]
    """
    import pyarrow as pa

    column = _decoded(column)
    if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
        cells = [None if np.isnan(v) else float(str(v)) for v in column.to_numpy()]
    else:
        cells = column.to_pylist()
    known: dict[Any, Any] = {}
    for cell in cells:
        if (key := (type(cell), cell)) not in known:
            known[key] = np.nan if is_missing(cell) else _category(cell_text(cell))
    return np.array([known[type(cell), cell] for cell in cells], dtype=object)


def _category(text: str) -> str:
    if text.casefold() in ("true", "false"):
        return text.capitalize()
    match = _WHOLE.fullmatch(text)
    return text if match is None else match[1] or match[2]


def text_counts(column: Any, *, unknown: bool = False) -> dict[str, int]:
    """Return the distinct texts of a column and how many cells have each, without missing ones.

    `unknown` includes words for something unknown.
    """
    import pyarrow.compute as pc

    return {
        pair["values"]: pair["counts"]
        for pair in pc.value_counts(column_text(column)).to_pylist()
        if pair["values"] is not None and (unknown or pair["values"].casefold() not in UNKNOWN)
    }


def column_text(column: Any) -> Any:
    """Return a column as text without spaces around it, null where a cell is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if not is_text(column.type):
        texts = [cell_text(cell) or None for cell in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, type=pa.string())])
    column = pc.utf8_trim_whitespace(column)
    empty = pc.is_in(column, value_set=pa.array(MISSING, type=column.type))
    return _with_nulls(column, empty)


def without_values(column: Any, values: Collection[Any]) -> Any:
    """Return a column with null where a cell has one of the values, as number or as text.

    Examples
    --------
    >>> without_values(typed_column([1.5, 99.0]), ["99"]).to_pylist()
    [1.5, None]
    >>> without_values(typed_column(["1e+30", "x"]), ["1e30"]).to_pylist()
    [None, 'x']
    """
    if not values:
        return column
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if is_numeric(column.type) and not pa.types.is_boolean(column.type):
        numbers = [NumberFormat().value(cell_text(value)) for value in values]
        known = pa.array([n for n in numbers if n is not None], type=pa.float64())
        is_missing_value = pc.is_in(pc.cast(column, pa.float64(), safe=False), value_set=known)
    else:
        text, words = pc.cast(column_text(column), pa.string()), {*map(cell_text, values)}
        known = {NumberFormat().value(word) for word in words} - {None}
        meant = [t for t in pc.unique(text).to_pylist() if t in words or
                 (t and known and NumberFormat().value(t) in known)]  # fmt: skip
        is_missing_value = pc.is_in(text, value_set=pa.array(meant, type=pa.string()))
    return _with_nulls(column, is_missing_value)


def is_text(kind: Any) -> bool:
    """Return whether a pyarrow type is text."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def is_date(kind: Any) -> bool:
    """Return whether a pyarrow type is a date or a time stamp."""
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def is_numeric(kind: Any) -> bool:
    """Return whether a pyarrow type is a number, a truth value or nothing."""
    import pyarrow as pa

    types = pa.types
    numbers = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    return bool(numbers or types.is_boolean(kind) or types.is_null(kind))


def _decoded(column: Any) -> Any:
    """Return a column without a dictionary."""
    import pyarrow as pa

    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _with_nulls(column: Any, missing: Any) -> Any:
    """Return a column with null where `missing`.

    (In slices of text, `if_else` of pyarrow 16 to 22 returns garbage.)
    """
    import pyarrow as pa

    return column.take(pa.array(np.arange(len(column)), mask=np.asarray(missing)))


def _may_be_days(column: Any) -> bool:
    """Return whether all numbers of a column may be days such as 20260131."""
    import pyarrow.compute as pc

    low, high = pc.min_max(column).as_py().values()
    return low is not None and _FIRST_DAY <= low <= high <= _LAST_DAY


def _plain_numbers(text: Any) -> FloatArray | None:
    """Return text as numbers if all of it is; pyarrow reads fewer forms than we, but faster."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return np.asarray(pc.cast(text, pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return None


def largest_allowed(values: FloatArray) -> float:
    """Return the largest value that a feature of this type may have: its square is summed."""
    return float(1e-4 * np.sqrt(np.finfo(values.dtype).max))
