"""Columns as numbers; what stands in the way is collected and told by the columns' names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

# What an empty cell looks like when R, pandas or a database has written it.
MISSING = ("", "NA", "NaN", "nan", "null", "<NA>")
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"
_DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
# Sums of squares must stay within the range of the type, so a value may come up to its root only.
_ROOM = 1e-4
# Columns that an error names one by one.
_NAMED = 5


@dataclass
class Faults:
    """What keeps columns from being features, by kind; raised all at once by `check`."""

    text: dict[str, str] = field(default_factory=dict)
    commas: dict[str, str] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    infinite: dict[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Raise the first kind of fault that was found, with all the columns that have it."""
        if self.commas:
            raise ValueError(
                f"decimal commas in {_listed(self.commas)}: read them with --decimal-comma, or "
                "write the numbers with a point."
            )
        if self.text:
            raise ValueError(
                f"no numbers in {_listed(self.text)}: a distance needs numbers. Leave such a "
                f"column out ({_drops(self.text)}; --id for one that names the rows), or put "
                "numbers in its place, such as a column of 0 and 1 for each of its values."
            )
        if self.missing:
            raise ValueError(
                f"missing values in {_listed(self.missing)}: fill them in (with the column's "
                "mean or median, say), delete those rows, or leave the column out "
                f"({_drops(self.missing)})."
            )
        if self.infinite:
            raise ValueError(
                f"infinite or too large values in {_listed(self.infinite)}: correct them, or "
                f"leave the column out ({_drops(self.infinite)})."
            )


def _listed(faults: dict[str, str]) -> str:
    shown = [f"{name!r} ({detail})" for name, detail in list(faults.items())[:_NAMED]]
    more = len(faults) - len(shown)
    noun = "column" if len(faults) == 1 else "columns"
    return f"{noun} {', '.join(shown)}" + (f" and {more} more" if more else "")


def _drops(faults: dict[str, str]) -> str:
    shown = [f"--drop {_quoted(name)}" for name in list(faults)[:_NAMED]]
    return " ".join(shown) + (" ..." if len(faults) > len(shown) else "")


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f'"{name}"'


def numbers(name: str, column: Any, faults: Faults, *, decimal_comma: bool = False) -> NDArray:
    """A column of pyarrow as floats; where that fails, nothing but an entry in `faults`.

    Parameters
    ----------
    name : str
        Its name.
    column : pyarrow.ChunkedArray
        Its cells.
    faults : Faults
        Collects what is wrong.
    decimal_comma : bool, default=False
        Whether text has a comma where a number has its point.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _parsed(name, column, faults, decimal_comma=decimal_comma)
    elif not _is_numeric(column.type):
        faults.text[name] = f"{column.type}"
        column = None
    if column is None:
        return np.zeros(0)
    width = pa.float32() if pa.types.is_float32(column.type) else pa.float64()
    values: NDArray = pc.cast(column, width, safe=False).to_numpy()
    check_finite(name, values, faults)
    return values


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    checks = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_boolean,
        pa.types.is_decimal,
        pa.types.is_null,
    )
    return any(check(kind) for check in checks)


def _parsed(name: str, column: Any, faults: Faults, *, decimal_comma: bool) -> Any:
    """Text as numbers, null where a cell is empty; None, and a fault, where it is no number."""
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


def largest(values: NDArray) -> float:
    """The largest value that a feature of this type may have."""
    return float(_ROOM * np.sqrt(np.finfo(values.dtype).max))


def check_finite(name: str, values: NDArray, faults: Faults) -> None:
    """Note missing and infinite values of a column."""
    missing = np.isnan(values)
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        faults.missing[name] = f"{int(missing.sum())}, the first in row {first}"
    infinite = ~missing & ~(np.abs(values) <= largest(values))
    if infinite.any():
        first = int(np.flatnonzero(infinite)[0])
        faults.infinite[name] = f"{values[first]:g} in row {first}"
