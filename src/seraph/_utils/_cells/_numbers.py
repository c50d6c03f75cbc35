"""Read columns as numbers, and collect what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import FloatArray
from ._dates import parse_dates
from ._types import LISTED, UNKNOWN, is_date, is_text, listed, without_empty

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
# Sums of squares must not overflow: values stay this far below the root of the largest number.
_SAFETY = 1e-4


@dataclass
class Faults:
    """What is wrong with columns, by kind of fault: a detail for each column name."""

    text: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    commas: dict[str, str] = field(default_factory=dict)
    ambiguous: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    infinite: dict[str, str] = field(default_factory=dict)
    # Text columns with few distinct values, which may be categories.
    few_values: set[str] = field(default_factory=set)
    # Text columns most of whose cells are numbers, and whether these have few distinct values.
    mostly_numbers: dict[str, bool] = field(default_factory=dict)
    # Not errors: how ambiguous separators were read, to report.
    readings: dict[str, str] = field(default_factory=dict)
    # The mark before decimals, of each column of text that holds numbers.
    decimals: dict[str, str] = field(default_factory=dict)
    # Whether the table is for a model, which fixes what becomes of a column.
    for_model: bool = False
    # Whether each row of the table is a line of its file.
    lines: bool = False

    def place(self, row: int) -> str:
        """Name a row in a message."""
        return place(row, lines=self.lines)

    def check(self, path: Path) -> None:
        """Raise an error about the first kind of fault found, naming the columns that have it."""
        for columns, what, way_out in (
            (
                self.commas,
                "decimal commas",
                "write the numbers with a point. (The command line has --decimal-comma.)",
            ),
            (
                self.ambiguous,
                "it is not clear whether commas separate thousands or decimals",
                "write the numbers without a separator between thousands, and with a point before "
                "decimals.",
            ),
            (self.dates, "dates", self._no_numbers(self.dates)),
            (self.text, "no numbers", self._no_numbers(self.text)),
            (
                self.missing,
                "missing values",
                "the model was learned from rows without any. Fill them in, or leave these rows "
                "out.",
            ),
            (
                self.infinite,
                "infinite or too large values",
                "correct them."
                if self.for_model
                else f"correct them, or leave the column out (drop={list(self.infinite)}).",
            ),
        ):
            if columns:
                raise ValueError(f"{path}: {what} in {listed(columns)}: {way_out}")

    def _no_numbers(self, columns: dict[str, str]) -> str:
        if self.for_model:
            return "the model was learned from numbers there. Correct them."
        names = list(columns)[:LISTED]
        return (
            "a distance needs numbers. Use categories as columns of 0 and 1 "
            f"(onehot={names}), or leave the column out (drop={names})."
        )


def place(row: int, *, lines: bool) -> str:
    """Name a row of a table: by its line in the file, after the header, or by its number from 0.

    Examples
    --------
    >>> place(3, lines=True), place(3, lines=False)
    ('line 5', 'row 3')
    """
    return f"line {row + 2}" if lines else f"row {row}"


def to_numbers(
    name: str,
    column: Any,
    faults: Faults,
    *,
    decimal_comma: bool = False,
    semicolons: bool = False,
    mark: str | None = None,
) -> FloatArray:
    """Return a pyarrow column as floats; if that fails, add to `faults`.

    Parameters
    ----------
    name : str
        Name of the column.
    column : pyarrow.ChunkedArray
        Its cells.
    faults : Faults
        Collects what is wrong, and how separators were read.
    decimal_comma : bool, default=False
        Whether numbers in text have a decimal comma.
    semicolons : bool, default=False
        Whether semicolons separate the cells, as where commas are decimal.
    mark : {".", ","}, optional
        The mark before decimals, where it is known: what a cell means then depends on no other.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers; empty if the column holds none.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        column = _parse(name, column, faults, decimal_comma, semicolons, mark)
        if column is None:
            return np.zeros(0)
    elif not _is_numeric(column.type):
        wrong = faults.dates if is_date(column.type) else faults.text
        wrong[name] = f"{column.type}"
        return np.zeros(0)
    width = pa.float32() if pa.types.is_float32(column.type) else pa.float64()
    values: FloatArray = pc.cast(column, width, safe=False).to_numpy()
    check_finite(name, values, faults)
    return values


