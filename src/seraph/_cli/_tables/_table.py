"""A table that was read: asked for numbers, for labels, or for cells as they are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._numbers import MISSING, Faults, check_finite, largest, numbers

# Cells that say "this row has no label", besides those that are empty.
_UNLABELLED = {*MISSING, "-1", "-1.0"}
# Names that an error lists in full.
_LISTED = 12


class Table(Protocol):
    """What the commands ask of a table, whatever file it came from."""

    @property
    def path(self) -> Path:
        """Where it was read."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of its columns; None for an array, whose columns have none."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Features as numbers: a data frame, or an array if the columns have no names.

        Parameters
        ----------
        names : sequence of str, optional
            The columns, in this order; all by default.
        without : collection of str, optional
            Columns to leave out.
        """
        ...

    def labels(self, name: str | None) -> NDArray | None:
        """A label for each row, text or None; None in place of all if there are none to give."""
        ...

    def cells(self, name: str) -> Any:
        """The cells of a column, as they are."""
        ...


@dataclass(frozen=True)
class NamedColumns:
    """A table whose columns have names.

    Parameters
    ----------
    path : Path
        Where it was read.
    columns : dict of str to pyarrow.ChunkedArray
        Its columns.
    decimal_comma : bool, default=False
        Whether numbers that stand as text have a comma for their point.
    """

    path: Path
    columns: dict[str, Any]
    decimal_comma: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Features as a data frame of numbers; see `Table`."""
        import pandas as pd

        for name in without:
            self.cells(name)
        if names is None:
            names = [name for name in self.columns if name not in without]
            self._check_named(names)
        else:
            self._check_present(names)
        if not names:
            raise ValueError(f"{self.path}: no column is left to serve as a feature.")
        faults = Faults()
        found = [
            numbers(name, self.columns[name], faults, decimal_comma=self.decimal_comma)
            for name in names
        ]
        _check(self.path, faults)
        points = np.empty((self.n_rows, len(names)), dtype=np.result_type(*found), order="F")
        for number, values in enumerate(found):
            points[:, number] = values
        return pd.DataFrame(points, columns=list(names), copy=False)

    def labels(self, name: str | None) -> NDArray | None:
        """A label for each row, text or None; see `Table`."""
        return None if name is None else as_text(self.cells(name).to_pylist())

    def cells(self, name: str) -> Any:
        """The cells of a column, as they are."""
        if name not in self.columns:
            raise ValueError(f"{self.path} has no column {name!r}.{_advice(name, self.names)}")
        return self.columns[name]

    def _check_named(self, names: Sequence[str]) -> None:
        for number, name in enumerate(self.columns, start=1):
            if name == f"unnamed_{number}" and name in names:
                raise ValueError(
                    f"{self.path}: column {number} has no name, as when row numbers were saved "
                    f"along with the table: leave it out with --drop {name}, or name it."
                )

    def _check_present(self, names: Sequence[str]) -> None:
        absent = [name for name in names if name not in self.columns]
        if absent:
            shown = ", ".join(repr(name) for name in absent[:_LISTED])
            more = f" and {len(absent) - _LISTED} more" if len(absent) > _LISTED else ""
            raise ValueError(
                f"{self.path} lacks {len(absent)} of the {len(names)} columns that the model was "
                f"fitted on: {shown}{more}.{_advice(absent[0], self.names)}"
            )


@dataclass(frozen=True)
class PlainArray:
    """A table that is an array: columns have numbers, and labels come beside it.

    Parameters
    ----------
    path : Path
        Where it was read.
    X : ndarray of shape (n_rows, n_features)
        The features.
    y : ndarray of shape (n_rows,), optional
        The labels.
    """

    path: Path
    X: NDArray
    y: NDArray | None = None

    names = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Features as an array; see `Table`."""
        for name in without:
            self.cells(name)
        if names is not None and len(names) != self.X.shape[1]:
            raise ValueError(
                f"{self.path} has {self.X.shape[1]} columns, and the model was fitted on "
                f"{len(names)}."
            )
        width = np.float32 if self.X.dtype == np.float32 else np.float64
        points = np.ascontiguousarray(self.X, dtype=width)
        faults = Faults()
        if not np.all(np.abs(points) <= largest(points)):
            for number, values in enumerate(points.T):
                check_finite(f"{number}", values, faults)
        _check(self.path, faults)
        return points

    def labels(self, name: str | None) -> NDArray | None:
        """A label for each row, text or None; see `Table`."""
        if name is not None and (name != "y" or self.y is None):
            self.cells(name)
        return None if self.y is None else as_text(self.y.tolist())

    def cells(self, name: str) -> Any:
        """Refuse: an array has no column of any name."""
        raise ValueError(
            f"{self.path} is an array, whose columns have no names: there is no column {name!r}. "
            "(Labels come in an .npz file with arrays X and y.)"
        )


def _check(path: Path, faults: Faults) -> None:
    try:
        faults.check()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def as_text(cells: Sequence[Any]) -> NDArray:
    """Labels as text, None where there is none.

    Examples
    --------
    >>> as_text(["a", "", "-1", 3.0, float("nan")])
    array(['a', None, None, '3', None], dtype=object)
    """
    labels = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        if isinstance(cell, float) and cell.is_integer():
            cell = int(cell)
        text = str(cell).strip()
        if text not in _UNLABELLED:
            labels[row] = text
    return labels


def _advice(name: str, names: Sequence[str]) -> str:
    """The nearest of the names, or all of them if they are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    if len(names) <= _LISTED:
        return f" It has {', '.join(repr(known) for known in names)}."
    return ""
