"""Read row numbers and numbers that may have been rounded; compare marked rows with classes."""

from __future__ import annotations

from contextlib import suppress
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._typing import Array
from ._validation import shown

# From here on, a float may be another whole number, rounded.
ROUNDED = 2.0**53
_WORDS = {1: "one", 2: "two", 3: "three", 4: "four"}


def refuse_rounded(what: str, name: Any) -> None:
    """Refuse a name that may have been another one before it became a float."""
    if isinstance(name, float | np.floating) and abs(float(name)) >= ROUNDED:
        raise ValueError(
            f"{what} has the row {shown(name)}, a float. From 2**53 on, floats are rounded, so it "
            "may be another row: pass whole numbers (in pandas, Int64 if some are missing) or "
            "text."
        )


def check_shape(what: str, given: Array, width: int, of: str) -> None:
    if given.ndim != 2 or given.shape[1] != width:
        raise ValueError(
            f"{what} must have shape (n_{what}, {width}), {_WORDS[width]} {of} each; got shape "
            f"{given.shape}."
        )


def row_numbers(what: str, given: ArrayLike, width: int, n: int) -> Array:
    """Check that `given` holds `width` columns of numbers of rows from 0 to n - 1."""
    rows = as_array(what, given)
    if rows.size == 0:
        return np.empty((0, width), dtype=np.intp)
    check_shape(what, rows, width, "row numbers")
    if rows.dtype.kind == "O":
        plain = np.array(rows.tolist())
        rows = plain if plain.dtype.kind in "iu" else rows
    if rows.dtype.kind not in "iu":
        numbers = as_floats(rows, "fO")
        if not np.all(numbers == np.floor(numbers)):
            raise ValueError(
                f"{what} must hold row numbers, which are whole numbers; got "
                f"{shown(_first_other(rows))}. If rows have names, say which: pass rows=names, or "
                "a DataFrame, whose index has them."
            )
        rows = numbers
    outside = (rows < 0) | (rows >= n)
    if rows.dtype.kind == "f" and not outside.any() and rows.max() >= ROUNDED:
        refuse_rounded(what, rows.max())
    if outside.any():
        at = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"{what}[{at}] is {tuple(rows[at].tolist())}, but there are only rows 0 to {n - 1}."
        )
    return rows.astype(np.intp)


def as_array(what: str, values: ArrayLike) -> Array:
    """Return an array; refuse rows of several lengths."""
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} must have rows of one length: {error}") from error


def _first_other(values: Array) -> object:
    """Return the first value that is no whole number."""
    for value in values.ravel().tolist():
        if isinstance(value, bool) or not isinstance(value, Real) or value % 1 != 0:
            return value
    return values.dtype


def as_floats(values: Array, kinds: str) -> Array:
    """Return numbers as floats; NaN for all if they are of other kinds, or some are no numbers."""
    if values.dtype.kind in kinds:
        with suppress(TypeError, ValueError, OverflowError):
            return values.astype(np.float64)
    return np.full(values.shape, np.nan)


def implied_by_classes(pairs: Array, likeness: Array, codes: Array) -> Array:
    """Say which marked pairs have two rows of known class; refuse marks that contradict them.

    Parameters
    ----------
    pairs : ndarray of int of shape (k, 2)
        The pairs.
    likeness : ndarray of shape (k,)
        How likely each is similar.
    codes : ndarray of int of shape (n,)
        Class code of each row; -1 for an unknown class.

    Examples
    --------
    >>> pairs, codes = np.array([[0, 1], [1, 2]]), np.array([4, 4, -1])
    >>> implied_by_classes(pairs, np.array([1.0, 0.0]), codes)
    array([ True, False])
    """
    first, second = codes[pairs[:, 0]], codes[pairs[:, 1]]
    implied: Array = (first >= 0) & (second >= 0)
    clash = implied & (likeness == np.where(first == second, 0.0, 1.0))
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        i, j = pairs[at].tolist()
        similar = likeness[at] == 1.0
        marked, said = ("similar", "different") if similar else ("dissimilar", "the same")
        raise ValueError(
            f"The pair ({i}, {j}) is marked {marked}, but y gives its rows {said} "
            "class(es). Correct one of the two."
        )
    return implied
