"""From a table to the points that a learner takes, by `TablePreparer`; of an array, by steps."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ...tables import Column
    from ...tables._table import InputTable
    from ..ask._arrays import FloatArray

# Columns to list by name, in a table and in a note; the rest are counted.
_LISTED, _NAMED = 60, 5
# The options that change what a column is used as, in the order of the table that is printed.
_USES = ("numbers", "categories", "dates", "")
_CHANGES = {
    "drop": "--drop {}",
    "days": "--dates parts, --dates drop",
    "parts": "--dates days, --dates drop",
    "dates": "--dates days",
    "onehot": "--onehot {}",
    "keep": "--keep {}",
    "median": "--impute knn",
    "knn": "--impute median",
}


def prepare(table: InputTable, request: Any) -> tuple[list[tuple[str, Any]], FloatArray]:
    """Return the fitted steps before the learner, and the points that it learns from.

    The request is what to do with the columns of the table.
    """
    import numpy as np
    from sklearn.pipeline import Pipeline

    from ... import TablePreparer
    from ..._utils._directions import check_directions
    from ...tables._decide import number_steps
    from ...tables._table import PlainArray

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


def about_ids(source: object, columns: Mapping[str, Column]) -> str:
    """Name the columns of `source` that may only identify rows; "" if there is none."""
    from ...tables._messages import and_more, quoted

    suspects = {name: how.why for name, how in columns.items() if how.use and how.reason}
    named = [f"{name!r} ({why})" for name, why in suspects.items()]
    drop = " ".join(f"--drop {quoted(name)}" for name in suspects)
    said = (
        f"{source}: used as numbers, but may only identify rows: "
        f"{and_more(named[:_NAMED], len(named))}. Leave out with {drop}; --keep is for what "
        "measures something."
    )
    return said if suspects else ""


def column_rows(columns: Mapping[str, Column]) -> list[list[str]]:
    """Say what became of the columns of a table and how to change it, headings first.

    `columns` are ``columns_`` of a `TablePreparer`.

    Examples
    --------
    >>> from seraph.tables import Column
    >>> column_rows({"no": Column("", reason="row numbers"), "age": Column("numbers")})[1:]
    [['age', 'numbers', '--drop age'], ['no', 'left out: row numbers', '--keep no']]
    """
    from ...tables._columns import REASONS
    from ...tables._messages import and_more, quoted

    reasons = ["", *REASONS]
    rows: dict[tuple[tuple[int, int], str, str], list[str]] = {}
    for name, how in columns.items():
        change = how.detail if how.use == "dates" else how.changes
        reason = reasons.index(how.reason) if not how.use else not how.reason
        place = (_USES.index(how.use), reason)
        rows.setdefault((place, how.said, change), []).append(name)
        if how.n_missing:
            place = (0, 2 if how.filled in _CHANGES else 3)
            part = f"{name} ({how.n_missing:,})"
            rows.setdefault((place, how.missing, how.filled), []).append(part)
    said = [["column", "used as", "to change it"]]
    for (_, use, change), names in sorted(rows.items(), key=lambda row: row[0][0]):
        example = quoted(names[0]) + (" ..." if len(names) > 1 else "")
        way = _CHANGES.get(change, "").format(example)
        said.append([and_more(names[:_LISTED], len(names)), use, way])
    return said
