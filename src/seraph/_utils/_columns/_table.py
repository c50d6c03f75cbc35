"""Tables that were read: their features, labels and cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import Array, IntArray
from .._unknown import MINUS_ONE, has_lost_minus_one, warn_of_signs
from .._warnings import warn
from ._cells import MISSING, NO_LABEL, UNKNOWN, and_more, cell_text, is_text, listed, quoted
from ._dates import DateUse, date_features, parse_dates
from ._numbers import Faults, check_finite, largest_allowed, place, to_numbers

# Names that an error lists; the rest are counted.
_LISTED = 12
# Rows of an array to check at a time: it may be mapped from a file larger than the memory.
_ROWS = 1 << 14


@dataclass(frozen=True)
class Reading:
    """How columns that are not complete columns of numbers are read as features.

    Parameters
    ----------
    categories : collection of str
        Columns to return as text, NaN where a cell is empty.
    dates : mapping of str to {"days", "parts"}
        Columns of dates, and what to make of them.
    missing : bool, default=False
        Whether numbers and dates may be missing; they are NaN then.
    may_be_categories : collection of str
        Columns to read as categories if they hold text with few distinct values.
    formats : mapping of str to str
        How dates were written in an earlier table; see `read_dates`.
    decimals : mapping of str to {".", ","}
        The mark before decimals in columns of text of an earlier table.
    """

    categories: Collection[str] = ()
    dates: Mapping[str, DateUse] = field(default_factory=dict)
    missing: bool = False
    may_be_categories: Collection[str] = ()
    formats: Mapping[str, str] = field(default_factory=dict)
    decimals: Mapping[str, str] = field(default_factory=dict)


_NUMBERS_ONLY = Reading()


class Written(NamedTuple):
    """How a text table is written, to write another like it and to name its lines.

    Parameters
    ----------
    separator, encoding, line_end : str
        What separates cells, the encoding, and what ends a line.
    lines : bool, default=False
        Whether each row is a line, and the header the first.
    """

    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    lines: bool = False


_PLAIN = Written()


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
    written : Written
        How the file is written, if it is text.
    """

    path: Path
    columns: dict[str, Any]
    decimal_comma: bool = False
    written: Written = _PLAIN

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> str:
        """Name a row as the file does: by its line, if each row is one."""
        return place(row, lines=self.written.lines)

    def points(
        self,
        names: Sequence[str] | None = None,
        without: Collection[str] = (),
        reading: Reading = _NUMBERS_ONLY,
        faults: Faults | None = None,
        *,
        strict: bool = False,
    ) -> Any:
        """Return features: a data frame, or an array if the columns have no names.

        Parameters
        ----------
        names : sequence of str, optional
            Columns to return, in this order; all by default.
        without : collection of str, optional
            Columns to leave out.
        reading : Reading, optional
            How to read categories, dates and missing values; by default, all are refused.
        faults : Faults, optional
            Collects what is wrong with the columns, and those without numbers are left out.
        strict : bool, default=False
            Whether to raise what is wrong; so it is without `faults`.
        """
        import pandas as pd

        for name in (*without, *reading.categories, *reading.dates):
            self.cells(name)
        if names is None:
            names = [name for name in self.columns if name not in without]
            if strict or faults is None:
                self._check_named(names, for_model=faults is not None and faults.for_model)
        else:
            self._check_present(names)
        if not names:
            raise ValueError(
                f"{self.path}: no column is left as a feature: drop fewer, or add some."
            )
        found = Faults() if faults is None else faults
        found.lines = self.written.lines
        points: dict[str, Any] = {}
        for name in names:
            points |= self._features(name, reading, found)
        if reading.missing:
            found.missing.clear()
        if strict or faults is None:
            found.check(self.path)
        # With commas, it will be read again; with known marks, the fit has said so.
        if found.readings and not found.commas and not reading.decimals:
            warn(f"{self.path}: {listed(found.readings)}. If that is wrong, correct those cells.")
        return pd.DataFrame(points, index=range(self.n_rows), copy=False)

    def _features(self, name: str, reading: Reading, faults: Faults) -> dict[str, Any]:
        """Return the features that a column becomes."""
        column = self.columns[name]
        if name in reading.categories:
            return {name: as_categories(column)}
        if name in reading.dates:
            dates = parse_dates(column, reading.formats.get(name))
            if dates is None:
                faults.text[name] = "no dates such as 2026-01-31"
                return {}
            features = date_features(name, dates, reading.dates[name])
            if np.isnat(dates).any():
                check_finite(name, next(iter(features.values())), faults)
            return features
        numbers = to_numbers(
            name,
            column,
            faults,
            decimal_comma=self.decimal_comma,
            semicolons=self.written.separator == ";",
            mark=None if self.decimal_comma else reading.decimals.get(name),
        )
        if name in faults.few_values and name in reading.may_be_categories:
            del faults.text[name]
            return {name: as_categories(column)}
        return {name: numbers} if len(numbers) else {}

    def labels(self, name: str | None, unlabeled: Collection[str] = ()) -> Array | None:
        """Return the label of each row, text or None; None if the table has no labels.

        Parameters
        ----------
        name : str or None
            Column with the labels.
        unlabeled : collection of str, optional
            More labels that mean that the class is unknown.
        """
        if name is None:
            return None
        cells = self.cells(name)
        if pa.types.is_unsigned_integer(cells.type):
            _warn_of_lost_sign(np.asarray(cells.drop_null()), unlabeled, self.path)
        return as_text(cells.to_pylist(), unlabeled, self.path)

    def take(self, rows: IntArray) -> NamedColumns:
        """Return a table of some of the rows."""
        chosen = pa.array(rows)
        return replace(
            self,
            columns={k: column.take(chosen) for k, column in self.columns.items()},
            written=self.written._replace(lines=False),
        )

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        check_column(name, self.columns, self.path)
        return self.columns[name]

    def _check_named(self, names: Sequence[str], *, for_model: bool) -> None:
        for number, name in enumerate(self.columns, start=1):
            if name == f"unnamed_{number}" and name in names:
                way = "remove it" if for_model else f"leave it out with --drop {name}"
                raise ValueError(
                    f"{self.path}: column {number} has no name (saved row numbers?): {way}, or "
                    "name it."
                )

    def _check_present(self, names: Sequence[str]) -> None:
        absent = [name for name in names if name not in self.columns]
        if absent:
            shown = and_more([repr(name) for name in absent[:_LISTED]], len(absent))
            raise ValueError(
                f"{self.path} lacks {len(absent)} of the {len(names)} columns that the model was "
                f"fitted on: {shown}.{_advice(absent[0], self.names)}"
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
    decimal_comma = False
    written = _PLAIN

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def place(self, row: int) -> str:
        """Name a row by its number."""
        return place(row, lines=False)

    def points(
        self,
        names: Sequence[str] | None = None,
        without: Collection[str] = (),
        reading: Reading = _NUMBERS_ONLY,
        faults: Faults | None = None,
        *,
        strict: bool = False,
    ) -> Any:
        """Return features as an array; see `NamedColumns`."""
        for name in (*without, *reading.categories, *reading.dates):
            self.cells(name)
        if names is not None and len(names) != self.X.shape[1]:
            raise ValueError(
                f"{self.path} has {self.X.shape[1]} columns, but the model was fitted on "
                f"{len(names)}: pass those, in the order of the fit."
            )
        small = self.X.dtype in (np.float32, np.float16)
        width: type[np.floating[Any]] = np.float32 if small else np.float64
        points = np.ascontiguousarray(self.X, dtype=width)
        found = Faults() if faults is None else faults
        limit = largest_allowed(points)
        blocks = (points[start : start + _ROWS] for start in range(0, len(points), _ROWS))
        if not all(np.all(np.abs(block) <= limit) for block in blocks):
            for number, values in enumerate(points.T):
                check_finite(f"{number}", values, found)
        if reading.missing:
            found.missing.clear()
        if strict or faults is None:
            found.check(self.path)
        return points

    def labels(self, name: str | None, unlabeled: Collection[str] = ()) -> Array | None:
        """Return the label of each row, text or None; see `NamedColumns`."""
        if name is not None and (name != "y" or self.y is None):
            self.cells(name)
        if self.y is None:
            return None
        _warn_of_lost_sign(self.y, unlabeled, self.path)
        return as_text(self.y.tolist(), unlabeled, self.path)

    def take(self, rows: IntArray) -> PlainArray:
        """Return a table of some of the rows."""
        return replace(self, X=self.X[rows], y=None if self.y is None else self.y[rows])

    def cells(self, name: str) -> Any:
        """Refuse: an array has no named columns."""
        raise ValueError(
            f"{self.path} is an array, whose columns have no names: there is no column {name!r}. "
            "(For labels, save arrays X and y in an .npz file.)"
        )


InputTable: TypeAlias = NamedColumns | PlainArray


def check_column(name: str, names: Collection[str], path: Path) -> None:
    """Refuse a column that is not among those of a table."""
    if name not in names:
        raise ValueError(f"{path} has no column {name!r}.{_advice(name, list(names))}")


def as_categories(column: Any) -> Array:
    """Return a pyarrow column as text, NaN where a cell is empty."""
    texts = map(cell_text, column.to_pylist())
    return np.array([np.nan if text in MISSING else text for text in texts], dtype=object)


def as_text(
    cells: Sequence[Any], unlabeled: Collection[str] = (), path: Path | None = None
) -> Array:
    """Return labels as text, None for unlabeled rows: empty cells, and -1.

    Parameters
    ----------
    cells : sequence
        Labels of any type.
    unlabeled : collection of str, optional
        More labels that mean that the class is unknown.
    path : Path, optional
        File to name in a note about classes that look like unknown ones.

    Examples
    --------
    >>> as_text(["a", "", "-1", 3.0, float("nan"), "?"], unlabeled=["?"])
    array(['a', None, None, '3', None, None], dtype=object)
    """
    texts = [cell_text(cell) for cell in cells]
    unknown = {*MISSING, *(text.strip() for text in unlabeled)}
    answered = [text for text in texts if text not in unknown]
    known = [text not in MINUS_ONE for text in answered]
    warn_of_signs(np.array(answered, dtype=object), np.array(known, dtype=bool))
    unknown.update(MINUS_ONE)
    labels = [None if text in unknown else text for text in texts]
    counts = Counter(label for label in labels if label is not None)
    for text in unlabeled:
        if text.strip() and text.strip() not in texts:
            raise ValueError(
                f"{path or 'y'}: no row has the label {text!r} that --unlabeled names."
                f"{_advice(text, list(counts))}"
            )
    for text, count in counts.items():
        if text.casefold() in UNKNOWN and "" not in unlabeled:
            warn(
                f"{path or 'y'}: {count} {'row has' if count == 1 else 'rows have'} the label "
                f"{text!r}, which counts as a class. If it means that the class is unknown, add "
                f"--unlabeled {quoted(text)}"
            )
    return np.array(labels, dtype=object)


def unknown_labels(table: InputTable, name: str | None) -> list[str]:
    """Return the labels of a table that are words for an unknown class, and say so.

    Examples
    --------
    >>> labels = pa.chunked_array([["a", "?", "b", "?", ""]])
    >>> unknown_labels(NamedColumns(Path("t.csv"), {"kind": labels}), "kind")
    ['?']
    """
    if name is None or table.names is None:
        return []
    counts = Counter(map(cell_text, table.cells(name).to_pylist()))
    found = [text for text in counts if text.casefold() in NO_LABEL]
    if found:
        n = sum(counts[text] for text in found)
        which = " or ".join(map(repr, found))
        warn(
            f"{table.path}: {n} {'row has' if n == 1 else 'rows have'} {which} as {name}, which "
            "is read as no label. If it is a class, say what else means no label (--unlabeled "
            '"" for empty cells alone).'
        )
    return found


def _warn_of_lost_sign(labels: Array, unlabeled: Collection[str], path: Path | None) -> None:
    """Warn of a class that may be what an unsigned type has made of -1."""
    if has_lost_minus_one(labels) and str(labels.max()) not in unlabeled:
        warn(
            f"{path or 'y'}: the labels are {labels.dtype}, which cannot hold -1, and some are "
            f"{labels.max()}, which counts as a class. If it stands for -1, add --unlabeled "
            f"{labels.max()}"
        )


def _advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    if len(names) <= _LISTED:
        return f" It has {', '.join(repr(known) for known in names)}."
    return ""


def stack(tables: Sequence[InputTable]) -> InputTable:
    """Return one table of the rows of several, in their order.

    Columns are matched by name. A table that lacks one, or has one more, is refused.
    """
    first, *others = tables
    path = Path(f"{first.path} and {len(others)} more")
    if isinstance(first, PlainArray):
        return _stacked_arrays(path, tables)
    columns: dict[str, list[Any]] = {name: [] for name in first.names}
    for table in tables:
        names = table.names or ()
        differing = sorted({*columns} ^ {*names})
        if differing:
            verb = "has" if differing[0] in names else "lacks"
            raise ValueError(
                f"{table.path} {verb} the column {differing[0]!r}, unlike {first.path}: tables "
                "that are read together need the same columns."
            )
        for name, parts in columns.items():
            parts.append(table.cells(name))
    stacked = {name: _stacked(parts) for name, parts in columns.items()}
    # The lines of several files have no common numbers.
    written = first.written._replace(lines=False)
    return NamedColumns(path, stacked, first.decimal_comma, written)


def _stacked_arrays(path: Path, tables: Sequence[InputTable]) -> PlainArray:
    arrays = [table for table in tables if isinstance(table, PlainArray)]
    first = arrays[0]
    for table in tables:
        if (
            not isinstance(table, PlainArray)
            or table.X.shape[1] != first.X.shape[1]
            or (table.y is None) != (first.y is None)
        ):
            raise ValueError(
                f"{table.path} has other columns than {first.path}: tables that are read "
                "together need the same columns."
            )
    y = [table.y for table in arrays if table.y is not None]
    X = np.concatenate([table.X for table in arrays])
    return PlainArray(path, X, np.concatenate(y) if y else None)


def _stacked(parts: Sequence[Any]) -> Any:
    """Concatenate columns; types that differ become floats, or text if a cell is no number."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        kind = pa.string() if any(map(is_text, kinds)) else pa.float64()
    else:
        kind = next(iter(kinds), pa.null())
    try:
        parts = [pc.cast(part, kind) for part in parts]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        parts = [pc.cast(part, pa.string()) for part in parts]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type)
