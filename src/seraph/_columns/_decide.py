"""Decide what becomes of each column of a table: what to leave out, encode, fill in and scale."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._utils._cells._dates import DateUse, date_names, read_dates
from .._utils._cells._ids import IDS, UNNAMED, looks_like_ids, suspicion
from .._utils._cells._numbers import Faults, to_numbers
from .._utils._cells._steps import number_steps
from .._utils._cells._table import NamedColumns, Reading
from .._utils._cells._types import and_more, is_text, without_empty

# A category of fewer rows than this share, or than two, is rare.
_RARE = 0.01
# Columns that an error lists by name; the rest are counted.
_LISTED = 6
_CONSTANT = "the same in every row"
FILLED_IN = {"median": "the median", "knn": "the mean of similar rows"}
_DATES = {"days": "days since 1970", "parts": "year, season and weekday"}


@dataclass(frozen=True)
class Decided:
    """The columns of a table that are used, and why the others are not.

    Parameters
    ----------
    points : DataFrame
        Numbers, and text in the columns of categories, before they are filled in, encoded and
        scaled.
    reading : Reading
        How the columns are read.
    left_out : dict of str to str
        Columns that were left out without being asked, and why.
    suspects : dict of str to str
        Columns of numbers that may only identify rows, and why.
    """

    points: Any
    reading: Reading
    left_out: dict[str, str]
    suspects: dict[str, str]

    @property
    def has_missing_numbers(self) -> bool:
        """Whether there is something to fill in."""
        numbers = self.points.drop(columns=list(self.reading.categories))
        return bool(numbers.isna().to_numpy().any())

    def uses(self, names: Collection[str], impute: str) -> dict[str, str]:
        """Say what became of each column of a table."""
        return {name: self._use(name, impute) for name in names}

    def _use(self, name: str, impute: str) -> str:
        reading = self.reading
        if name in self.left_out:
            return f"left out: {self.left_out[name]}"
        parts = date_names(name, reading.dates[name]) if name in reading.dates else [name]
        made = [part for part in parts if part in self.points]  # a part may be constant
        if not made:
            return "left out: as asked"
        n = int(self.points[made[0]].isna().sum())
        if name in reading.categories:
            return "categories" + (f", {n:,} missing: a category of its own" if n else "")
        use = f"dates: {_DATES[reading.dates[name]]}" if name in reading.dates else "numbers"
        ids = f", perhaps ids: {self.suspects[name]}" if name in self.suspects else ""
        filled = f", {n:,} missing: filled in by {FILLED_IN[impute]}" if n else ""
        return f"{use}{ids}{filled}"


def decide(
    table: NamedColumns,
    dates: str,
    onehot: Collection[str],
    keep: Collection[str],
    drop: Collection[str],
) -> Decided:
    """Read the columns of a table, and decide; refuse a table in which no two rows differ."""
    for name in (*drop, *keep, *onehot):
        table.cells(name)
        if name in drop and name in (*keep, *onehot):
            raise ValueError(f"{table.path}: {name!r} cannot be both used and left out.")
    left_out: dict[str, str] = {}
    found: dict[str, DateUse] = {}
    formats: dict[str, str] = {}
    for name in table.names:
        if name in (*drop, *keep, *onehot):
            continue
        if _numbers_rows_without_a_name(table, name):
            left_out[name] = UNNAMED
        elif (read := read_dates(table.cells(name))) is not None:
            if dates == "drop":
                left_out[name] = "dates"
            else:
                found[name], formats[name] = "days" if dates == "days" else "parts", read[1]
    names = [name for name in table.names if name not in (*drop, *left_out)]
    faults = Faults()
    reading = Reading(onehot, found, missing=True, may_be_categories={*names} - {*keep})
    points = table.points(names, reading, faults)
    if faults.commas:
        return decide(table.with_decimal_commas(faults), dates, onehot, keep, drop)
    for name in [name for name in faults.text if name not in keep]:
        left_out[name] = _about_text(table.cells(name), faults, name)
        del faults.text[name]
    faults.check(table.path)
    for name in points.columns:
        why = _why_not(name, points[name], keep, found)
        if why and name not in onehot:
            left_out[name] = why
    points = points[[name for name in points.columns if name not in left_out]]
    _check_left(table, points, left_out)
    categories = [*onehot, *(name for name in points.columns if name in faults.few_values)]
    thousands = [name for name, how in faults.readings.items() if "thousands" in how]  # no ids
    measures = {*keep, *categories, *found, *thousands}
    suspects = {
        name: why
        for name in points.columns
        if name not in measures and (why := suspicion(name, points[name]))
    }
    reading = Reading(
        categories,
        {name: use for name, use in found.items() if name not in left_out},
        missing=True,
        formats={name: form for name, form in formats.items() if name not in left_out},
        decimals={name: mark for name, mark in faults.decimals.items() if name not in left_out},
    )
    return Decided(points, reading, left_out, suspects)


def make_encoder(decided: Decided, scale: str, impute: str) -> Any:
    """Return a pipeline, fitted, that turns the columns that are used into numbers on one scale.

    Categories are not scaled: two different ones are at a squared distance of 2, which is the mean
    squared distance of two values of a feature of variance 1.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    # New rows of a table may lack what its first rows have. Embeddings do not, and the median of
    # many vectors takes long.
    fill = scale != "unit" or decided.has_missing_numbers
    numbers = number_steps(scale, impute if fill else None)
    categories = list(decided.reading.categories)
    if not categories:
        return Pipeline(numbers).fit(decided.points)
    rare = max(2, math.ceil(_RARE * len(decided.points)))
    encode = OneHotEncoder(
        min_frequency=rare, handle_unknown="infrequent_if_exist", sparse_output=False
    )
    missing = SimpleImputer(strategy="constant", fill_value="(missing)")
    parts = [("categories", Pipeline([("fill", missing), ("onehot", encode)]), categories)]
    others = [name for name in decided.points.columns if name not in categories]
    if others:
        parts.insert(0, ("numbers", Pipeline(numbers), others))
    both = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("prepare", both)]).fit(decided.points)


