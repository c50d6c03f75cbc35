"""The command ``neighbors``: list the rows nearest to one row."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _options as options
from ._console import command, result, show


@command
def neighbors(
    model: options.ModelFile,
    data: options.DataFiles,
    row: Annotated[
        str,
        typer.Option(metavar="ROW", help="Id of the row, with --id; or its number, from 0."),
    ],
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="NUMBER", help="Number of neighbors.")
    ] = 5,
    label: options.LabelColumn = None,
    unlabeled: options.Unlabeled = None,
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    sql: options.Sql = None,
) -> None:
    """List the rows of a table that are nearest to one of them.

    The list gives the distance of each row and the probability that the two are similar (1/2 at
    distance 1, and at most 0.73, at distance 0). With --label and --id it also gives the label
    and the id.

    Example: seraph neighbors model.skops data.csv --row 17 -k 5 --label class
    """
    import numpy as np

    from ._models import SavedModel, find_row
    from ._tables import read_tables

    fitted = SavedModel.read(model)
    table = read_tables(data, decimal_comma=decimal_comma, sql=sql)
    label, unlabeled_labels, id_column = fitted.roles(table, label, unlabeled, id_column)
    place = find_row(table, row, id_column)
    points = fitted.points(table, without=[label, id_column])
    labels = table.labels(label, unlabeled_labels)
    mapped = np.asarray(fitted.estimator.transform(points), dtype=np.float64)
    distances = np.linalg.norm(mapped - mapped[place], axis=1)
    order = np.argsort(distances, kind="stable")
    nearest = order[order != place][:k]

    columns = {"row": [str(other) for other in nearest]}
    if id_column is not None:
        cells = table.cells(id_column)
        columns[id_column] = [str(cells[int(other)].as_py()) for other in nearest]
    if labels is not None:
        columns[label or "y"] = [labels[other] or "-" for other in nearest]
    left = len(columns)
    columns["distance"] = [f"{distances[other]:.4g}" for other in nearest]
    if fitted.has("pair_proba"):
        pairs = np.column_stack([np.full_like(nearest, place), nearest])
        columns["p(similar)"] = [f"{p:.3f}" for p in fitted.pair_proba(points, pairs)]
    rows = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    result(row=place, label=None if labels is None else labels[place], neighbors=rows)
    own = f" ({labels[place] or 'unlabeled'})" if labels is not None else ""
    show(
        [list(columns), *map(list, zip(*columns.values(), strict=True))],
        f"Nearest to row {place}{own} of {table.n_rows}",
        numbers=slice(left, None),
    )
