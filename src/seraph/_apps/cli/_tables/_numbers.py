"""Read columns as numbers, and collect what is wrong with each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...._utils._typing import FloatArray
from ._cells import LISTED, UNKNOWN, is_date, is_text, listed, quoted, without_empty
from ._dates import parse_dates

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_EXPONENT = r"([eE][+-]?\d+)?$"
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
    # Text columns most of whose cells are numbers.
    mostly_numbers: set[str] = field(default_factory=set)
    # No fault, but to be told: how the separators of a column were read.
    readings: dict[str, str] = field(default_factory=dict)
    # Whether the table is for a model, which fixes what becomes of a column.
    for_model: bool = False

    def check(self, path: Path) -> None:
        """Raise an error about the first kind of fault found, naming the columns that have it."""
        wrong = self._first()
        if wrong:
            raise ValueError(f"{path}: {wrong}")

    def _first(self) -> str:
        if self.commas:
            return (
                f"decimal commas in {listed(self.commas)}: read them with --decimal-comma, or "
                "write the numbers with a point."
            )
        if self.ambiguous:
            return (
                f"it is not clear whether commas separate thousands or decimals in "
                f"{listed(self.ambiguous)}: write the numbers without a separator between "
                "thousands, and with a point before decimals."
            )
        if self.dates:
            return (
                f"dates in {listed(self.dates)}: use them as numbers (--dates days), as year, "
                "season and weekday (--dates parts), or leave them out "
                f"({_options('--drop', self.dates)})."
            )
        if self.text and self.for_model:
            return (
                f"no numbers in {listed(self.text)}: the model was learned from numbers there. "
                "Correct them."
            )
        if self.text:
            return (
                f"no numbers in {listed(self.text)}: a distance needs numbers. "
                f"{self._ways_out_of_text()}"
            )
        if self.missing and self.for_model:
            return (
                f"missing values in {listed(self.missing)}: the model was learned from rows "
                "without any. Fill them in, leave these rows out of the table, or learn a model "
                "that fills them in (seraph fit --impute median)."
            )
        if self.missing:
            return (
                f"missing values in {listed(self.missing)}: fill them in (--impute median, or "
                "--impute knn from similar rows), leave those rows out (--impute drop), or leave "
                f"the column out ({_options('--drop', self.missing)})."
            )
        if self.infinite:
            drop = f", or leave the column out ({_options('--drop', self.infinite)})"
            return (
                f"infinite or too large values in {listed(self.infinite)}: correct them"
                f"{'' if self.for_model else drop}."
            )
        return ""

    def _ways_out_of_text(self) -> str:
        few = [name for name in self.text if name in self.few_values]
        many = [name for name in self.text if name not in self.few_values]
        ways = []
        if few:
            ways.append(
                f"Use categories as columns of 0 and 1 ({_options('--onehot', few)}), or leave "
                f"them out ({_options('--drop', few)})."
            )
        if many:
            ways.append(
                f"Leave out {'the others' if few else 'such a column'} "
                f"({_options('--drop', many)}; --id for one that identifies the rows)."
            )
        return " ".join(ways)


def _options(option: str, names: Collection[str]) -> str:
    shown = [f"{option} {quoted(name)}" for name in list(names)[:LISTED]]
    return " ".join(shown) + (" ..." if len(names) > len(shown) else "")


def to_numbers(
    name: str,
    column: Any,
    faults: Faults,
    *,
    decimal_comma: bool = False,
    semicolons: bool = False,
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

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers; empty if the column holds none.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if is_text(column.type):
        column = _parse(name, column, faults, decimal_comma=decimal_comma, semicolons=semicolons)
    elif is_date(column.type):
        faults.dates[name] = f"{column.type}"
        column = None
    elif not _is_numeric(column.type):
        faults.text[name] = f"{column.type}"
        column = None
    if column is None:
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
    name: str, column: Any, faults: Faults, *, decimal_comma: bool, semicolons: bool
) -> Any:
    """Return text as numbers, null for empty cells; None, and a fault, if a cell is neither."""
    if not decimal_comma and (plain := _plain_numbers(column)) is not None:
        return plain
    column = without_empty(column)
    if not decimal_comma and (plain := _plain_numbers(column)) is not None:
        return plain
    lowered = pc.utf8_lower(column)
    truth = pc.is_in(lowered, value_set=pa.array(["true", "false"], type=column.type))
    if pc.all(pc.or_(truth, pc.is_null(column))).as_py() and pc.any(truth).as_py():
        return pc.equal(lowered, "true")
    unknown = pc.fill_null(pc.is_in(lowered, value_set=pa.array(UNKNOWN, type=column.type)), False)
    if pc.any(unknown).as_py():
        rest = pc.if_else(unknown, pa.scalar(None, type=column.type), column)
        others = Faults()
        read = _parse(name, rest, others, decimal_comma=decimal_comma, semicolons=semicolons)
        if read is not None and read.null_count < len(read):
            faults.readings |= others.readings
            faults.readings[name] = f"{_Separators(column).first(unknown)} is read as missing"
            return read
    separators = _Separators(column)
    if decimal_comma:
        column = _with_decimal_commas(name, separators, faults)
    elif pc.any(separators.grouped(",")).as_py():
        column = _with_grouping_commas(name, separators, faults, semicolons=semicolons)
    if column is None:
        return None
    wrong = pc.invert(pc.match_substring_regex(column, _NUMBER))
    if pc.any(wrong).as_py():
        _add_text_fault(name, separators, wrong, faults, decimal_comma=decimal_comma)
        return None
    return pc.cast(column, pa.float64())


def _plain_numbers(column: Any) -> Any:
    """Return text as numbers if all of it is; pyarrow accepts less than `_NUMBER`, but faster."""
    try:
        return pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return None


class _Separators:
    """Points and commas in a column of text: which cells have them, and in which role."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def matches(self, pattern: str) -> Any:
        return pc.match_substring_regex(self.column, pattern)

    def grouped(self, mark: str) -> Any:
        """Cells such as 1,000 or 12,345,678.9, in which the mark may separate thousands."""
        other = _OTHER[mark]
        return self.matches(rf"^[+-]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+([{other}]\d*)?$")

    def one_group(self, mark: str) -> Any:
        """Cells such as 1,000, in which the mark may also come before three decimals."""
        return self.matches(rf"^[+-]?[1-9]\d{{0,2}}[{mark}]\d{{3}}$")

    def decimal(self, mark: str) -> Any:
        """Cells such as 1,5 or 0,125, in which the mark can only come before decimals."""
        number = self.matches(rf"^[+-]?(\d+[{mark}]\d*|[{mark}]\d+){_EXPONENT}")
        return pc.and_(number, pc.invert(self.grouped(mark)))

    def any(self, cells: Any) -> bool:
        return bool(pc.any(cells).as_py())

    def first(self, cells: Any) -> str:
        """Return the first of the cells, with its row, for a message."""
        row = pc.index(cells, True).as_py()
        return f"{_short(self.column[row].as_py())} in row {row}"

    def ungrouped(self, mark: str) -> Any:
        """Return the column with points before decimals and no separators of thousands."""
        whole = pc.replace_substring(self.column, mark, "")
        return pc.if_else(
            self.grouped(mark), pc.replace_substring(whole, _OTHER[mark], "."), self.column
        )


