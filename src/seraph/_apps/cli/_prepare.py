"""From the columns of a table to features: what to leave out, fill in, encode and scale."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._utils._typing import Array, BoolArray, FloatArray, IntArray
from ._tables import Faults, InputTable, Reading, and_more, parse_dates, to_numbers

if TYPE_CHECKING:
    from ._tables import DateUse

SCALES = ("standard", "minmax", "unit", "none")
IMPUTATIONS = ("median", "knn", "drop")
DATE_USES = ("days", "parts", "drop")
# A category of fewer rows than this share, or than two, is rare.
_RARE = 0.01
_NEIGHBORS = 5  # from which knn fills in
MISSING_CATEGORY = "(missing)"
# Names of columns of whole numbers that only identify rows.
_ID_NAME = re.compile(
    r"^unnamed\b|(^|[\W_])(id|ids|uid|uuid|idx|index|key|nr|no|row|rowid|code|number)$|[a-z]I[dD]$",
    re.IGNORECASE,
)
# With fewer rows, whole numbers may well rise by chance.
_FEWEST_ROWS = 10


@dataclass(frozen=True)
class Preparation:
    """What a user asked to do with the columns of a table.

    Parameters
    ----------
    scale : {"standard", "minmax", "unit", "none"}
        How to scale numbers.
    impute : {"median", "knn", "drop"} or None
        What to do about missing numbers; None refuses them.
    dates : {"days", "parts", "drop"} or None
        What to make of dates; None refuses them.
    onehot, drop, keep : collection of str
        Columns of categories, to leave out, and to use as numbers whatever they look like.
    """

    scale: str = "standard"
    impute: str | None = None
    dates: str | None = None
    onehot: Collection[str] = ()
    drop: Collection[str] = ()
    keep: Collection[str] = ()

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("--scale", self.scale, SCALES),
            ("--impute", self.impute, (*IMPUTATIONS, None)),
            ("--dates", self.dates, (*DATE_USES, None)),
        ):
            if value not in choices:
                known = ", ".join(choice for choice in choices if choice)
                raise ValueError(f"{name} must be one of {known}; got {value!r}.")

    def features(self, table: InputTable, not_features: Collection[str]) -> Features:
        """Read the features of a table.

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
        dates = self._dates(table, without, left_out)
        for name in _unnamed_row_numbers(table):
            if name not in (*without, *self.keep, *self.onehot):
                left_out[name] = "row numbers, without a name"
        reading = Reading(self.onehot, dates, missing=self.impute is not None)
        points = table.points(without=[*without, *left_out], reading=reading)
        if table.names is not None:
            for name in points.columns:
                asked_for = name in (*self.keep, *self.onehot)
                if not asked_for and (why := looks_like_ids(name, points[name])):
                    left_out[name] = why
            points = points.drop(columns=[name for name in left_out if name in points.columns])
            if not len(points.columns):
                raise ValueError(
                    f"{table.path}: no column is left as a feature: {_said(left_out)}. Use one "
                    f"with --keep {next(iter(left_out))}, or add some."
                )
        if left_out:
            warnings.warn(
                f"{table.path}: left out {_said(left_out)}. To use such a column all the same, "
                "name it with --keep.",
                stacklevel=2,
            )
        kept = np.arange(table.n_rows)
        if self.impute == "drop":
            kept = np.flatnonzero(_complete(points, self.onehot))
            if not len(kept):
                raise ValueError(
                    f"{table.path}: every row has a missing value: fill them in with --impute "
                    "median."
                )
            points = (
                points.iloc[kept].reset_index(drop=True)
                if hasattr(points, "iloc")
                else points[kept]
            )
        return Features(points, tuple(self.onehot), dates, left_out, kept, table.n_rows)

    def _dates(
        self, table: InputTable, without: Collection[str], left_out: dict[str, str]
    ) -> dict[str, DateUse]:
        """Find the columns of dates; refuse them if the user has not said what to do."""
        faults = Faults()
        found: dict[str, DateUse] = {}
        for name in table.names or ():
            if name in (*without, *self.keep, *self.onehot):
                continue
            dates = parse_dates(table.cells(name))
            if dates is None:
                continue
            if self.dates is None:
                first = int(np.flatnonzero(~np.isnat(dates))[0])
                faults.dates[name] = f"{table.cells(name)[first].as_py()} in row {first}"
            elif self.dates == "drop":
                left_out[name] = "dates"
            else:
                found[name] = "days" if self.dates == "days" else "parts"
        try:
            faults.check()
        except ValueError as error:
            raise ValueError(f"{table.path}: {error}") from None
        return found

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
        if self.impute in ("median", "knn"):
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
        # A ColumnTransformer keeps "passthrough" as a function, which no model file may hold.
        as_they_are = StandardScaler(with_mean=False, with_std=False)
        parts: list[tuple[str, Any, list[str]]] = [
            ("categories", encode, list(features.categories))
        ]
        others = [name for name in features.points.columns if name not in features.categories]
        if others:
            parts.insert(0, ("numbers", Pipeline(numbers or [("keep", as_they_are)]), others))
        return [("prepare", ColumnTransformer(parts, verbose_feature_names_out=False))]


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
    """

    points: Any
    categories: tuple[str, ...] = ()
    dates: dict[str, DateUse] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    kept: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    n_rows: int = 0

    @property
    def n_missing(self) -> int:
        """Number of missing numbers."""
        frame = self.points
        if hasattr(frame, "drop"):
            frame = frame.drop(columns=list(self.categories))
        return int(np.isnan(np.asarray(frame, dtype=np.float64)).sum())

    def varies(self) -> bool:
        """Return whether any feature has two values."""
        if not hasattr(self.points, "nunique"):
            return bool(np.any(np.nanmin(self.points, axis=0) < np.nanmax(self.points, axis=0)))
        return bool((self.points.nunique(dropna=False) > 1).any())

    def empty_columns(self) -> list[str]:
        """Return the columns without any value."""
        if not hasattr(self.points, "columns"):
            return [f"{k}" for k in np.flatnonzero(np.isnan(self.points).all(axis=0))]
        return [str(name) for name in self.points.columns[self.points.isna().all(axis=0)]]


def _said(left_out: dict[str, str]) -> str:
    shown = [f"{name!r} ({why})" for name, why in list(left_out.items())[:5]]
    return and_more(shown, len(left_out))


def _complete(points: Any, categories: Collection[str]) -> BoolArray:
    numbers = points.drop(columns=list(categories)) if hasattr(points, "drop") else points
    missing = np.isnan(np.asarray(numbers, dtype=np.float64))
    return np.logical_not(np.any(missing, axis=1), dtype=bool)


def _unnamed_row_numbers(table: InputTable) -> list[str]:
    """Return the columns without a name that number the rows, as pandas saves its index."""
    found = []
    for number, name in enumerate(table.names or (), start=1):
        if name == f"unnamed_{number}":
            values = to_numbers(name, table.cells(name), Faults())
            if len(values) and looks_like_ids("id", values):
                found.append(name)
    return found


def looks_like_ids(name: str, values: Any) -> str | None:
    """Say why a column seems to identify rows; None if it seems to measure something.

    Such columns hold whole numbers that are all distinct. They either only rise or only fall
    from row to row, or have the name of an id. They are left out because the order of the rows
    is no property of what a row describes, and often gives away the class.

    Parameters
    ----------
    name : str
        Name of the column.
    values : array-like
        Its values.

    Examples
    --------
    >>> looks_like_ids("Unnamed: 0", np.arange(50.0))
    'row numbers'
    >>> looks_like_ids("patient_id", np.array([7.0, 3.0, 5.0]))
    'ids, by its name'
    >>> looks_like_ids("age", np.array([7.0, 3.0, 5.0]))
    """
    array: Array = np.asarray(values)
    if array.dtype.kind != "f":
        return None
    known: FloatArray = array[~np.isnan(array)]
    if len(known) < 2 or np.any(known != np.floor(known)):
        return None
    steps = np.diff(known)
    if len(known) >= _FEWEST_ROWS and np.all(steps == 1.0):
        return "row numbers"
    if len(known) >= _FEWEST_ROWS and (np.all(steps > 0) or np.all(steps < 0)):
        return "whole numbers, all distinct and in order"
    if _ID_NAME.search(name) and len(np.unique(known)) == len(known):
        return "ids, by its name"
    return None


def sample_rows(
    n_rows: int, size: int | None, needed: Sequence[int] | IntArray, seed: int
) -> IntArray:
    """Return rows to learn from, in order: all, or a random sample that has the needed ones.

    Examples
    --------
    >>> rows = sample_rows(1000, 5, [17, 3], seed=0)
    >>> len(rows), {3, 17} <= set(rows.tolist())
    (5, True)
    """
    if size is None or size >= n_rows:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[np.asarray(needed, dtype=np.intp)] = True
    others = np.flatnonzero(~chosen)
    more = min(max(0, size - int(chosen.sum())), len(others))
    chosen[np.random.default_rng(seed).choice(others, more, replace=False)] = True
    return np.flatnonzero(chosen)


def renumbered(pairs: IntArray, kept: IntArray, n_rows: int) -> tuple[IntArray, BoolArray]:
    """Return pairs by their place among the kept rows, and which pairs have both rows.

    Examples
    --------
    >>> pairs, whole = renumbered(np.array([[0, 4], [2, 3]]), np.array([2, 3, 5]), n_rows=6)
    >>> pairs.tolist(), whole.tolist()
    ([[0, 1]], [False, True])
    """
    place = np.full(n_rows, -1, dtype=np.intp)
    place[kept] = np.arange(len(kept))
    moved = place[pairs].reshape(-1, 2)
    whole: BoolArray = np.all(moved >= 0, axis=1)
    return moved[whole], whole
