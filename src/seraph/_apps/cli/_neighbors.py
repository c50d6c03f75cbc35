"""The command ``neighbors``: list the rows nearest to one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ._console import command, result, rows_of, show_columns
from ._requests import ModelRequest

_FORMATS = {"distance": "{:.4g}", "p(similar)": "{:.3f}"}


@dataclass(frozen=True, kw_only=True)
class NeighborsRequest(ModelRequest):
    """What `seraph neighbors` is asked for."""

    row: Annotated[
        str,
        typer.Option(metavar="ROW", help="Id of the row, with --id; or its number, from 0."),
    ]
    k: Annotated[int, typer.Option("-k", min=1, help="Number of neighbors.")] = 5


@command
def neighbors(request: NeighborsRequest) -> None:
    """List the rows of a table that are nearest to one of them.

    The list gives the distance of each row; with --label and --id also its label and id; and for
    a model by --learner seraph the probability that the two are similar.

    Example: seraph neighbors model.skops data.csv --row 17 -k 5 --label class
    """
    import numpy as np

    from ._models import find_row
    from ._tables import labels_of

    fitted, table, (label, unlabeled, id_column) = request.read()
    place = find_row(table, request.row, id_column)
    labels = labels_of(table, label, unlabeled)
    points = fitted.points(table, without=[label, id_column])
    mapped = np.asarray(fitted.learner.transform(points), dtype=np.float64)
    distances = np.linalg.norm(mapped - mapped[place], axis=1)
    order = np.argsort(distances, kind="stable")
    nearest = order[order != place][: request.k]
    distances = distances[nearest]

    columns: dict[str, list[Any]] = {"row": nearest.tolist()}
    if id_column is not None:
        columns[id_column] = table.cells(id_column).take(nearest).to_pylist()
    if labels is not None:
        columns[label or "y"] = labels[nearest].tolist()
    left = len(columns)
    columns["distance"] = distances.tolist()
    if hasattr(fitted.learner, "pair_proba"):
        pairs = np.column_stack([np.full_like(nearest, place), nearest])
        columns["p(similar)"] = fitted.learner.pair_proba(points[pairs]).tolist()
    own = None if labels is None else labels[place]
    result(row=place, label=own, neighbors=rows_of(columns))
    known = "" if labels is None else f" ({own or 'unlabeled'})"
    shown = {
        name: ["-" if cell is None else _FORMATS.get(name, "{}").format(cell) for cell in cells]
        for name, cells in columns.items()
    }
    title = f"Nearest to row {place}{known} of {table.n_rows}"
    show_columns(shown, title, numbers=slice(left, None))
