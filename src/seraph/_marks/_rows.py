"""The rows of a table, by number or by name.

Row numbers are right only for the very table that they were counted in. Names stay right when a
table is sorted, split or cut.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples

from .._points import to_memory
from .._utils._rows import check_shape, refuse_rounded, row_numbers
from .._utils._typing import Array
from .._utils._validation import shown
from ._columns import exact_column, exact_table, objects


@dataclass(frozen=True)
class Rows:
    """The number of rows of a table, and their names."""

    n: int
    names: Array | None = None  # all different; None if the rows go by number
    source: str = "rows"  # where the names come from, for messages

    @classmethod
    def of(cls, rows: Any) -> Rows:
        """Read them from a number of rows, from names, or from the table itself.

        Examples
        --------
        >>> Rows.of(3), Rows.of([[1.0, 2.0]]).n, Rows.of(["a", "b"]).names.tolist()
        (Rows(n=3, names=None, source='rows'), 1, ['a', 'b'])
        """
        if isinstance(rows, Integral) and not isinstance(rows, bool):
            number = int(rows)
            if not 0 <= number <= sys.maxsize:
                raise ValueError(
                    f"rows must be a number of rows of at least 0; got {shown(number)}."
                )
            return cls(number)
        if is_frame(rows):
            index = exact_column(to_memory(rows.index))
            return cls(len(index), _names("The index", index.tolist()), "the index")
        if is_table(rows):
            return cls(_num_samples(rows))
        names: Any = None
        if not isinstance(rows, str | bytes):  # a word is no list of letters
            with suppress(TypeError):
                given = exact_column(to_memory(rows))
                names = given.tolist() if hasattr(given, "tolist") else list(given)
        if not isinstance(names, list):
            raise TypeError(
                "rows must say which table the marks are about: a number of rows, one name per "
                f"row, or the table itself; got {shown(rows)}."
            )
        return cls(len(names), _names("rows", names))

    def numbers(self, given: ArrayLike, what: str = "pairs", width: int = 2) -> Array:
        """Return row numbers for names or numbers of rows; -1 for a name that is not there.

        `given` has the shape (k, width); messages call it `what`.

        Examples
        --------
        >>> Rows.of(["a", "b"]).numbers([["b", "a"], ["b", "z"]]).tolist()
        [[1, 0], [1, -1]]
        """
        if self.names is None:
            return row_numbers(what, to_memory(given), width, self.n)
        named = exact_table(to_memory(given))
        if named.size == 0:
            return np.empty((0, width), dtype=np.intp)
        check_shape(what, named, width, "names of rows")
        for name in named.flat:
            refuse_rounded(what, name)
        row_of = {_key(name): row for row, name in enumerate(self.names.tolist())}
        found = [_look_up(row_of, name) for name in named.ravel().tolist()]
        return np.array(found, dtype=np.intp).reshape(-1, width)

    def require(self, given: ArrayLike, what: str = "pairs", width: int = 2) -> Array:
        """Do the same, and refuse names that are not there."""
        rows = self.numbers(given, what, width)
        if (rows < 0).any():
            raise ValueError(f"{self.absent(given, rows, what)} Correct the name.")
        return rows

    def absent(self, given: ArrayLike, rows: Array, what: str) -> str:
        """Say which name is not there first, and how many of `given` have such a name."""
        missing = np.any(rows < 0, axis=1)
        at = int(np.flatnonzero(missing)[0])
        name = exact_table(to_memory(given))[at][rows[at] < 0][0]
        names = [] if self.names is None else self.names.tolist()
        twin = next(
            (f" It has {shown(n)}, of another type." for n in names if str(n) == str(name)), ""
        )
        return (
            f"{what}[{at}] names row {shown(name)}, which is not in {self.source}; "
            f"{missing.sum()} of {len(missing)} {what} are like that.{twin}"
        )

    def pair(self, i: int, j: int) -> str:
        """Return the names of two rows, for messages."""
        first, second = self.name_rows(np.array([i, j])).tolist()
        return f"({shown(first)}, {shown(second)})"

    def name_rows(self, rows: Array) -> Array:
        """Return the names of some rows, or their numbers if they have none."""
        if self.names is None:
            return rows
        names = self.names.tolist()
        try:  # numbers as numbers, text as text
            plain = np.array(names)
        except ValueError:
            return self.names[rows]
        same = plain.ndim == 1 and plain.dtype.kind in "iufU" and plain.tolist() == names
        return plain[rows] if same else self.names[rows]


def is_frame(X: Any) -> bool:
    """Return whether `X` is a DataFrame of pandas or dask, whose rows have names."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def is_table(X: Any) -> bool:
    """Return whether `X` has rows and columns."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return len(shape) >= 2
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], list | np.ndarray)


def _key(name: Any) -> Any:
    # True equals 1 in Python, so a mask passed as pairs would find rows.
    return (name,) if isinstance(name, bool | np.bool_) else name


def _look_up(row_of: dict[Hashable, int], name: Any) -> int:
    try:
        return row_of.get(_key(name), -1)
    except TypeError:  # an unhashable value is not a name
        return -1


def _names(what: str, names: list[Any]) -> Array:
    row_of: dict[Hashable, int] = {}
    for row, name in enumerate(names):
        try:
            first = row_of.setdefault(_key(name), row)
        except TypeError:
            raise ValueError(
                f"{what} must hold names, such as text or numbers; row {row} has {shown(name)}."
            ) from None
        refuse_rounded(what, name)
        missing = name is None or bool(name != name)  # noqa: PLR0124 (NaN, whatever its type)
        if missing or first != row:
            trouble = "is missing" if missing else f"{shown(name)} is that of row {first}, too"
            raise ValueError(
                f"{what} must name each row differently, for marks to find it; the name of row "
                f"{row} {trouble}. To go by row number, reset the index, or pass the number of "
                "rows as rows."
            )
    return objects(names)
