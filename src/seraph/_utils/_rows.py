"""Read row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._typing import Array
from ._validation import shown

_WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


def check_shape(what: str, table: Array, width: int, of: str) -> None:
    """Refuse anything but a table of `width` columns."""
    if table.ndim != 2 or table.shape[1] != width:
        raise ValueError(
            f"{what} must have shape (n_{what}, {width}), {_WORDS[width]} {of} each; got shape "
            f"{table.shape}."
        )


def row_numbers(what: str, table: ArrayLike, width: int, n: int) -> Array:
    """Check that `table` holds `width` columns of numbers of rows from 0 to n - 1."""
    rows = as_array(what, table)
    if rows.size == 0:
        return np.empty((0, width), dtype=np.intp)
    check_shape(what, rows, width, "row numbers")
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
