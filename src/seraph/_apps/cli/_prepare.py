"""From a table to the points that a learner takes, by `TablePreparer`; of an array, by steps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..ask._arrays import FloatArray
    from ._tables import InputTable

# Columns to list by name, in a table and in a note; the rest are counted.
_LISTED, _NAMED = 60, 5
_SUSPECT = "numbers, perhaps ids: "
# An entry of `TablePreparer.columns_` begins like one of these, in the order of the table
# that is printed; then the option that changes it.
_WAYS = {
    _SUSPECT: "--drop {}",
    "numbers": "--drop {}",
    "missing: filled in by the median": "--impute knn",
    "missing: filled in": "--impute median",
    "missing": "",
    "categories": "--drop {}",
    "dates: days": "--dates parts, --dates drop",
    "dates": "--dates days, --dates drop",
    "left out: dates": "--dates days",
    "left out: text": "--onehot {}",
    "left out: numbers and text": "--onehot {}, or correct that cell",
    "left out: row numbers": "--keep {}",
    "left out: whole numbers": "--keep {}",
    "left out: ids": "--keep {}",
    "left out": "",
}


def prepare(table: InputTable, request: Any) -> tuple[list[tuple[str, Any]], FloatArray]:
    """Return the fitted steps before the learner, and the points that it learns from.

    The request is what to do with the columns of the table.
    """
    import numpy as np
    from sklearn.pipeline import Pipeline

    from ... import TablePreparer
    from ..._utils._directions import check_directions
    from ...tables import number_steps
    from ._tables import PlainArray

    scale, impute = request.scale, request.impute
    onehot, keep, drop = (
        list(asked or ()) for asked in (request.onehot, request.keep, request.drop)
    )
    if not isinstance(table, PlainArray):
        preparer = TablePreparer(
            scale=scale,
            impute=impute,
            dates=request.dates,
            onehot=onehot,
            keep=keep,
            drop=drop,
            missing=list(request.missing or ()),
        )
        scaled = preparer.fit_transform(table)
        if doubt := about_ids(table.path, preparer.columns_):
            warnings.warn(doubt, stacklevel=2)
        return [("prepare", preparer)], scaled
    table.without([*onehot, *keep, *drop])
    points = table.points()
    has_missing = bool(np.isnan(points.sum(axis=0)).any())  # makes no array of their size
    steps = number_steps(scale, impute if has_missing else None)
    if not steps:
        return [], points
    check_directions(steps[0][1], points, str(table.path))
    model = Pipeline(steps).fit(points)
    return model.steps, np.asarray(model.transform(points))


def about_ids(source: object, uses: Mapping[str, str]) -> str:
    """Name the columns of `source` that may only identify rows; "" if there is none."""
    from ._tables import and_more, quoted

    suspects = {
        name: use.removeprefix(_SUSPECT).partition(" missing:")[0]
        for name, use in uses.items()
        if use.startswith(_SUSPECT)
    }
    named = [f"{name!r} ({why})" for name, why in suspects.items()]
    drop = " ".join(f"--drop {quoted(name)}" for name in suspects)
    said = (
        f"{source}: used as numbers, but may only identify rows: "
        f"{and_more(named[:_NAMED], len(named))}. Leave out with {drop}; --keep is for what "
        "measures something."
    )
    return said if suspects else ""


def column_rows(uses: Mapping[str, str]) -> list[list[str]]:
    """Say what became of the columns of a table and how to change it, headings first.

    `uses` are ``columns_`` of a `TablePreparer`.

    Examples
    --------
    >>> column_rows({"no": "left out: row numbers", "age": "numbers"})[1:]
    [['age', 'numbers', '--drop age'], ['no', 'left out: row numbers', '--keep no']]
    """
    from ._tables import and_more, quoted

    columns: dict[str, list[str]] = {}
    for name, text in uses.items():
        use, n, how = re.fullmatch(r"(.*?)(?:, ([\d,]+) (missing: .*))?", text).groups()  # type: ignore[union-attr]
        columns.setdefault(use, []).append(name)
        if how:
            columns.setdefault(how, []).append(f"{name} ({n})")
    begins = {use: next(begin for begin in _WAYS if use.startswith(begin)) for use in columns}
    rank = list(_WAYS).index
    rows = []
    for use in sorted(columns, key=lambda use: rank(begins[use])):
        names = columns[use]
        example = quoted(names[0]) + (" ..." if len(names) > 1 else "")
        named = and_more(names[:_LISTED], len(names))
        rows.append([named, use, _WAYS[begins[use]].format(example)])
    return [["column", "used as", "to change it"], *rows]
