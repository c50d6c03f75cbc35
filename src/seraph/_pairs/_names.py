"""Match marked pairs to rows by the names of the rows, so that no mark lands on the wrong ones.

Row numbers are right only for the very table that they were counted in. Names stay right when a
table is sorted, split or cut.
"""

from __future__ import annotations

import inspect
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .._sweep import in_memory, is_chunked
from .._typing import Array
from .._validation import shown
from .._warnings import warn
from ._columns import ROUNDED, exact_column, exact_table

Absent = Literal["refuse", "warn", "drop"]


@dataclass(frozen=True)
class RowNames:
    """The names that marked pairs call the rows of a table by.

    Parameters
    ----------
    row_of : dict or None
        The row number of each name; None if the rows go by number.
    source : str
        Where the names come from, for messages.
    absent : {"refuse", "warn", "drop"}
        What to do about pairs that name rows that are not there. A table may be a part of a
        larger one; then such pairs are left out.
    split_by : str or None
        The function of scikit-learn that took this part of the table, if one did.
    """

    row_of: dict[Hashable, int] | None
    source: str = ""
    absent: Absent = "refuse"
    split_by: str | None = None

    @classmethod
    def of(
        cls, X: Any, ids: ArrayLike | None, pairs: ArrayLike | None, absent: Absent = "refuse"
    ) -> RowNames:
        """Find out what `pairs` call the rows of `X`.

        Parameters
        ----------
        X : array-like
            The table. The index of a pandas DataFrame names its rows.
        ids : array-like of shape (n_samples,) or None
            Names of the rows; they come before the index.
        pairs : array-like or None
            The marked pairs. Row numbers are refused if scikit-learn has cut `X` in between.
        absent : {"refuse", "warn", "drop"}, default="refuse"
            What to do about pairs of absent rows. No warning is issued where scikit-learn has
            cut `X`.

        Examples
        --------
        >>> names = RowNames.of([[1.0], [2.0]], ["a", "b"], [["b", "a"]])
        >>> names.rows([["b", "a"]])[0]
        array([[1, 0]])
        """
        n = None if is_chunked(X) else _length(X)  # counting the rows of a dask frame takes long
        split_by = None if pairs is None or n is None else _split_by(pairs, n)
        if ids is not None:
            names, source = _names("ids", _listed(ids)), "ids"
            if n is not None and len(names) != n:
                raise ValueError(f"ids has {len(names)} names for {n} rows: give one per row.")
        elif pairs is not None and is_frame(X):
            names, source = _names("The index of X", X.index.tolist()), "the index of X"
        else:
            if split_by is not None:
                raise ValueError(_REFUSED.format(split_by))
            return cls(None)
        return cls(names, source, absent, split_by)

    @classmethod
    def of_marks(
        cls,
        X: Any,
        ids: ArrayLike | None,
        pairs: ArrayLike | None,
        triplets: ArrayLike | None = None,
    ) -> RowNames | None:
        """Find out what the marks given to ``fit`` call the rows of `X`; None without marks."""
        marks = triplets if pairs is None else pairs
        return None if marks is None else cls.of(X, ids, marks, "warn")

    def rows(
        self, pairs: ArrayLike, what: str = "pairs", width: int = 2
    ) -> tuple[Any, Array | None]:
        """Return the row numbers of named pairs or triplets, and which are kept.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, width)
            What to look up.
        what : str
            Its name, for messages.
        width : int
            Number of rows in each.

        Returns
        -------
        rows : ndarray of int of shape (n_kept, width)
            Row numbers; `pairs` itself if rows go by number.
        kept : ndarray of bool of shape (n_pairs,) or None
            Which pairs have both of their rows; None if all have.
        """
        if self.row_of is None:
            return pairs, None
        named = _rows_of_names(pairs, what, width)
        names = list(self.row_of)
        found = [[self._row(name, names) for name in pair] for pair in named.tolist()]
        rows = np.array(found, dtype=np.intp).reshape(-1, width)
        present = np.all(rows >= 0, axis=1)
        if present.all():
            return rows, None
        self._report_absent(named, rows, present, what)
        return rows[present], present

    def listed(self) -> Any:
        """Return the names in the order of the rows; None if the rows go by number."""
        return None if self.row_of is None else list(self.row_of)

    def names(self, rows: Array) -> Array:
        """Return what the user calls some rows: their names, or their numbers."""
        if self.row_of is None:
            return rows
        all_names = np.empty(len(self.row_of), dtype=object)
        all_names[:] = list(self.row_of)
        try:  # numbers as numbers, text as text
            plain = np.array(all_names.tolist())
        except ValueError:
            return all_names[rows]
        same = plain.ndim == 1 and plain.dtype.kind in "iufU"
        return plain[rows] if same and plain.tolist() == all_names.tolist() else all_names[rows]

    def _row(self, name: Any, names: list[Hashable]) -> int:
        try:
            row = (self.row_of or {}).get(name, -1)
        except TypeError:  # a name that cannot be looked up is no name
            return -1
        # To Python, True is 1: a mask given as pairs would find rows.
        is_flag = isinstance(name, bool | np.bool_)
        return row if is_flag == isinstance(names[row], bool | np.bool_) else -1

    def _report_absent(self, named: Array, rows: Array, present: Array, what: str) -> None:
        """Refuse pairs of absent rows, or say that they are left out."""
        at = int(np.flatnonzero(~present)[0])
        name = named[at][rows[at] < 0][0]
        first = f"{what}[{at}] names row {shown(name)}, which is not in {self.source}"
        absent = int((~present).sum())
        help_ = "Correct the name, or leave the pair out."
        if self.source != "ids":
            help_ += " (X is a DataFrame, so pairs hold labels of its index; for row numbers, "
            help_ += "pass X.index.to_numpy()[pairs].)"
        if self.absent == "refuse" or absent == len(present):
            raise ValueError(f"{first}; {absent} of {len(present)} {what} are like that. {help_}")
        if self.absent == "warn" and self.split_by is None:
            warn(
                f"{absent} of {len(present)} marked {what} are left out, because X does not have "
                f"both of their rows: {first}. {help_}"
            )


