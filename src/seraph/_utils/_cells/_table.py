"""Tables with named columns, and their columns as features."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .._typing import Array, IntArray
from .._warnings import warn
from ._dates import DateUse, date_features, parse_dates
from ._numbers import Faults, check_finite, place, to_numbers
from ._types import MISSING, and_more, cell_text, listed

# Names that an error lists; the rest are counted.
_LISTED = 12


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

    def cells(self, name: str) -> Any:
        """Return the cells of a column, as they are."""
        if name not in self.columns:
            raise ValueError(f"{self.path} has no column {name!r}.{advice(name, self.names)}")
        return self.columns[name]

    def take(self, rows: IntArray) -> NamedColumns:
        """Return a table of some of the rows."""
        chosen = pa.array(rows)
        return replace(
            self,
            columns={k: column.take(chosen) for k, column in self.columns.items()},
            written=self.written._replace(lines=False),
        )

    def without(self, names: Collection[str | None]) -> NamedColumns:
        """Return the table without some columns, which it must have."""
        for name in names:
            if name is not None:
                self.cells(name)
        kept = {name: column for name, column in self.columns.items() if name not in names}
        if not kept:
            raise ValueError(f"{self.path}: no column is left: drop fewer, or add some.")
        return replace(self, columns=kept)

    def with_decimal_commas(self, faults: Faults) -> NamedColumns:
        """Return the table with another reading of its commas, and say so."""
        name, cell = next(iter(faults.commas.items()))
        warn(f"{self.path}: read with decimal commas, as in column {name!r} ({cell}).")
        return replace(self, decimal_comma=True)

    def points(
        self,
        names: Sequence[str] | None = None,
        reading: Reading = _NUMBERS_ONLY,
        faults: Faults | None = None,
    ) -> Any:
        """Return features as a data frame.

        Parameters
        ----------
        names : sequence of str, optional
            Columns to return, in this order; all by default.
        reading : Reading, optional
            How to read categories, dates and missing values; by default, all are refused.
        faults : Faults, optional
            Collects what is wrong with the columns, and those without numbers are left out. By
            default, that is raised.
        """
        import pandas as pd

        if names is None:
            names = self.names
        else:
            self._check_present(names)
        found = Faults(for_model=True) if faults is None else faults
        found.lines = self.written.lines
        points: dict[str, Any] = {}
        for name in names:
            points |= self._features(name, reading, found)
        if reading.missing:
            found.missing.clear()
        if faults is None:
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

    def _check_present(self, names: Sequence[str]) -> None:
        absent = [name for name in names if name not in self.columns]
        if absent:
            shown = and_more([repr(name) for name in absent[:_LISTED]], len(absent))
            raise ValueError(
                f"{self.path} lacks {len(absent)} of the {len(names)} columns that the model was "
                f"fitted on: {shown}.{advice(absent[0], self.names)}"
            )


def as_categories(column: Any) -> Array:
    """Return a pyarrow column as text, NaN where a cell is empty."""
    texts = map(cell_text, column.to_pylist())
    return np.array([np.nan if text in MISSING else text for text in texts], dtype=object)


def advice(name: str, names: Sequence[str]) -> str:
    """Suggest the most similar name, or list all names if there are few."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), list(folded), n=1)
    if near:
        return f" Did you mean {folded[near[0]]!r}?"
    if len(names) <= _LISTED:
        return f" It has {', '.join(repr(known) for known in names)}."
    return ""
