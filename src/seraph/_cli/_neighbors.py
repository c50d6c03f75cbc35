"""The command ``neighbors``: the rows that are nearest to one."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _options as options
from ._console import show


def neighbors(
    model: options.Model,
    data: options.Data,
    row: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="The row, counted from 0.")],
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="NUMBER", help="Number of neighbours.")
    ] = 5,
    label: options.Label = None,
    id_column: options.Id = None,
    decimal_comma: options.DecimalComma = False,
) -> None:
    """List the rows of a table that are nearest to one of them.

    With each comes its distance and the probability that the two are alike (1/2 where the
    distance is 1, and at most 0.73, where it is 0); and, if the columns are named, its label and
    its id.

    Example: seraph neighbors model.skops data.csv --row 17 -k 5 --label class
    """
    import numpy as np

    from ._models import Model
    from ._tables import read_table

    fitted = Model.read(model)
    table = read_table(data, decimal_comma=decimal_comma)
    if row >= table.n_rows:
        raise ValueError(f"--row {row}: {data} has rows 0 to {table.n_rows - 1}.")
    points = fitted.points(table, without=[label, id_column])
    labels = table.labels(label)
    mapped = np.asarray(fitted.whole.transform(points), dtype=np.float64)
    distances = np.linalg.norm(mapped - mapped[row], axis=1)
    order = np.argsort(distances, kind="stable")
    nearest = order[order != row][:k]

    columns = {"row": [str(other) for other in nearest]}
    if id_column is not None:
        cells = table.cells(id_column)
        columns[id_column] = [str(cells[int(other)].as_py()) for other in nearest]
    if labels is not None:
        columns[label or "y"] = [labels[other] or "-" for other in nearest]
    left = len(columns)
    columns["distance"] = [f"{distances[other]:.4g}" for other in nearest]
    if fitted.has("pair_proba"):
        pairs = np.column_stack([np.full_like(nearest, row), nearest])
        columns["p(similar)"] = [f"{p:.3f}" for p in fitted.pair_proba(points, pairs)]
    own = f" ({labels[row] or 'not labelled'})" if labels is not None else ""
    show(
        [list(columns), *map(list, zip(*columns.values(), strict=True))],
        f"Nearest to row {row}{own} of {table.n_rows}",
        numbers=slice(left, None),
    )
