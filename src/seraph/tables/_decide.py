"""Decide what becomes of each column of a table: what to leave out, encode, fill in and scale."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils._optional import Late
from .._utils._typing import Array
from .._utils._warnings import warn
from ._columns import REASONS, Column
from ._dates import date_features, no_date
from ._ids import looks_like_ids, sentinel, suspicion
from ._numbers import Settled, number_in
from ._reading import holds, read_column, settle, text_counts, without_values
from ._table import NamedColumns, about, first_of
from ._words import (
    ColumnError,
    ColumnWarning,
    Setting,
    advice,
    and_more,
    cell_text,
    is_missing,
    listed,
    spellings,
)

pd = Late("pandas")
# A category of fewer rows than this share, or than two, is rare.
_RARE = 0.01
# A text column with few distinct values, each in about three rows or more, holds categories: with
# fewer rows each, they are rather names. Up to 200 values are few if each is in twenty rows.
_FEW_VALUES, _ROWS_EACH = 50, 3
_MORE_VALUES, _MORE_ROWS_EACH = 200, 20
# Categories of counts: 1, 2-10, 11-100, 100+, <5.
_RANGE = re.compile(
    r"\d[\d.,]*\s*(?:-|\u2013|to|bis)\s*\d[\d.,]*|\d[\d.,]*\s*\+|[<>≤≥]=?\s*\d[\d.,]*"
)
# Columns that an error lists by name; the rest are counted.
_LISTED = 6
MISSING_CATEGORY, RARE_CATEGORY = "(missing)", "(rare)"


def decide(table: NamedColumns, how: Any) -> tuple[dict[str, Column], Any]:
    """Read the columns of a table as a `TablePreparer` with the parameters `how` does.

    Returns what becomes of each column, and a data frame of those that are used: numbers and text,
    before they are encoded and scaled. Refuses a table in which no two rows differ.
    """
    for name in (*how.drop, *how.keep, *how.onehot):
        if name not in table.columns:
            raise ValueError(f"{table.path} has no column {name!r}.{advice(name, table.names)}")
        if name in how.drop and name in (*how.keep, *how.onehot):
            raise ValueError(f"{table.path}: {name!r} cannot be both used and left out.")
    columns = dict.fromkeys(table.names, Column("", reason="asked"))
    points: dict[str, Any] = {}
    notes = _Notes(table)
    for name, settled in _settled(table, how).items():
        column = settled.column or _text_use(table, name, settled)
        if settled.column is None and name in how.keep:
            detail = first_of(table, name, settled.wrong) or f"{table.columns[name].type}"
            notes.of["no numbers"][name] = detail
        if column.use == "dates" and how.dates == "drop":
            column = Column("", reason="dates")
        if column.use:
            _check_clear(table, name, settled.ambiguous)
            column, made = _read(name, column, settled, how, notes)
            points |= made
        columns[name] = column
    notes.tell()
    _check_left(table, columns)
    return columns, pd.DataFrame(points, index=range(table.n_rows), copy=False)


def _read(
    name: str, column: Column, settled: Settled, how: Any, notes: _Notes
) -> tuple[Column, dict[str, Array]]:
    """Read a column: return what becomes of it, and the features that it makes."""
    cells = without_values(notes.table.columns[name], how.missing)
    values, wrong = read_column(column, cells)
    notes.read(name, column, settled, values, wrong)
    is_date = column.use == "dates"
    made = date_features(name, values, how.dates) if is_date else {name: values}
    reasons = {part: _why_not(part, made[part], how, column) for part in made}
    made = {part: made[part] for part, why in reasons.items() if not why}
    if not made:
        return Column("", reason=next(iter(reasons.values()))), {}
    n, filled = int(pd.isna(values).sum()), how.impute
    if column.use == "categories":
        filled = "own" if n >= rarest(len(values)) else "rare"
    elif is_date:
        column = column._replace(detail=how.dates)
    elif not column.unit and name not in how.keep and not settled.thousands:
        column = column._replace(reason=suspicion(name, values))
    return column._replace(n_missing=n, filled=filled if n else ""), made


def _settled(table: NamedColumns, how: Any) -> dict[str, Settled]:
    """Settle how each column is read; a column without marks of its own follows the others."""
    used = {
        n: without_values(c, how.missing) for n, c in table.columns.items() if n not in how.drop
    }
    semicolons = table.written.separator == ";"

    def all_of(decimal: str | None) -> dict[str, Settled]:
        return {
            name: Settled(Column("categories"))
            if name in how.onehot
            else settle(column, decimal, semicolons=semicolons, dates=name not in how.keep)
            for name, column in used.items()
        }

    if table.written.decimal_comma:
        return all_of(",")
    settled = all_of(None)
    for name, one in settled.items():
        if one.commas:
            where = first_of(table, name, [one.commas], count=False)
            warn(f"{table.path}: read with decimal commas, as in column {name!r} ({where}).")
            return all_of(",")
    open_question = any(one.unclear or one.ambiguous for one in settled.values())
    return all_of(".") if open_question and any(s.points for s in settled.values()) else settled


class _Notes:
    """What a fit says about the cells of a table: of each kind, a detail about each column."""

    def __init__(self, table: NamedColumns) -> None:
        self.table = table
        self.of: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def read(
        self, name: str, column: Column, settled: Settled, values: Array, wrong: Array
    ) -> None:
        """Note cells that are, or may be, read otherwise than they are meant."""
        table, cells = self.table, self.table.columns[name]
        if column.use == "categories":
            if holds(cells) == "text" and (groups := spellings(text_counts(cells))):
                self.of["spellings"][name] = " and ".join(map(repr, groups[0]))
            return
        is_number = column.use == "numbers"
        if wrong.any() and is_number:
            self.of["infinite or too large values"][name] = about(table, name, wrong)
        never = (
            np.isnat(values) & cells.is_valid().to_numpy() if holds(cells) == "dates" else wrong
        )
        if never.any() and not is_number:
            self.of["readings"][name] = f"{about(table, name, never)} is read as missing"
        if (extreme := (sentinel if is_number else no_date)(values)) is not None:
            rows = np.flatnonzero(values == extreme)
            text = f"{extreme:.15g}" if is_number else cell_text(cells[int(rows[0])].as_py())
            self.of["far"][name] = f"{text} in {len(rows)} rows"
            self.of["far values"].setdefault("", text)
        if holds(cells) != "text":
            return
        texts = text_counts(cells, unknown=True)
        words = (text for text in texts if text in column.words or is_missing(text, unknown=True))
        odd = settled.unclear or settled.scaled
        value = f"{number_in(odd, column.form, column.unit):.15g}" if odd else ""
        for text, meaning in (
            (settled.unclear, f"{value}; if the point separates thousands, add --decimal-comma"),
            (settled.scaled, value),
            (settled.thousands, "thousands"),
            (next(words, ""), "missing"),
        ):
            if text:
                first = first_of(table, name, [text], count=False)
                self.of["readings"][name] = f"{first} is read as {meaning}"
                break

    def tell(self) -> None:
        """Raise an error about cells that cannot be used, or warn of those that may be wrong."""
        path, of = self.table.path, self.of
        for what, *way_out in (
            ("no numbers", "a distance needs numbers. Use categories as columns of 0 and 1 (",
             Setting("onehot", [*of["no numbers"]]), "), or leave the column out ("),
            ("infinite or too large values", "correct them, or leave the column out ("),
        ):  # fmt: skip
            if of[what]:
                drop = Setting("drop", [*of[what]])
                raise ColumnError(f"{path}: {what} in {listed(of[what])}: ", *way_out, drop, ").")
        if of["readings"]:
            warn(f"{path}: {listed(of['readings'])}. If that is wrong, correct those cells.")
        if of["spellings"]:
            warn(
                f"{path}: {listed(of['spellings'])} are different categories. If they mean the "
                "same, write them alike."
            )
        if of["far"]:
            said = f"{path}: {listed(of['far'])}, far from all others there. If that means a "
            value = Setting("missing", [of["far values"][""]])
            warn(ColumnWarning(f"{said}missing value, add ", value, "."))


def make_encoder(columns: dict[str, Column], points: Any, scale: str, impute: str) -> Any:
    """Return a pipeline, fitted, that turns the columns that are used into numbers on one scale.

    Categories are not scaled: two different ones are at a squared distance of 2, which is the mean
    squared distance of two values of a feature of variance 1. A missing cell is a category like
    any other, and there always is a column for those that are rare or new.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    categories = [name for name, column in columns.items() if column.use == "categories"]
    # New rows of a table may lack what its first rows have. Embeddings do not, and the median of
    # many vectors takes long.
    fill = scale != "unit" or points.drop(columns=categories).isna().to_numpy().any()
    numbers = Pipeline(number_steps(scale, impute if fill else None) or [("keep", "passthrough")])
    if not categories:
        return numbers.fit(points)
    known = [
        np.array(sorted({*points[name].fillna(MISSING_CATEGORY)} | {RARE_CATEGORY}), dtype=object)
        for name in categories
    ]
    encode = OneHotEncoder(
        categories=known,
        min_frequency=rarest(len(points)),
        handle_unknown="infrequent_if_exist",
        sparse_output=False,
    )
    missing = SimpleImputer(strategy="constant", fill_value=MISSING_CATEGORY)
    steps = Pipeline([("fill", missing), ("onehot", encode)])
    parts = [("categories", steps, categories)]
    others = [name for name in points.columns if name not in categories]
    if others:
        parts.insert(0, ("numbers", numbers, others))
    both = ColumnTransformer(parts, verbose_feature_names_out=False)
    return Pipeline([("prepare", both)]).fit(points)