_REFUSED = (
    "pairs holds row numbers of the whole X, but sklearn's {} has passed only some of its rows, "
    "so the numbers would mean other rows. Let pairs hold names of rows instead: pass X as a "
    "DataFrame and pairs of its index; or pass ids, one name per row, along with pairs and "
    "pair_labels, which is cut together with X."
)


def is_frame(X: Any) -> bool:
    """Return whether `X` is a pandas DataFrame in memory, whose rows have names."""
    return hasattr(X, "iloc") and hasattr(X, "index") and not is_chunked(X)


def _length(X: Any) -> int:
    try:
        return len(X) if hasattr(X, "__len__") else int(np.shape(X)[0])
    except (TypeError, IndexError):  # a sparse matrix, or nothing that has rows
        return int((getattr(X, "shape", None) or (0,))[0])


def _listed(ids: ArrayLike) -> list[Any]:
    ids = in_memory(ids)
    if isinstance(ids, list | tuple):  # an array would turn numbers among text into text
        return list(ids)
    names = np.asarray(exact_column(ids))
    if names.ndim != 1:
        raise ValueError(f"ids must hold one name per row; got shape {names.shape}.")
    return names.tolist()


def _names(what: str, names: list[Any]) -> dict[Hashable, int]:
    row_of: dict[Hashable, int] = {}
    for row, name in enumerate(names):
        try:
            first = row_of.setdefault(name, row)
        except TypeError:
            raise ValueError(
                f"{what} must hold names, such as text or numbers; row {row} has {shown(name)}."
            ) from None
        _refuse_rounded(what, name)
        missing = name is None or bool(name != name)  # noqa: PLR0124 (NaN, whatever its type)
        if missing or first != row:
            trouble = "is missing" if missing else f"{shown(name)} is that of row {first}, too"
            raise ValueError(
                f"{what} must name each row differently, for pairs to find it; the name of row "
                f"{row} {trouble}."
            )
    return row_of


def _refuse_rounded(what: str, name: Any) -> None:
    """Refuse a name that may have been another one before it became a float."""
    if isinstance(name, float | np.floating) and abs(float(name)) >= ROUNDED:
        raise ValueError(
            f"{what} has the name {shown(name)}, a float. From 2**53 on, floats are rounded, so "
            "it may be the name of another row: pass whole numbers (in pandas, Int64 if some are "
            "missing) or text."
        )


_NUMBERS = {2: "two", 3: "three", 4: "four"}


def _rows_of_names(pairs: ArrayLike, what: str, width: int) -> Array:
    named = exact_table(in_memory(pairs))
    if named.size == 0:
        return np.empty((0, width), dtype=object)
    if named.ndim != 2 or named.shape[1] != width:
        raise ValueError(
            f"{what} must have shape (n_{what}, {width}), {_NUMBERS[width]} names of rows each; "
            f"got shape {named.shape}."
        )
    for name in named.flat:
        _refuse_rounded(what, name)
    return named


def _split_by(pairs: ArrayLike, n: int) -> str | None:
    """Name the function of scikit-learn that passed `pairs` on with only some of the rows.

    Cross-validation passes what is not as long as X unchanged, so numbers of its rows arrive
    with a part of it; nothing in the arguments shows that. But the function that did it is still
    running, and has both the whole X and the very same pairs.
    """
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            names = frame.f_locals
            X = names.get("X")
            if X is not None and _holds(names.values(), pairs):
                if _length(X) != n:
                    _warn_if_cut(pairs, n)
                    return frame.f_code.co_name
                if is_frame(X) and X.index.tolist() != list(range(n)):
                    return f"{frame.f_code.co_name} (without the names in the index of X)"
        frame = frame.f_back
    return None


def _holds(values: Iterable[Any], pairs: ArrayLike) -> bool:
    return any(
        isinstance(value, dict) and any(inner is pairs for inner in value.values())
        for value in values
    )


def _warn_if_cut(pairs: ArrayLike, n: int) -> None:
    if _length(pairs) == n:
        warn(
            "scikit-learn may have dropped marked pairs: it cuts every argument that has as many "
            "entries as X has rows, and there seem to be as many pairs as rows. Add or leave out "
            "a pair."
        )