def _is_numeric(kind: Any) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_integer,
            pa.types.is_floating,
            pa.types.is_boolean,
            pa.types.is_decimal,
            pa.types.is_null,
        )
    )


def _parse(
    name: str, column: Any, faults: Faults, decimal_comma: bool, semicolons: bool, mark: str | None
) -> Any:
    """Return text as numbers, null for empty cells; None, and a fault, if a cell is neither."""
    points = mark == "." if mark else not decimal_comma
    if points and (numbers := _plain_numbers(column)) is not None:
        faults.decimals[name] = "."
        return numbers
    column = without_empty(column)
    unknown = pc.is_in(pc.utf8_lower(column), value_set=pa.array(UNKNOWN, type=column.type))
    known = pc.if_else(unknown, pa.scalar(None, type=column.type), column)
    numbers, wrong = _plain_numbers(known) if points else None, unknown
    if numbers is None:
        if mark is None:
            if decimal_comma:
                mark = _decimal_mark(name, known, faults)
            else:
                mark = _decimal_point(name, known, faults, semicolons=semicolons)
        if mark is None:
            return None
        text = _with_points(name, known, faults, mark)
        no_number = pc.fill_null(pc.invert(pc.match_substring_regex(text, _NUMBER)), False)
        wrong = pc.or_(unknown, no_number)
        numbers = None if _any(no_number) else pc.cast(text, pa.float64())
    if numbers is None or (_any(unknown) and numbers.null_count == len(numbers)):
        faults.readings.pop(name, None)
        _add_text_fault(name, column, known, wrong, faults, decimal_comma=mark == ",")
        return None
    faults.decimals[name] = mark or "."
    if _any(unknown):
        faults.readings[name] = f"{_first(column, unknown, faults)} is read as missing"
    return numbers


