"""The command ``query``: choose the pairs to ask an expert about next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from . import _options as options
from ._console import check_tables_out, command, put_table, result, rows_of, say, show_columns
from ._requests import ModelRequest


@dataclass(frozen=True, kw_only=True)
class QueryRequest(ModelRequest):
    """What `seraph query` is asked for."""

    n: Annotated[int, typer.Option("-n", min=1, help="Number of pairs.")] = 10
    output: options.TableOutput = None
    pairs: options.PairsFile = None


@command
def query(request: QueryRequest) -> None:
    """Choose the pairs of rows to ask an expert about next.

    Fill in the column similar of the file (1 for similar, 0 for dissimilar, empty if unsure) and
    pass it back: seraph fit data.csv --label class --pairs queries.csv. Pairs that follow from
    the labels, or are answered in --pairs, are left out. With --id, the file names the rows, and
    fit --id finds them by name even if the data have been sorted since. p is the probability
    that the two rows are similar, by SERAPH, which is part of the mean that seraph fit learns.

    Example: seraph query model.skops data.csv -n 10 --label class -o queries.csv
    """
    import numpy as np

    from ... import Marks, query_pairs
    from ..ask._questions import posterior_learner
    from ._examples import marked_pairs
    from ._tables import labels_of

    output = request.output
    check_tables_out([output], (request.model, *request.data, request.pairs))
    fitted, table, (label, unlabeled, id_column) = request.read()
    learner = posterior_learner(fitted.learner)
    if learner is None:
        raise ValueError(
            f"{request.model} holds a {type(fitted.learner).__name__}, which cannot say how sure "
            "it is about a pair: fit a MeanMetric with a SERAPH in it, or a SERAPH."
        )
    points = fitted.points(table, without=[label, id_column])
    marks = Marks(*marked_pairs(table, request.pairs, id_column), rows=table.n_rows)
    chosen = query_pairs(
        learner,
        points,
        request.n,
        y=labels_of(table, label, unlabeled),
        marks=marks,
    )
    if len(chosen) == 0:
        raise ValueError(f"{table.path}: all pairs of rows are known: there is nothing to ask.")
    columns = {
        "i": chosen[:, 0],
        "j": chosen[:, 1],
        "similar": np.full(len(chosen), "", dtype=object),
        "p": learner.pair_proba(points[chosen]).round(4),
    }
    if id_column is not None:
        cells = table.cells(id_column)
        for side, name in enumerate("ij"):
            columns[f"id_{name}"] = cells.take(chosen[:, side])
    result(pairs=rows_of(columns))
    if output is not None:
        put_table(output, columns)
        say(
            f"{output}: {len(chosen)} pairs. Fill in the column similar, then run seraph fit "
            "--pairs."
        )
        return
    del columns["similar"]
    shown = {name: [str(cell) for cell in column] for name, column in columns.items()}
    show_columns(shown, "Pairs to ask about", numbers=slice(0, None))
