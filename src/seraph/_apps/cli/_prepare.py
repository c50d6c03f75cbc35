"""From a table to the points that a learner takes, by `TablePreparer`; of an array, by steps."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..._utils._cells._ids import IDS
from ._console import as_options, show

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
    from ._tables import InputTable

# Columns to list by name; the rest are counted.
_LISTED = 60
_SUSPECT = "numbers, perhaps ids: "
# What `TablePreparer` says became of a column begins like one of these, in the order of the table
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
    "left out: no number": "correct that cell",
    **{f"left out: {why}": "--keep {}" for why in IDS},
    "left out": "",
}


def prepare(table: InputTable, request: Any) -> tuple[list[tuple[str, Any]], FloatArray]:
    """Return the fitted steps before the learner, and the points that it learns from.

    The request says what to do with the columns of the table.
    """
    import numpy as np
    from sklearn.pipeline import Pipeline

    from ... import TablePreparer
    from ..._utils._cells._steps import number_steps
    from ..._utils._directions import check_directions
    from ._tables import PlainArray, Reading

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
        )
        scaled = preparer.fit_transform(table)
        if doubt := about_ids(table.path, preparer.columns_):
            warnings.warn(doubt, stacklevel=2)
        return [("prepare", preparer)], scaled
    table.without([*onehot, *keep, *drop])
    points = table.points(reading=Reading(missing=True))
    lowest, highest = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    if not np.any(lowest < highest):
        raise ValueError(
            f"{table.path}: every feature has the same value in all rows, so all distances are "
            "0: add features that vary."
        )
    has_missing = bool(np.isnan(points.sum(axis=0)).any())  # makes no array of their size
    steps = number_steps(scale, impute if has_missing else None)
    if not steps:
        return [], points
    model = Pipeline(steps).fit(points)
    check_directions(model, points, f"{table.path}")
    return model.steps, np.asarray(model.transform(points))


def about_ids(source: object, uses: Mapping[str, str]) -> str:
    """Name the columns of `source` that may only identify rows; "" if there is none."""
    suspects = {
        name: use.removeprefix(_SUSPECT).partition(" missing:")[0]
        for name, use in uses.items()
        if use.startswith(_SUSPECT)
    }
    if not suspects:
        return ""
    from ._tables import listed

    one = len(suspects) == 1
    return as_options(
        f"{source}: {listed(suspects)} {'is' if one else 'are'} used as "
        f"{'a number' if one else 'numbers'}, and may only identify rows. Leave "
        f"{'it' if one else 'them'} out with drop={list(suspects)}; --keep is for one that "
        "measures something."
    )


def column_rows(uses: Mapping[str, str]) -> list[list[str]]:
    """Say what became of the columns of a table and how to change it, headings first.

    `uses` are ``columns_`` of a `TablePreparer`.

    Examples
    --------
    >>> column_rows({"no": "left out: row numbers", "age": "numbers"})[1:]
    [['age', 'numbers', '--drop age'], ['no', 'left out: row numbers', '--keep no']]
    """
    from ._tables import and_more

    columns: dict[str, list[str]] = {}
    for name, text in uses.items():
        use, n, how = re.fullmatch(r"(.*?)(?:, ([\d,]+) (missing: .*))?", text).groups()  # type: ignore[union-attr]
        columns.setdefault(use, []).append(name)
        if how:
            columns.setdefault(how, []).append(f"{name} ({n})")
    begin = tuple(_WAYS)
    ranks = {use: next(k for k, b in enumerate(begin) if use.startswith(b)) for use in columns}
    rows = [
        [and_more(columns[use][:_LISTED], len(columns[use])), use, _option(use, columns[use])]
        for use in sorted(columns, key=ranks.__getitem__)
    ]
    return [["column", "used as", "to change it"], *rows]


def show_columns_used(uses: Mapping[str, str]) -> None:
    """Print what became of the columns of a table, unless they have no names."""
    if uses:
        show(column_rows(uses), "Columns", numbers=slice(0))


def _option(use: str, names: Sequence[str]) -> str:
    from ._tables import quoted

    way = next(way for begin, way in _WAYS.items() if use.startswith(begin))
    return way.format(quoted(names[0]) + (" ..." if len(names) > 1 else ""))