def _plain_numbers(column: Any) -> Any:
    """Return text as numbers if all of it is; pyarrow accepts less than `_NUMBER`, but faster."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None


def _any(cells: Any) -> bool:
    return bool(pc.any(cells).as_py())


def _first(column: Any, cells: Any, faults: Faults) -> str:
    """Return the first of the cells, with its place, for a message."""
    row = pc.index(cells, True).as_py()
    value = column[row].as_py()
    return f"{value if len(value) <= 30 else value[:27] + '...'!r} in {faults.place(row)}"


def _grouped(column: Any, mark: str) -> Any:
    """Cells such as 1,000 or 12,345,678.9, in which the mark may separate thousands."""
    pattern = rf"^[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+([{_OTHER[mark]}]\d*)?$"
    return pc.match_substring_regex(column, pattern)


def _decimal(column: Any, mark: str) -> Any:
    """Cells such as 1,5 or 0,125, in which the mark can only come before decimals."""
    pattern = rf"^[+-]?(\d+[{mark}]\d*|[{mark}]\d+)([eE][+-]?\d+)?$"
    number = pc.match_substring_regex(column, pattern)
    return pc.and_(number, pc.invert(_grouped(column, mark)))


_OTHER = {",": ".", ".": ","}


def _decimal_point(name: str, column: Any, faults: Faults, *, semicolons: bool) -> str | None:
    """Return a point; None, and a fault, if it is not clear that commas separate thousands."""
    grouped = _grouped(column, ",")
    if semicolons and _any(grouped) and not _any(_decimal(column, ",")):
        # Where semicolons separate the cells, commas usually are decimal.
        thousands = pc.and_(grouped, pc.invert(_one_group(column)))  # 1,234,567 or 1,234.5
        if not _any(pc.or_(thousands, _decimal(column, "."))):
            faults.ambiguous[name] = (
                f"{_first(column, grouped, faults)}, in a table with semicolons"
            )
            return None
    return "."


def _decimal_mark(name: str, column: Any, faults: Faults) -> str | None:
    """Return the mark before decimals of a column in a table with decimal commas.

    None, and a fault, if the column has both, or if a comma may separate thousands.
    """
    points, commas, one_group = _decimal(column, "."), _decimal(column, ","), _one_group(column)
    whole = pc.match_substring_regex(column, r"^[+-]?\d+$")
    if _any(points) and not _any(commas):
        return "."
    if _any(points):
        faults.ambiguous[name] = (
            f"{_first(column, points, faults)}, but {_first(column, commas, faults)}"
        )
        return None
    if _any(one_group) and _any(whole) and not _any(commas):
        faults.ambiguous[name] = (
            f"{_first(column, one_group, faults)}, but {_first(column, whole, faults)}"
        )
        return None
    return ","


def _one_group(column: Any) -> Any:
    """Cells such as 1,234, in which the comma may be either separator."""
    return pc.match_substring_regex(column, r"^[+-]?[1-9]\d{0,2},\d{3}$")


def _with_points(name: str, column: Any, faults: Faults, mark: str) -> Any:
    """Return numbers in text with points before decimals, and no separators of thousands.

    True and false become 1 and 0.
    """
    lowered = pc.utf8_lower(column)
    if pc.all(pc.match_substring_regex(lowered, "^(true|false)$")).as_py():
        return pc.if_else(pc.equal(lowered, "true"), "1", "0")
    other = _OTHER[mark]
    grouped = _grouped(column, other)
    if _any(grouped) and (mark == "," or not _any(_decimal(column, ","))):
        faults.readings[name] = f"{_first(column, grouped, faults)} is read as thousands"
        column = pc.if_else(grouped, pc.replace_substring(column, other, ""), column)
    if mark == ".":
        return column
    # A point that separates no thousands makes no number.
    return pc.replace_substring(pc.replace_substring(column, ".", ".."), ",", ".")


# A text column with at most so many distinct values, each in about three rows or more, holds
# categories: with fewer rows each, they are rather names.
_FEW_VALUES, _ROWS_EACH = 50, 3


def _add_text_fault(
    name: str, column: Any, known: Any, wrong: Any, faults: Faults, *, decimal_comma: bool
) -> None:
    """Say which kind of text a column holds: decimal commas, dates, categories or other text."""
    count = pc.sum(wrong).as_py()
    others = f" and {count - 1} more" if count > 1 else ""
    detail = f"{_first(column, wrong, faults)}{others}"
    decimal = _decimal(known, ",")
    both = pc.match_substring_regex(known, r"^[+-]?[1-9]\d{0,2}([.]\d{3})+,\d+$")  # 1.234,5
    commas = pc.or_(pc.or_(decimal, both), _grouped(known, ","))
    if not decimal_comma and _any(decimal) and pc.all(commas.filter(wrong)).as_py():
        faults.commas[name] = f"{_first(column, decimal, faults)}{others}"
    elif parse_dates(column) is not None:
        faults.dates[name] = detail
    else:
        faults.text[name] = detail
        n_known = len(column) - column.null_count
        fewest = 1 if column.null_count else 2  # an empty cell is a category, too
        most = min(_FEW_VALUES, (n_known + 2) // _ROWS_EACH)
        few = fewest <= pc.count_distinct(column).as_py() <= most
        if 2 * count < n_known:
            faults.mostly_numbers[name] = few
        elif few:
            faults.few_values.add(name)


def largest_allowed(values: FloatArray) -> float:
    """Return the largest value that a feature of this type may have."""
    return float(_SAFETY * np.sqrt(np.finfo(values.dtype).max))


def check_finite(name: str, values: FloatArray, faults: Faults) -> None:
    """Add the missing and the infinite values of a column to `faults`."""
    missing = np.isnan(values)
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        faults.missing[name] = f"{int(missing.sum())}, the first in {faults.place(first)}"
    infinite = ~missing & ~(np.abs(values) <= largest_allowed(values))
    if infinite.any():
        first = int(np.flatnonzero(infinite)[0])
        faults.infinite[name] = f"{values[first]:g} in {faults.place(first)}"