def number_steps(scale: str, impute: str | None) -> list[tuple[str, Any]]:
    """Return steps of a pipeline that scale numbers, and fill in missing ones unless None."""
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


def _text_use(table: NamedColumns, name: str, settled: Settled) -> Column:
    """Return how a column is used that holds neither numbers nor dates: as categories, or not."""
    column = table.columns[name]
    if not settled.wrong:
        return Column("", reason="type", detail=f"{column.type}")
    counts = text_counts(column)
    known = sum(counts.values())
    wrong = sum(counts[text] for text in settled.wrong)
    if 2 * wrong < known and not all(map(_RANGE.fullmatch, settled.wrong)):
        return Column("", reason="mixed", detail=first_of(table, name, settled.wrong))
    fewest = 1 if known < table.n_rows else 2  # an empty cell is a category, too
    few = max(_FEW_VALUES, min(_MORE_VALUES, known // _MORE_ROWS_EACH))
    if fewest <= len(counts) <= min(few, (known + 2) // _ROWS_EACH):
        return Column("categories")
    if len(counts) == 1 and known == table.n_rows:
        return Column("", reason="constant")
    if settled.two_ways:
        return Column("", reason="unclear dates")
    if len(counts) == known:
        return Column("", reason="distinct text")
    return Column("", reason="text", detail=f"{len(counts):,}")


def _why_not(name: str, values: Array, how: Any, column: Column) -> str:
    """Say why a column is not a feature: it has at most one value, or identifies the rows."""
    known = pd.Series(values).dropna()
    if not len(known):
        return "empty"
    if name in (*how.keep, *how.onehot):
        return ""
    if known.nunique() + (column.use == "categories" and len(known) < len(values)) == 1:
        return "constant"
    if column.use == "numbers" and name.startswith("unnamed_") and looks_like_ids("id", values):
        return "unnamed"
    return "" if column.use == "dates" else looks_like_ids(name, values)


def _check_clear(table: NamedColumns, name: str, texts: Sequence[str]) -> None:
    """Refuse a column with `texts` that contradict one another, or leave two readings."""
    if texts:
        where = ", but ".join(first_of(table, name, [text]) or repr(text) for text in texts)
        where += ", in a table with semicolons" if len(texts) == 1 else ""
        raise ValueError(
            f"{table.path}: it is not clear whether commas separate thousands or decimals in "
            f"column {name!r} ({where}): write the numbers without a separator between thousands, "
            "and with a point before decimals."
        )


def _check_left(table: NamedColumns, columns: dict[str, Column]) -> None:
    """Refuse a table without a feature that varies."""
    if any(column.use for column in columns.values()):
        return
    left_out = {name: one for name, one in columns.items() if one.reason != "asked"}
    texts = [f"{name!r} ({one.why})" for name, one in list(left_out.items())[:_LISTED]]
    which = f": {and_more(texts, len(left_out))}" if texts else ""
    for parameter in ("onehot", "keep"):
        usable = [name for name, one in left_out.items() if REASONS[one.reason][1] == parameter]
        if usable:
            way: list[object] = ["Use one with ", Setting(parameter, usable[:1]), ", or add some."]
            break
    else:
        way = ["Add some."]
    raise ColumnError(f"{table.path}: no column is left as a feature{which}. ", *way)
