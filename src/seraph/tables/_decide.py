"""Decide what becomes of each column of a table: what to leave out, encode, fill in and scale."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._utils._typing import Array
from .._utils._warnings import warn
from ._dates import date_features, date_names
from ._ids import IDS, UNNAMED, looks_like_ids, sentinel, suspicion
from ._numbers import Settled
from ._reading import Reading, is_text, settle, text_counts, without_values
from ._table import (
    ColumnError,
    ColumnWarning,
    NamedColumns,
    Setting,
    about,
    advice,
    and_more,
    check_clear,
    first_of,
    listed,
)
from ._words import is_missing

# A category of fewer rows than this share, or than two, is rare.
_RARE = 0.01
# A text column with at most so many distinct values, each in about three rows or more, holds
# categories: with fewer rows each, they are rather names.
_FEW_VALUES, _ROWS_EACH = 50, 3
# Columns that an error lists by name; the rest are counted.
_LISTED = 6
_CONSTANT = "the same in every row"
MISSING_CATEGORY, RARE_CATEGORY = "(missing)", "(rare)"
FILLED_IN = {"median": "the median", "knn": "the mean of similar rows"}
_DATES = {"days": "days since 1970", "parts": "year, season and weekday"}


@dataclass
class Decided:
    """What becomes of the columns of a table: how they are read, or why they are left out."""

    points: Any = None  # a data frame of numbers and text, before they are encoded and scaled
    readings: dict[str, Reading] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def categories(self) -> list[str]:
        """Columns of categories."""
        return [name for name, reading in self.readings.items() if reading.kind == "categories"]

    def uses(self, table: NamedColumns, measures: Collection[str], how: Any) -> dict[str, str]:
        """Say what became of each column; `how` has the parameters of a `TablePreparer`."""
        return {name: self._use(name, measures, how) for name in table.names}

    def _use(self, name: str, measures: Collection[str], how: Any) -> str:
        if name in self.left_out:
            return f"left out: {self.left_out[name]}"
        reading = self.readings[name]
        made = date_names(name, how.dates) if reading.kind == "dates" else [name]
        values = self.points[next(part for part in made if part in self.points)]
        n = int(values.isna().sum())
        if reading.kind == "categories":
            rule = "a category of its own" if n >= rarest(len(values)) else "with the rare ones"
            return "categories" + (f", {n:,} missing: {rule}" if n else "")
        use = f"dates: {_DATES[how.dates]}" if reading.kind == "dates" else "numbers"
        use += f" in {reading.unit}" if reading.unit else ""
        doubt = suspicion(name, values) if use == "numbers" and name not in measures else None
        ids = f", perhaps ids: {doubt}" if doubt else ""
        return use + ids + (f", {n:,} missing: filled in by {FILLED_IN[how.impute]}" if n else "")


def decide(table: NamedColumns, how: Any) -> tuple[Decided, dict[str, str]]:
    """Read the columns of a table as a `TablePreparer` with the parameters `how` does.

    Returns what becomes of the columns, and that in words. Refuses a table in which no two rows
    differ.
    """
    import pandas as pd

    for name in (*how.drop, *how.keep, *how.onehot):
        if name not in table.columns:
            raise ValueError(f"{table.path} has no column {name!r}.{advice(name, table.names)}")
        if name in how.drop and name in (*how.keep, *how.onehot):
            raise ValueError(f"{table.path}: {name!r} cannot be both used and left out.")
    decided = Decided(left_out=dict.fromkeys(how.drop, "as asked"))
    points: dict[str, Any] = {}
    notes, thousands = _Notes(table), set()
    for name, (known, settled) in _settled(table, how).items():
        reading, why = (known, "dates") if known else _text_use(table, name, settled)
        if known is None and name in how.keep:
            detail = first_of(table, name, settled.wrong) or f"{table.columns[name].type}"
            notes.no_numbers[name] = detail
        if reading is None or (reading.kind == "dates" and how.dates == "drop"):
            decided.left_out[name] = why
            continue
        check_clear(table, name, settled.ambiguous)
        values, wrong = reading.read(without_values(table.columns[name], how.missing))
        if reading.kind == "numbers" and wrong.any():
            notes.too_large[name] = about(table, name, wrong)
        thousands |= {name} if notes.read(name, reading, values) else set()
        made = (
            date_features(name, values, how.dates) if reading.kind == "dates" else {name: values}
        )
        reasons = {part: _why_not(part, made[part], how, reading) for part in made}
        points |= {part: made[part] for part, why in reasons.items() if not why}
        if all(reasons.values()):
            decided.left_out[name] = next(iter(reasons.values())) or ""
        else:
            decided.readings[name] = reading
    notes.tell()
    decided.points = pd.DataFrame(points, index=range(table.n_rows), copy=False)
    _check_left(table, decided)
    return decided, decided.uses(table, {*how.keep, *thousands}, how)


def _settled(table: NamedColumns, how: Any) -> dict[str, tuple[Reading | None, Settled]]:
    """Settle how each column is read; a column without marks of its own follows the others."""
    options = {"semicolons": table.written.separator == ";"}

    def all_of(decimal: str | None) -> dict[str, tuple[Reading | None, Settled]]:
        return {
            name: (Reading("categories"), Settled(None))
            if name in how.onehot
            else settle(
                without_values(column, how.missing), decimal, dates=name not in how.keep, **options
            )
            for name, column in table.columns.items()
            if name not in how.drop
        }

    settled = all_of("," if table.decimal_comma else None)
    commas = {name: each.commas for name, (_, each) in settled.items() if each.commas}
    if commas and not table.decimal_comma:
        name, text = next(iter(commas.items()))
        where = first_of(table, name, [text]).partition(" and ")[0] or repr(text)
        warn(f"{table.path}: read with decimal commas, as in column {name!r} ({where}).")
        settled = all_of(",")
    return settled


class _Notes:
    """The warnings, or the error, of a fit about the cells of a table."""

    def __init__(self, table: NamedColumns) -> None:
        self.table = table
        self.readings: dict[str, str] = {}
        self.sentinels: dict[str, str] = {}
        self.no_numbers: dict[str, str] = {}
        self.too_large: dict[str, str] = {}

    def read(self, name: str, reading: Reading, values: Array) -> bool:
        """Note words for nothing, sentinels and thousands; return whether there are thousands."""
        column = self.table.columns[name]
        if reading.kind == "categories" or not is_text(column.type):
            self._note_sentinel(name, values)
            return False
        counts = text_counts(column, unknown=True)
        other = {",": ".", ".": ","}.get(reading.form)
        grouped = [text for text in counts if other and other in text]
        words = [t for t in counts if t in reading.words or is_missing(t, unknown=True)]
        if grouped:
            place = first_of(self.table, name, grouped).partition(" and ")[0]
            self.readings[name] = f"{place} is read as thousands"
        elif words:
            self.readings[name] = f"{first_of(self.table, name, words)} is read as missing"
        self._note_sentinel(name, values)
        return bool(grouped)

    def _note_sentinel(self, name: str, values: Array) -> None:
        extreme = sentinel(values) if values.dtype.kind == "f" else None
        if extreme is not None:
            self.sentinels[name] = f"{extreme:.15g} in {int(np.sum(values == extreme))} rows"

    def tell(self) -> None:
        """Raise an error about cells that cannot be used, or warn of those that may be wrong."""
        no_numbers = Setting("onehot", [*self.no_numbers])
        for columns, what, way_out in (
            (self.no_numbers, "no numbers", ["a distance needs numbers. Use categories as columns "
             "of 0 and 1 (", no_numbers, "), or leave the column out ("]),
            (self.too_large, "infinite or too large values",
             ["correct them, or leave the column out ("]),
        ):  # fmt: skip
            if columns:
                raise ColumnError(
                    f"{self.table.path}: {what} in {listed(columns)}: ",
                    *way_out,
                    Setting("drop", [*columns]),
                    ").",
                )
        if self.readings:
            warn(
                f"{self.table.path}: {listed(self.readings)}. If that is wrong, correct those "
                "cells."
            )
        if self.sentinels:
            value = next(iter(self.sentinels.values())).partition(" ")[0]
            warn(
                ColumnWarning(
                    f"{self.table.path}: {listed(self.sentinels)}, far from all other numbers "
                    "there. If that means a missing value, add ",
                    Setting("missing", [value]),
                    ".",
                )
            )


def make_encoder(decided: Decided, scale: str, impute: str) -> Any:
    """Return a pipeline, fitted, that turns the columns that are used into numbers on one scale.

    Categories are not scaled: two different ones are at a squared distance of 2, which is the mean
    squared distance of two values of a feature of variance 1. A missing cell is a category like
    any other, and there always is a column for those that are rare or new.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    points = decided.points
    # New rows of a table may lack what its first rows have. Embeddings do not, and the median of
    # many vectors takes long.
    fill = scale != "unit" or points.drop(columns=decided.categories).isna().to_numpy().any()
    numbers = Pipeline(number_steps(scale, impute if fill else None) or [("keep", "passthrough")])
    if not decided.categories:
        return numbers.fit(points)
    known = [
        np.array(sorted({*points[name].fillna(MISSING_CATEGORY)} | {RARE_CATEGORY}), dtype=object)
        for name in decided.categories
    ]
    encode = OneHotEncoder(
        categories=known,
        min_frequency=rarest(len(points)),
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    missing = SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY)
    steps = Pipeline([("fill", missing), ("onehot", encode)])
    parts = [("categories", steps, decided.categories)]
    others = [name for name in points.columns if name not in decided.categories]
    if others:
        parts.insert(0, ("numbers", numbers, others))
    both = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("prepare", both)]).fit(points)


