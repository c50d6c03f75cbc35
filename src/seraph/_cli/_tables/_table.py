"""Tables that were read: their numbers, labels and cells."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..._typing import Array
from ._numbers import MISSING, Faults, check_finite, largest_allowed, to_numbers

# Labels that mean "unlabeled".
_UNLABELED = {*MISSING, "-1", "-1.0"}
# Names that an error lists; the rest are counted.
_LISTED = 12


class InputTable(Protocol):
    """A table that a command reads, from any kind of file."""

    @property
    def path(self) -> Path:
        """File it was read from."""
        ...

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the columns; None for an array, whose columns have no names."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Return features as numbers: a data frame, or an array if the columns have no names.

        Parameters
        ----------
        names : sequence of str, optional
            Columns to return, in this order; all by default.
        without : collection of str, optional
            Columns to leave out.
        """
        ...

    def labels(self, name: str | None) -> Array | None:
        """Return the label of each row, text or None; None if the table has no labels."""
        ...

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        ...


@dataclass(frozen=True)
class NamedColumns:
    """A table with named columns.

    Parameters
    ----------
    path : Path
        File it was read from.
    columns : dict of str to pyarrow.ChunkedArray
        Columns by name.
    decimal_comma : bool, default=False
        Whether numbers in text have a decimal comma.
    """

    path: Path
    columns: dict[str, Any]
    decimal_comma: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Return features as a data frame of numbers; see `InputTable`."""
        import pandas as pd

        for name in without:
            self.cells(name)
        if names is None:
            names = [name for name in self.columns if name not in without]
            self._check_named(names)
        else:
            self._check_present(names)
        if not names:
            raise ValueError(
                f"{self.path}: no column is left as a feature: drop fewer, or add some."
            )
        faults = Faults()
        points = {
            name: to_numbers(name, self.columns[name], faults, decimal_comma=self.decimal_comma)
            for name in names
        }
        _check(self.path, faults)
        return pd.DataFrame(points)

    def labels(self, name: str | None) -> Array | None:
        """Return the label of each row, text or None; see `InputTable`."""
        return None if name is None else as_text(self.cells(name).to_pylist())

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        if name not in self.columns:
            raise ValueError(f"{self.path} has no column {name!r}.{_advice(name, self.names)}")
        return self.columns[name]

    def _check_named(self, names: Sequence[str]) -> None:
        for number, name in enumerate(self.columns, start=1):
            if name == f"unnamed_{number}" and name in names:
                raise ValueError(
                    f"{self.path}: column {number} has no name (saved row numbers?): leave "
                    f"it out with --drop {name}, or name it."
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
    """A table from an array: its columns have no names, and labels are separate.

    Parameters
    ----------
    path : Path
        File it was read from.
    X : ndarray of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,), optional
        Labels.
    """

    path: Path
    X: Array
    y: Array | None = None

    names = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def points(self, names: Sequence[str] | None = None, without: Collection[str] = ()) -> Any:
        """Return features as an array; see `InputTable`."""
        for name in without:
            self.cells(name)
        if names is not None and len(names) != self.X.shape[1]:
            raise ValueError(
                f"{self.path} has {self.X.shape[1]} columns, but the model was fitted on "
                f"{len(names)}: pass those, in the order of the fit."
            )
        width: type[np.floating[Any]] = np.float32 if self.X.dtype == np.float32 else np.float64
        points = np.ascontiguousarray(self.X, dtype=width)
        faults = Faults()
        if not np.all(np.abs(points) <= largest_allowed(points)):
            for number, values in enumerate(points.T):
                check_finite(f"{number}", values, faults)
        _check(self.path, faults)
        return points

    def labels(self, name: str | None) -> Array | None:
        """Return the label of each row, text or None; see `InputTable`."""
        if name is not None and (name != "y" or self.y is None):
            self.cells(name)
        return None if self.y is None else as_text(self.y.tolist())

    def cells(self, name: str) -> Any:
        """Refuse: an array has no named columns."""
        raise ValueError(
            f"{self.path} is an array, whose columns have no names: there is no column {name!r}. "
            "(For labels, save arrays X and y in an .npz file.)"
        )


def _check(path: Path, faults: Faults) -> None:
    try:
        faults.check()
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def as_text(cells: Sequence[Any]) -> Array:
    """Return labels as text, None for unlabeled rows.

    Examples
    --------
    >>> as_text(["a", "", "-1", 3.0, float("nan")])
    array(['a', None, None, '3', None], dtype=object)
    """
    labels = np.empty(len(cells), dtype=object)
    for row, cell in enumerate(cells):
        if cell is None:
            continue
        whole = isinstance(cell, float) and cell.is_integer()
        text = str(int(cell) if whole else cell).strip()
        if text not in _UNLABELED:
            labels[row] = text
    return labels


def _advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    if len(names) <= _LISTED:
        return f" It has {', '.join(repr(known) for known in names)}."
    return ""