_OTHER = {",": ".", ".": ","}


def _with_grouping_commas(
    name: str, cells: _Separators, faults: Faults, *, semicolons: bool
) -> Any:
    """Read commas between groups of three digits as thousands, unless other cells disagree."""
    if cells.any(cells.decimal(",")):
        return cells.column  # a fault: these are decimal commas
    grouped = cells.grouped(",")
    proof = pc.or_(
        pc.and_(grouped, pc.invert(cells.one_group(","))),  # 1,234,567 or 1,234.5
        cells.decimal("."),
    )
    if semicolons and not cells.any(proof):
        # Where semicolons separate the cells, commas usually are decimal.
        faults.ambiguous[name] = f"{cells.first(grouped)}, in a table with semicolons"
        return None
    faults.readings[name] = f"{cells.first(grouped)} is read as thousands"
    return cells.ungrouped(",")


def _with_decimal_commas(name: str, cells: _Separators, faults: Faults) -> Any:
    """Read commas as decimal, and points between groups of three digits as thousands."""
    with_comma = cells.matches(",")
    one_group = cells.one_group(",")
    whole = cells.matches(r"^[+-]?\d+$")
    if cells.any(one_group) and cells.any(whole) and not cells.any(cells.decimal(",")):
        faults.ambiguous[name] = f"{cells.first(one_group)}, but {cells.first(whole)}"
        return None
    column = cells.column
    if cells.any(cells.grouped(".")) and not cells.any(cells.decimal(".")):
        faults.readings[name] = f"{cells.first(cells.grouped('.'))} is read as thousands"
        column = cells.ungrouped(".")
    return pc.if_else(with_comma, pc.replace_substring(column, ",", "."), column)


# A text column with at most so many distinct values, each in about three rows or more, holds
# categories: with fewer rows each, they are rather names.
_FEW_VALUES, _ROWS_EACH = 50, 3


def _add_text_fault(
    name: str, cells: _Separators, wrong: Any, faults: Faults, *, decimal_comma: bool
) -> None:
    """Say which kind of text a column holds: decimal commas, dates, categories or other text."""
    row = pc.index(wrong, True).as_py()
    count = pc.sum(wrong).as_py()
    others = f" and {count - 1} more" if count > 1 else ""
    detail = f"{_short(cells.column[row].as_py())} in row {row}{others}"
    decimal = cells.decimal(",")
    commas = pc.or_(decimal, cells.grouped(","))
    if not decimal_comma and cells.any(decimal) and pc.all(commas.filter(wrong)).as_py():
        faults.commas[name] = f"{cells.first(decimal)}{others}"
    elif parse_dates(cells.column) is not None:
        faults.dates[name] = detail
    else:
        faults.text[name] = detail
        distinct = pc.count_distinct(cells.column).as_py()
        n_known = len(cells.column) - cells.column.null_count
        if 2 * count < n_known:
            faults.mostly_numbers.add(name)
            return
        fewest = 1 if cells.column.null_count else 2  # an empty cell is a category, too
        if fewest <= distinct <= min(_FEW_VALUES, (n_known + 2) // _ROWS_EACH):
            faults.few_values.add(name)


def _short(value: str) -> str:
    return repr(value if len(value) <= 30 else value[:27] + "...")


def largest_allowed(values: FloatArray) -> float:
    """Return the largest value that a feature of this type may have."""
    return float(_SAFETY * np.sqrt(np.finfo(values.dtype).max))


def check_finite(name: str, values: FloatArray, faults: Faults) -> None:
    """Add the missing and the infinite values of a column to `faults`."""
    missing = np.isnan(values)
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        faults.missing[name] = f"{int(missing.sum())}, the first in row {first}"
    infinite = ~missing & ~(np.abs(values) <= largest_allowed(values))
    if infinite.any():
        first = int(np.flatnonzero(infinite)[0])
        faults.infinite[name] = f"{values[first]:g} in row {first}"
