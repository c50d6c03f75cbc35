"""From the columns of a table to features: what to leave out, fill in, encode and scale."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import IntArray, computed_once
from .._warnings import warn
from ._cells import and_more, listed, quoted
from ._dates import DateUse, date_names, read_dates
from ._ids import UNNAMED, suspicion
from ._notes import (
    AMONG_NUMBERS,
    CONSTANT,
    DATE_WORDS,
    FILLED_IN,
    LISTED,
    MIXED,
    about_text,
    overruling,
    unnamed_row_numbers,
    why_not,
)
from ._numbers import Faults
from ._table import InputTable, Reading

SCALES = ("standard", "minmax", "unit", "none")
IMPUTATIONS = ("median", "knn", "drop")
DATE_USES = ("days", "parts", "drop")
# A category of fewer rows than this share, or than two, is rare.
_RARE = 0.01
_NEIGHBORS = 5  # from which knn fills in
MISSING_CATEGORY = "(missing)"


@dataclass(frozen=True)
class Preparation:
    """What a user asked to do with the columns of a table.

    Parameters
    ----------
    scale : {"standard", "minmax", "unit", "none"}
        How to scale numbers.
    impute : {"median", "knn", "drop"} or None
        What to do about missing numbers; None is median, or refuses them if `strict`.
    dates : {"days", "parts", "drop"} or None
        What to make of dates; None is days, or refuses them if `strict`.
    onehot, drop, keep : collection of str
        Columns of categories, to leave out, and to use as numbers whatever they look like.
    strict : bool, default=False
        Whether to refuse text, dates and missing values that no option mentions. By default,
        text with few distinct values becomes categories, and other text is left out.
    """

    scale: str = "standard"
    impute: str | None = None
    dates: str | None = None
    onehot: Collection[str] = ()
    drop: Collection[str] = ()
    keep: Collection[str] = ()
    strict: bool = False

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("--scale", self.scale, SCALES),
            ("--impute", self.impute, (*IMPUTATIONS, None)),
            ("--dates", self.dates, (*DATE_USES, None)),
        ):
            if value not in choices:
                known = ", ".join(choice for choice in choices if choice)
                raise ValueError(f"{name} must be one of {known}; got {value!r}.")
        if not self.strict:
            object.__setattr__(self, "impute", self.impute or "median")
            object.__setattr__(self, "dates", self.dates or "days")

    def features(self, table: InputTable, not_features: Collection[str] = ()) -> Features:
        """Read the features of a table; refuse those in which no two rows differ.

        Parameters
        ----------
        table : InputTable
            The table.
        not_features : collection of str
            More columns to leave out, such as the label.
        """
        without = [*self.drop, *not_features]
        for name in (*self.keep, *self.onehot):
            table.cells(name)
            if name in without:
                raise ValueError(f"{table.path}: {name!r} cannot be both used and left out.")
        left_out: dict[str, str] = {}
        dates, formats = self._dates(table, without, left_out)
        for name in unnamed_row_numbers(table):
            if name not in (*without, *self.keep, *self.onehot):
                left_out[name] = UNNAMED
        faults = Faults()
        points = table.points(
            without=[*without, *left_out],
            reading=Reading(
                self.onehot,
                dates,
                missing=self.impute is not None,
                may_be_categories=() if self.strict else {*(table.names or ())} - {*self.keep},
            ),
            faults=faults,
            strict=self.strict,
        )
        categories = list(self.onehot)
        if not self.strict:
            if faults.commas:
                return self.features(with_decimal_commas(table, faults), not_features)
            categories += [name for name in table.names or () if name in faults.few_values]
            _leave_out_text(table, faults, self.keep, left_out)
            faults.check(table.path)
        if table.names is not None:
            for name in points.columns:
                why = why_not(name, points[name], self.keep, dates)
                if why and name not in self.onehot:
                    left_out[name] = why
            points = points[[name for name in points.columns if name not in left_out]]
            categories = [name for name in categories if name in points.columns]
            dates = {name: use for name, use in dates.items() if name not in left_out}
        _check_left(table, points, left_out)
        measures = {*self.keep, *categories, *dates, *_with_thousands(faults)}
        suspects = _find_suspects(points, measures)
        kept: IntArray = np.arange(table.n_rows)
        if self.impute == "drop":
            points, kept = _complete(table, points, categories)
        return Features(
            points,
            tuple(categories),
            dates,
            left_out,
            kept,
            table.n_rows,
            table.decimal_comma,
            {name: form for name, form in formats.items() if name in dates},
            {name: mark for name, mark in faults.decimals.items() if name not in left_out},
            tuple(name for name in table.names or () if name not in not_features),
            suspects,
        )

    def _dates(
        self, table: InputTable, without: Collection[str], left_out: dict[str, str]
    ) -> tuple[dict[str, DateUse], dict[str, str]]:
        """Find the columns of dates, and how they are written.

        Refuse them if the user has not said what to do.
        """
        faults = Faults()
        found: dict[str, DateUse] = {}
        formats: dict[str, str] = {}
        for name in table.names or ():
            if name in (*without, *self.keep, *self.onehot):
                continue
            read = read_dates(table.cells(name))
            if read is None:
                continue
            dates, formats[name] = read
            if self.dates is None:
                first = int(np.flatnonzero(~np.isnat(dates))[0])
                place = table.place(first)
                faults.dates[name] = f"{table.cells(name)[first].as_py()} in {place}"
            elif self.dates == "drop":
                left_out[name] = "dates"
            else:
                found[name] = "days" if self.dates == "days" else "parts"
        faults.check(table.path)
        return found, formats

    def steps(self, features: Features) -> list[tuple[str, Any]]:
        """Return the steps of a pipeline that turn the features into numbers on one scale.

        Categories are not scaled: two different ones are at a squared distance of 2, which is
        the mean squared distance of two values of a feature of variance 1.
        """
        from sklearn.compose import ColumnTransformer
        from sklearn.impute import KNNImputer, SimpleImputer
        from sklearn.pipeline import Pipeline
        from sklearn.preprocessing import MinMaxScaler, Normalizer, OneHotEncoder, StandardScaler

        numbers: list[tuple[str, Any]] = []
        if self.scale in ("standard", "minmax"):
            scaler = MinMaxScaler() if self.scale == "minmax" else StandardScaler()
            numbers.append(("scale", scaler))
        # New rows of a table may lack what its first rows have. Embeddings do not, and the median
        # of a large array takes long.
        named = hasattr(features.points, "columns") and self.scale != "unit"
        if self.impute in ("median", "knn") and (named or self.strict or features.missing):
            median = self.impute == "median"
            fill = SimpleImputer(strategy="median") if median else KNNImputer(
                n_neighbors=_NEIGHBORS
            )  # fmt: skip
            numbers.append(("impute", fill))
        if self.scale == "unit":  # a length needs all of the numbers
            numbers.append(("scale", Normalizer()))
        if not features.categories:
            return numbers
        rare = max(2, math.ceil(_RARE * len(features.points)))
        encode = Pipeline(
            [
                ("fill", SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY)),
                (
                    "onehot",
                    OneHotEncoder(
                        min_frequency=rare,
                        handle_unknown="infrequent_if_exist",
                        sparse_output=False,
                    ),
                ),
            ]
        )
        parts: list[tuple[str, Any, list[str]]] = [
            ("categories", encode, list(features.categories))
        ]
        others = [name for name in features.points.columns if name not in features.categories]
        if others:
            parts.insert(0, ("numbers", Pipeline(numbers or [_as_they_are()]), others))
        return [("prepare", ColumnTransformer(parts, verbose_feature_names_out=False))]

    def encoder(self, features: Features) -> Any:
        """Return a pipeline of the steps, fitted; of one that changes nothing if there is none."""
        from sklearn.pipeline import Pipeline

        return Pipeline(self.steps(features) or [_as_they_are()]).fit(features.points)

    def fitted(self, features: Features, encoder: Any) -> dict[str, Any]:
        """Return the fitted attributes of a `TablePreparer` with these decisions."""
        return {
            "encoder_": encoder,
            "columns_": features.uses(self.impute),
            "reading_": {
                "categories": list(features.categories),
                "dates": dict(features.dates),
                "formats": dict(features.formats),
                "decimals": dict(features.decimals),
                "missing": self.impute in ("median", "knn"),
            },
            "n_features_in_": len(features.from_names),
            "feature_names_in_": np.array(features.from_names, dtype=object),
        }


def _as_they_are() -> tuple[str, Any]:
    from sklearn.preprocessing import StandardScaler

    # A ColumnTransformer keeps "passthrough" as a function, which no model file may hold.
    return "keep", StandardScaler(with_mean=False, with_std=False)


@dataclass(frozen=True)
class Features:
    """Features of a table, before they are filled in, encoded and scaled.

    Parameters
    ----------
    points : DataFrame or ndarray
        Numbers, and text in the columns of categories.
    categories : tuple of str
        Columns of categories.
    dates : dict of str to {"days", "parts"}
        Columns of dates, and what was made of them.
    left_out : dict of str to str
        Columns that were left out without being asked, and why.
    kept : ndarray of int
        Rows of the table that are used.
    n_rows : int
        Number of rows of the table.
    decimal_comma : bool
        Whether numbers in text have a decimal comma.
    formats : dict of str to str
        How the dates are written.
    decimals : dict of str to {".", ","}
        The mark before decimals in columns of text.
    from_names : tuple of str
        Names of the columns of the table, but for labels and ids; none for an array.
    suspects : dict of str to str
        Columns of numbers that may only identify rows, and why.
    """

    points: Any
    categories: tuple[str, ...]
    dates: dict[str, DateUse]
    left_out: dict[str, str]
    kept: IntArray
    n_rows: int
    decimal_comma: bool
    formats: dict[str, str] = field(default_factory=dict)
    decimals: dict[str, str] = field(default_factory=dict)
    from_names: tuple[str, ...] = ()
    suspects: dict[str, str] = field(default_factory=dict)

    def doubt(self, path: Path | str) -> str | None:
        """Name the columns that may only identify rows, and how to leave them out."""
        if not self.suspects:
            return None
        names = [f"--drop {quoted(name)}" for name in self.suspects]
        one = len(names) == 1
        return (
            f"{path}: {listed(self.suspects)} {'is' if one else 'are'} used as "
            f"{'a number' if one else 'numbers'}, and may only identify rows. Leave "
            f"{'it' if one else 'them'} out with {' '.join(names)}; --keep is for one that "
            "measures something."
        )

    def noted(self, impute: str | None) -> dict[str, Any]:
        """Return what became of the columns, as plain values, for `column_rows`."""
        absent = {name: int(self.points[name].isna().sum()) for name in self.categories}
        made = {part for name, use in self.dates.items() for part in date_names(name, use)}
        other = {*self.categories, *made, *self.suspects}
        numbers = [name for name in self.names if name not in other] if self.from_names else []
        return {
            "numbers": numbers,
            "suspects": dict(self.suspects),
            "impute": impute,
            "missing": self.missing,
            "missing_categories": {name: n for name, n in absent.items() if n},
            "dropped_rows": self.n_rows - len(self.kept),
            "categories": list(self.categories),
            "dates": dict(self.dates),
            "left_out": dict(self.left_out),
            "decimal_comma": self.decimal_comma,
        }

    def uses(self, impute: str | None) -> dict[str, str]:
        """Say what became of each column of a table."""
        absent = self.noted(impute)["missing_categories"]
        filled = FILLED_IN[impute][0] if impute in FILLED_IN else ""
        uses = {}
        for name in self.from_names:
            made = date_names(name, self.dates[name])[0] if name in self.dates else name
            n = self.missing.get(made, 0)
            missing = f", {n:,} missing: filled in by {filled}" if n and filled else ""
            if name in self.left_out:
                uses[name] = f"left out: {self.left_out[name]}"
            elif name in self.dates:
                uses[name] = f"dates: {DATE_WORDS[self.dates[name]][0]}{missing}"
            elif name in self.categories:
                n = absent.get(name, 0)
                uses[name] = "categories" + (f", {n:,} missing: one of its own" if n else "")
            elif name in self.names:
                ids = f", perhaps ids: {self.suspects[name]}" if name in self.suspects else ""
                uses[name] = f"numbers{ids}{missing}"
            else:
                uses[name] = "left out: as asked"
        return uses

    @property
    def names(self) -> list[str]:
        """Names of the columns of `points`."""
        plain = [f"x{k}" for k in range(self.points.shape[1])]
        return [str(name) for name in getattr(self.points, "columns", plain)]

    @computed_once
    def missing(self) -> dict[str, int]:
        """Number of missing numbers of each column that has some."""
        return count_missing(self.points, self.categories)


def _missing(points: Any, categories: Collection[str]) -> Any:
    """Return a data frame that says which numbers are missing."""
    import pandas as pd

    if not hasattr(points, "columns"):
        points = pd.DataFrame(points, columns=[f"x{k}" for k in range(points.shape[1])])
    return points.drop(columns=list(categories), errors="ignore").isna()


def count_missing(points: Any, categories: Collection[str]) -> dict[str, int]:
    """Count the missing numbers of each column that has some."""
    counts = _missing(points, categories).sum()
    return {str(name): int(n) for name, n in counts.items() if n}


def _complete(table: InputTable, points: Any, categories: Collection[str]) -> tuple[Any, IntArray]:
    """Return the rows in which no number is missing, and their places."""
    from sklearn.utils import _safe_indexing

    kept = np.flatnonzero(~_missing(points, categories).any(axis=1))
    if not len(kept):
        raise ValueError(
            f"{table.path}: every row has a missing value: fill them in with --impute median."
        )
    points = _safe_indexing(points, kept)
    return points if table.names is None else points.reset_index(drop=True), kept


def _find_suspects(points: Any, measures: Collection[str]) -> dict[str, str]:
    """Say which columns, other than those that measure something, may only identify rows."""
    return {
        name: why
        for name in getattr(points, "columns", ())
        if name not in measures and (why := suspicion(name, points[name]))
    }


def _check_left(table: InputTable, points: Any, left_out: dict[str, str]) -> None:
    """Refuse a table without a feature that varies."""
    if table.names is None and np.any(np.nanmin(points, axis=0) < np.nanmax(points, axis=0)):
        return
    if table.names is not None and len(points.columns):
        return
    if not left_out or set(left_out.values()) == {CONSTANT}:
        raise ValueError(
            f"{table.path}: every feature has the same value in all rows, so all distances "
            "are 0: add features that vary."
        )
    shown = [f"{name!r} ({why})" for name, why in list(left_out.items())[:LISTED]]
    options = [overruling(why, [name]) for name, why in left_out.items()]
    ways = [option for option in options if option.startswith("--")]
    use = f"Use one with {ways[0]}, or add some" if ways else "Add some"
    raise ValueError(
        f"{table.path}: no column is left as a feature: {and_more(shown, len(left_out))}. {use}."
    )


def with_decimal_commas(table: InputTable, faults: Faults) -> Any:
    """Return the table with another reading of its commas, and say so."""
    name, cell = next(iter(faults.commas.items()))
    warn(f"{table.path}: read with decimal commas, as in column {name!r} ({cell}).")
    return replace(table, decimal_comma=True)  # type: ignore[arg-type]


def _with_thousands(faults: Faults) -> list[str]:
    """Return the columns whose numbers have separators of thousands, which no id has."""
    return [name for name, reading in faults.readings.items() if "thousands" in reading]


def _leave_out_text(
    table: InputTable, faults: Faults, keep: Collection[str], left_out: dict[str, str]
) -> None:
    """Leave out the columns of text that are neither categories nor to be kept."""
    for name in [name for name in faults.text if name not in keep]:
        detail = faults.text.pop(name)
        if name in faults.mostly_numbers:
            among = MIXED if faults.mostly_numbers[name] else AMONG_NUMBERS
            left_out[name] = f"{among}, {detail}"
        else:
            left_out[name] = about_text(table.cells(name), detail)
