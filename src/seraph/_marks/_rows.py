"""The rows of a table, by number or by name.

Row numbers are right only for the very table that they were counted in. Names stay right when a
table is sorted, split or cut.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from .._points import to_memory
from .._utils._typing import Array
from .._utils._validation import check_read, shown

_WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


@dataclass(frozen=True)
class Rows:
    """The number of rows of a table, and their names."""

    n: int
    names: Array | None = None  # all different; None if the rows go by number
    source: str = "rows"  # where the names come from, for messages

    @classmethod
    def of(cls, rows: Any) -> Rows:
        """Read them from a number of rows, from names, or from the table itself."""
        if isinstance(rows, int | np.integer) and not isinstance(rows, bool):
            if not 0 <= rows <= sys.maxsize:
                raise ValueError(f"rows must be a number of at least 0; got {shown(rows)}.")
            return cls(int(rows))
        check_read("X", rows)
        if is_frame(rows):
            return cls(len(rows.index), _names("The index", as_column(rows.index)), "the index")
        if is_table(rows):
            return cls(_num_samples(rows))
        names: Any = None
        if not isinstance(rows, str | bytes):  # a word is not a list of letters
            with suppress(TypeError):
                names = as_column(rows)
                names = names if hasattr(names, "tolist") else objects(list(names))
        if getattr(names, "ndim", 0) != 1:
            raise TypeError(
                "rows must say which table the marks are about: a number of rows, one name per "
                f"row, or the table itself; got {shown(rows)}."
            )
        return cls(len(names), _names("rows", names))

    def numbers(self, named: ArrayLike, what: str = "pairs", width: int = 2) -> Array:
        """Return row numbers for names or numbers of rows; -1 for a name that is not there.

        `named` has the shape (k, width); messages call it `what`.

        """
        table = as_array(what, to_memory(named)) if self.names is None else as_table(named)
        if table.size == 0:
            return np.empty((0, width), dtype=np.intp)
        if table.ndim != 2 or table.shape[1] != width:
            kind = "row numbers" if self.names is None else "names of rows"
            raise ValueError(
                f"{what} must have shape (n_{what}, {width}), {_WORDS[width]} {kind} each; got "
                f"shape {table.shape}."
            )
        if self.names is None:
            return _row_numbers(what, table, self.n)
        row_of = {name: row for row, name in enumerate(self.names.tolist())}
        rows = [row_of.get(name, -1) for name in table.ravel().tolist()]
        return np.array(rows, dtype=np.intp).reshape(-1, width)

    def require(self, named: ArrayLike, what: str = "pairs", width: int = 2) -> Array:
        """Do the same, and refuse names that are not there."""
        rows = self.numbers(named, what, width)
        if (rows < 0).any():
            raise ValueError(f"{self.absent(named, rows, what)} Correct the name.")
        return rows

    def absent(self, named: ArrayLike, rows: Array, what: str) -> str:
        """Say which name is not there first, and how many of `named` have such a name."""
        missing = np.any(rows < 0, axis=1)
        at = int(np.flatnonzero(missing)[0])
        name = as_table(named)[at][rows[at] < 0][0]
        names = [] if self.names is None else self.names.tolist()
        twin = next(
            (f" It has {shown(n)}, of another type." for n in names if str(n) == str(name)), ""
        )
        if isinstance(name, int | np.integer) and 0 <= name < len(names):
            twin += " (Row numbers need rows=len(X).)"
        return (
            f"{what}[{at}] names row {shown(name)}, which is not in {self.source}; "
            f"{missing.sum()} of {len(missing)} {what} are like that.{twin}"
        )

    def name_rows(self, rows: Array) -> Array:
        """Return the names of some rows, or their numbers if they have none."""
        return rows if self.names is None else plain(self.names)[rows]


def is_frame(X: Any) -> bool:
    """Return whether `X` is a DataFrame of pandas or dask, whose rows have names."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_table(X: Any) -> bool:
    """Return whether `X` has rows and columns."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return len(shape) >= 2
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | np.ndarray)


def _row_numbers(what: str, rows: Array, n: int) -> Array:
    """Check that a table holds numbers of rows from 0 to n - 1."""
    numbers = as_floats(rows, "iufO")
    other = numbers != np.floor(numbers)
    if other.any():
        raise ValueError(
            f"{what} must hold row numbers, which are whole numbers; got "
            f"{shown(rows[other][0])}. If rows have names, say which: pass rows=names, or "
            "a DataFrame, whose index has them."
        )
    outside = ((numbers < 0) | (numbers >= n)).any(axis=1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"{what}[{at}] is {tuple(rows[at].tolist())}, but there are only rows 0 to {n - 1}. "
            "Count from 0, in the table that they are about."
        )
    return numbers.astype(np.intp)


def _names(what: str, column: Any) -> Array:
    """Check that names are there, can be looked up, and differ."""
    names: list[Any] = column.tolist()
    row_of: dict[Hashable, int] = {}
    for row, (name, missing) in enumerate(zip(names, is_unknown(objects(names)), strict=True)):
        try:
            first = row_of.setdefault(name, row)
        except TypeError:
            raise ValueError(
                f"{what} must hold names, such as text or numbers; row {row} has {shown(name)}."
            ) from None
        if missing or first != row:
            trouble = "is missing" if missing else f"{shown(name)} is that of row {first}, too"
            raise ValueError(
                f"{what} must name each row differently, for marks to find it; the name of row "
                f"{row} {trouble}. To go by row number, reset the index, or pass the number of "
                "rows as rows."
            )
    return objects(names)


def is_unknown(values: Array) -> Array:
    """Say which values are NaN, NaT, None or pandas.NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    pandas = sys.modules.get("pandas")  # imported already if anybody passes pandas.NA
    if pandas is not None:
        return np.asarray(pandas.isna(values), dtype=bool)
    unknown = [value is None or bool(value != value) for value in values]  # noqa: PLR0124 (NaN)
    return np.array(unknown, dtype=bool)