def number_steps(scale: str, impute: str | None) -> list[tuple[str, Any]]:
    """Return steps of a pipeline that scale numbers and fill in missing ones.

    Parameters
    ----------
    scale : {"standard", "minmax", "unit", "none"}
        How to scale, as in `TablePreparer`.
    impute : {"median", "knn"} or None
        How to fill in missing numbers; None if there are none.

    Returns
    -------
    list of (str, transformer)
        The steps.

    Examples
    --------
    >>> from seraph.tables import number_steps
    >>> [name for name, _ in number_steps("standard", "median")]
    ['scale', 'impute']
    """
    from sklearn.impute import KNNImputer, SimpleImputer
    from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

    steps: list[tuple[str, Any]] = []
    if scale in ("standard", "minmax"):
        steps.append(("scale", MinMaxScaler() if scale == "minmax" else StandardScaler()))
    if impute:
        median = impute == "median"
        steps.append(("impute", SimpleImputer(strategy="median") if median else KNNImputer()))
    if scale == "unit":  # a length needs all of the numbers
        steps.append(("scale", Normalizer()))
    return steps


def rarest(n_rows: int) -> int:
    """Return the fewest rows of a category that has a column of its own."""
    return max(2, math.ceil(_RARE * n_rows))


def _text_use(table: NamedColumns, name: str, settled: Settled) -> tuple[Reading | None, str]:
    """Return how a column is read that holds neither numbers nor dates: as categories, or not."""
    column = table.columns[name]
    if not settled.wrong:
        return None, f"{column.type}"
    counts = text_counts(column)
    known = sum(counts.values())
    wrong = sum(counts[text] for text in settled.wrong)
    if 2 * wrong < known:
        return None, f"numbers and text, {first_of(table, name, settled.wrong)}"
    fewest = 1 if known < table.n_rows else 2  # an empty cell is a category, too
    if fewest <= len(counts) <= min(_FEW_VALUES, (known + 2) // _ROWS_EACH):
        return Reading("categories"), ""
    if len(counts) == 1 and known == table.n_rows:
        return None, _CONSTANT
    different = len(counts) == known
    return None, "text, different in every row" if different else (
        f"text with {len(counts):,} different values"
    )


def _why_not(name: str, values: Array, how: Any, reading: Reading) -> str | None:
    """Say why a column is not a feature: it has at most one value, or identifies the rows."""
    import pandas as pd

    known = pd.Series(values).dropna()
    if not len(known):
        return "empty"
    if name in (*how.keep, *how.onehot):
        return None
    if known.nunique() + (reading.kind == "categories" and len(known) < len(values)) == 1:
        return _CONSTANT
    if reading.kind == "numbers" and name.startswith("unnamed_") and looks_like_ids("id", values):
        return UNNAMED
    return None if reading.kind == "dates" else looks_like_ids(name, values)


def _check_left(table: NamedColumns, decided: Decided) -> None:
    """Refuse a table without a feature that varies."""
    if len(decided.points.columns):
        return
    left_out = {name: why for name, why in decided.left_out.items() if why != "as asked"}
    if left_out and set(left_out.values()) == {_CONSTANT}:
        raise ValueError(
            f"{table.path}: every feature has the same value in all rows, so all distances "
            "are 0: add features that vary."
        )
    texts = [f"{name!r} ({why})" for name, why in list(left_out.items())[:_LISTED]]
    which = f": {and_more(texts, len(left_out))}" if texts else ""
    text = [name for name, why in left_out.items() if why.startswith("text")]
    ids = [name for name, why in left_out.items() if why in IDS]
    use = Setting("onehot", text[:1]) if text else Setting("keep", ids[:1])
    way = ["Use one with ", use, ", or add some."] if use.values else ["Add some."]
    raise ColumnError(f"{table.path}: no column is left as a feature{which}. ", *way)