def _numbers_rows_without_a_name(table: NamedColumns, name: str) -> bool:
    """Return whether a column numbers the rows, as pandas saves its index."""
    if name != f"unnamed_{table.names.index(name) + 1}":
        return False
    values = to_numbers(name, table.cells(name), Faults())
    return len(values) > 0 and looks_like_ids("id", values) is not None


def _why_not(name: str, values: Any, keep: Collection[str], dates: Collection[str]) -> str | None:
    """Say why a column is no feature: it has no value or only one, or identifies the rows."""
    numbers = values.dtype.kind == "f"
    known = values.dropna()
    if not len(known):
        return "empty"
    if name in keep:
        return None
    if np.ptp(known.to_numpy()) == 0.0 if numbers else values.nunique(dropna=False) == 1:
        return _CONSTANT
    return None if name in dates else looks_like_ids(name, values)


def _about_text(column: Any, faults: Faults, name: str) -> str:
    """Say what a column of text that is no category holds."""
    detail = faults.text[name]
    if name in faults.mostly_numbers:
        kind = "numbers and text" if faults.mostly_numbers[name] else "no number"
        return f"{kind}, {detail}"
    if not is_text(column.type):
        return detail
    cells = without_empty(column).drop_null().to_pylist()
    distinct = len({*cells})
    if distinct == 1 and len(cells) == len(column):
        return _CONSTANT
    if distinct == len(cells):
        return "text, different in every row"
    return f"text with {distinct:,} different values"


def _check_left(table: NamedColumns, points: Any, left_out: dict[str, str]) -> None:
    """Refuse a table without a feature that varies."""
    if len(points.columns):
        return
    if left_out and set(left_out.values()) == {_CONSTANT}:
        raise ValueError(
            f"{table.path}: every feature has the same value in all rows, so all distances "
            "are 0: add features that vary."
        )
    shown = [f"{name!r} ({why})" for name, why in list(left_out.items())[:_LISTED]]
    which = f": {and_more(shown, len(left_out))}" if shown else ""
    text = [name for name, why in left_out.items() if why.startswith("text")]
    ids = [name for name, why in left_out.items() if why in IDS]
    use = f"onehot={text[:1]}" if text else f"keep={ids[:1]}" if ids else ""
    way = f"Use one with {use}, or add some." if use else "Add some."
    raise ValueError(f"{table.path}: no column is left as a feature{which}. {way}")
