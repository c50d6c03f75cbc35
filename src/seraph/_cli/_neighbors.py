"""The command ``neighbors``: list the rows nearest to one row."""

from __future__ import annotations

from typing import Annotated

import typer

from . import _options as options
from ._console import show


def neighbors(
    model: options.ModelFile,
    data: options.DataFile,
    row: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Row number, from 0.")],
    k: Annotated[
        int, typer.Option("-k", min=1, metavar="NUMBER", help="Number of neighbors.")
    ] = 5,
    label: options.LabelColumn = None,
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
) -> None:
    """List the rows of a table that are nearest to one of them.

    The list gives the distance of each row and the probability that the two are similar (1/2 at
    distance 1, and at most 0.73, at distance 0). With --label and --id it also gives the label
    and the id.

    Example: seraph neighbors model.skops data.csv --row 17 -k 5 --label class
    """
    import numpy as np

    from ._models import SavedModel
    from ._tables import read_table

    fitted = SavedModel.read(model)
    table = read_table(data, decimal_comma=decimal_comma)
    if row >= table.n_rows:
        raise ValueError(f"--row {row}: {data} only has rows 0 to {table.n_rows - 1}.")
    points = fitted.points(table, without=[label, id_column])
    labels = table.labels(label)
    mapped = np.asarray(fitted.estimator.transform(points), dtype=np.float64)
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
    own = f" ({labels[row] or 'unlabeled'})" if labels is not None else ""
    show(
        [list(columns), *map(list, zip(*columns.values(), strict=True))],
        f"Nearest to row {row}{own} of {table.n_rows}",
        numbers=slice(left, None),
    )