def as_column(values: Any) -> Any:
    """Return a column of pandas, polars or pyarrow as an array; anything else as it is.

    Through an array of objects, because numpy would round whole numbers where some are missing.
    """
    values = to_memory(values)
    if hasattr(values, "to_pylist"):  # pyarrow
        return plain(objects(values.to_pylist()))
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return values
    return plain(objects(values.tolist() if hasattr(values, "tolist") else list(values)))


def as_table(values: Any) -> Array:
    """Return a table of names as an array of objects."""
    values = to_memory(values)
    if hasattr(values, "column_names"):  # pyarrow
        return np.column_stack([objects(column.to_pylist()) for column in values.columns])
    return np.asarray(values, dtype=object)


def plain(values: Array) -> Array:
    """Return objects as an array of numbers or of text, if that changes none of them."""
    listed = values.tolist()
    if len({type(value) for value in listed}) != 1:
        return values
    try:
        array = np.array(listed)
    except (TypeError, ValueError, OverflowError):
        return values
    same = array.ndim == 1 and array.dtype.kind in "biufU" and array.tolist() == listed
    return array if same else values


def objects(values: list[Any]) -> Array:
    """Return a list as an array of objects, whatever its elements are."""
    return np.fromiter(values, dtype=object, count=len(values))


def as_array(what: str, values: ArrayLike) -> Array:
    """Return an array; refuse rows of several lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} must have rows of one length: {error}") from error


def as_floats(values: Array, kinds: str) -> Array:
    """Return numbers as floats; NaN for what is not a number, or is of another kind."""
    if values.dtype.kind not in kinds:
        return np.full(values.shape, np.nan)
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    return np.array([_as_float(value) for value in values.ravel()]).reshape(values.shape)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond the range of floats
        return np.inf
    except (TypeError, ValueError):
        return np.nan
