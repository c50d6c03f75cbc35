"""What becomes of the columns of a table: why one is left out, and how to say so."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ._cells import and_more, is_text, quoted, without_empty
from ._ids import IDS, looks_like_ids
from ._numbers import Faults, to_numbers
from ._table import InputTable

# Columns that an error and a table list by name; the rest are counted.
LISTED, _IN_A_TABLE = 6, 60
# Why a column is left out begins like this if it could be used as categories.
_TEXT = "text"
AMONG_NUMBERS, MIXED = "no number", "numbers and text"
CONSTANT = "the same in every row"


def why_not(name: str, values: Any, keep: Collection[str], dates: Collection[str]) -> str | None:
    """Say why a column is no feature: it has no value or only one, or identifies the rows."""
    numbers = values.dtype.kind == "f"
    known = values.dropna()
    if not len(known):
        return "empty"
    if name in keep:
        return None
    if np.ptp(known.to_numpy()) == 0.0 if numbers else values.nunique(dropna=False) == 1:
        return CONSTANT
    return None if name in dates else looks_like_ids(name, values)


def about_text(column: Any, detail: str) -> str:
    """Say what a column of text that is no category holds."""
    if not is_text(column.type):
        return detail
    cells = without_empty(column).drop_null().to_pylist()
    distinct = len({*cells})
    if distinct == 1 and len(cells) == len(column):
        return CONSTANT
    if distinct == len(cells):
        return f"{_TEXT}, different in every row"
    return f"{_TEXT} with {distinct:,} different values"


def unnamed_row_numbers(table: InputTable) -> list[str]:
    """Return the columns without a name that number the rows, as pandas saves its index."""
    found = []
    for number, name in enumerate(table.names or (), start=1):
        if name == f"unnamed_{number}":
            values = to_numbers(name, table.cells(name), Faults())
            if len(values) and looks_like_ids("id", values):
                found.append(name)
    return found


def feature_names(transformer: Any, names: Sequence[str]) -> list[str]:
    """Return the names of the features that a step makes; rare categories are called so."""
    made = transformer.get_feature_names_out(list(names))
    return [re.sub("_infrequent_sklearn$", "_(rare)", str(name)) for name in made]


def used_columns(uses: Mapping[str, str]) -> list[str]:
    """Return the columns that are used, given what became of each.

    Examples
    --------
    >>> used_columns({"id": "left out: row numbers", "age": "numbers"})
    ['age']
    """
    return [name for name, use in uses.items() if not use.startswith("left out")]


def column_rows(noted: dict[str, Any]) -> list[list[str]]:
    """Say what became of the columns of a table and how to change it, headings first.

    Parameters
    ----------
    noted : dict
        What a model file keeps about its table; see `Features.noted`.

    Returns
    -------
    list of list of str
        Only the headings if the table is an array, whose columns have no names.
    """
    rows: list[list[str]] = []
    names: list[str] | None
    suspects = noted.get("suspects") or {}
    for why in dict.fromkeys(suspects.values()):
        names = [name for name, reason in suspects.items() if reason == why]
        rows.append([_some(names), f"numbers, but perhaps ids: {why}", _option("--drop", names)])
    if names := noted.get("numbers"):
        rows.append([_some(names), "numbers", _option("--drop", names)])
    if (missing := noted.get("missing")) and noted.get("impute") in FILLED_IN:
        how, other = FILLED_IN[noted["impute"]]
        option = f"--impute {other}, --impute drop"
        rows.append([_counted(missing), f"missing numbers, filled in by {how}", option])
    if n := noted.get("dropped_rows"):
        rows.append([f"{n:,} rows", "left out: a number is missing", "--impute median"])
    if names := noted.get("categories"):
        option = _option("--drop", names)
        rows.append([_some(names), "categories: a column of 0 and 1 each", option])
    if absent := noted.get("missing_categories"):
        rows.append([_counted(absent), "missing text, a category of its own", ""])
    dates = noted.get("dates") or {}
    for use, (what, other) in DATE_WORDS.items():
        if names := [name for name, made in dates.items() if made == use]:
            rows.append([_some(names), f"dates: {what}", f"--dates {other}, --dates drop"])
    left_out = noted.get("left_out") or {}
    for why in dict.fromkeys(left_out.values()):
        names = [name for name, reason in left_out.items() if reason == why]
        rows.append([_some(names), f"left out: {why}", overruling(why, names)])
    return [["column", "used as", "to change it"], *rows]


# What a choice of --impute or --dates does, in words, and the other choice.
FILLED_IN = {"median": ("the median", "knn"), "knn": ("the mean of similar rows", "median")}
DATE_WORDS = {"days": ("days since 1970", "parts"), "parts": ("year, season and weekday", "days")}


def _counted(counts: dict[str, int]) -> str:
    return _some([f"{name} ({n:,})" for name, n in counts.items()])


def _some(names: Collection[str]) -> str:
    return and_more(list(names)[:_IN_A_TABLE], len(names))


def _option(option: str, names: Sequence[str]) -> str:
    return f"{option} {quoted(names[0])}" + (" ..." if len(names) > 1 else "")


def overruling(why: str, names: Sequence[str]) -> str:
    """Return the option that uses columns that are left out."""
    if why == "dates":
        return "--dates days"
    if why.startswith(_TEXT):
        return _option("--onehot", names)
    if why.startswith(MIXED):
        return f"{_option('--onehot', names)}, or correct that cell"
    if why.startswith(AMONG_NUMBERS):
        return "correct that cell"
    return _option("--keep", names) if why in IDS else ""
