"""Read columns as numbers, and collect what is wrong with each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..._typing import FloatArray

# Empty cells as R, pandas and databases write them.
MISSING = ("", "NA", "NaN", "nan", "null", "<NA>")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
# Sums of squares must not overflow: values stay this far below the root of the largest number.
_SAFETY = 1e-4
# Columns that an error names; the rest are counted.
_LISTED = 5


@dataclass
class Faults:
    """What is wrong with columns, by kind of fault: a detail for each column name."""

    text: dict[str, str] = field(default_factory=dict)
    commas: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    infinite: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise an error about the first kind of fault found, naming the columns that have it."""
        if self.commas:
            raise ValueError(
                f"decimal commas in {_listed(self.commas)}: read them with --decimal-comma, or "
                "write the numbers with a point."
            )
        if self.text:
            raise ValueError(
                f"no numbers in {_listed(self.text)}: a distance needs numbers. Leave such a "
                f"column out ({_drops(self.text)}; --id if it identifies the rows), or replace "
                "it with numbers, such as a column of 0 and 1 for each of its values."
            )
        if self.missing:
            raise ValueError(
                f"missing values in {_listed(self.missing)}: fill them in (for example, with "
                "the column's mean or median), delete those rows, or leave the column out "
                f"({_drops(self.missing)})."
            )
        if self.infinite:
            raise ValueError(
                f"infinite or too large values in {_listed(self.infinite)}: correct them, or "
                f"leave the column out ({_drops(self.infinite)})."
            )


def _listed(faults: dict[str, str]) -> str:
    shown = [f"{name!r} ({detail})" for name, detail in list(faults.items())[:_LISTED]]
    more = len(faults) - len(shown)
    noun = "column" if len(faults) == 1 else "columns"
    return f"{noun} {', '.join(shown)}" + (f" and {more} more" if more else "")


def _drops(faults: dict[str, str]) -> str:
    shown = [f"--drop {_quoted(name)}" for name in list(faults)[:_LISTED]]
    return " ".join(shown) + (" ..." if len(faults) > len(shown) else "")


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def to_numbers(
    name: str, column: Any, faults: Faults, *, decimal_comma: bool = False
) -> FloatArray:
    """Return a pyarrow column as floats; if that fails, add to `faults`.

    Parameters
    ----------
    name : str
        Name of the column.
    column : pyarrow.ChunkedArray
        Its cells.
    faults : Faults
        Collects what is wrong.
    decimal_comma : bool, default=False
        Whether numbers in text have a decimal comma.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers; empty if the column holds none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _parse(name, column, faults, decimal_comma=decimal_comma)
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
    import pyarrow as pa

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


def _parse(name: str, column: Any, faults: Faults, *, decimal_comma: bool) -> Any:
    """Return text as numbers, null for empty cells; None, and a fault, if a cell is neither."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    empty = pc.is_in(column, value_set=pa.array(MISSING, type=column.type))
    column = pc.if_else(empty, pa.scalar(None, type=column.type), column)
    if decimal_comma:
        column = pc.replace_substring(column, ",", ".")
    lowered = pc.utf8_lower(column)
    truth = pc.is_in(lowered, value_set=pa.array(["true", "false"], type=column.type))
    if pc.all(pc.or_(truth, empty)).as_py() and pc.any(truth).as_py():
        return pc.equal(lowered, "true")
    wrong = pc.invert(pc.match_substring_regex(column, _NUMBER))
    if pc.any(wrong).as_py():
        row = pc.index(wrong, True).as_py()
        value = column[row].as_py()
        count = pc.sum(wrong).as_py()
        comma = not decimal_comma and pc.match_substring_regex(pa.array([value]), _DECIMAL_COMMA)
        others = f" and {count - 1} more" if count > 1 else ""
        detail = f"{_short(value)} in row {row}{others}"
        (faults.commas if comma and comma[0].as_py() else faults.text)[name] = detail
        return None
    return pc.cast(column, pa.float64())


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
