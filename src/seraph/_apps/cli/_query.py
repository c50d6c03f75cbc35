"""The command ``query``: choose the pairs to ask an expert about next."""

from __future__ import annotations

from typing import Annotated, Any, cast

import typer

from . import _options as options
from ._console import command, print_table, result, say, show


@command
def query(
    model: options.ModelFile,
    data: options.DataFiles,
    n: Annotated[int, typer.Option("-n", min=1, metavar="NUMBER", help="Number of pairs.")] = 10,
    output: options.TableOutput = None,
    label: options.LabelColumn = None,
    unlabeled: options.Unlabeled = None,
    pairs: options.PairsFile = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to choose: entropy (pairs the model is least sure about) or gradient (pairs "
            "whose answer is expected to change the model most).",
        ),
    ] = "entropy",
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    sql: options.Sql = None,
) -> None:
    """Choose the pairs of rows to ask an expert about next.

    Fill in the column similar of the file (1 for similar, 0 for dissimilar, empty if unsure) and
    pass it back: seraph fit data.csv --label class --pairs queries.csv. Pairs that follow from
    the labels, or are answered in --pairs, are left out. With --id, the file names the rows, and
    fit --id finds them by name even if the data have been sorted since. p is the probability
    that the two rows are similar.

    Example: seraph query model.skops data.csv -n 10 --label class -o queries.csv
    """
    import numpy as np

    from ..._estimators import query_pairs
    from ..._marks import Marks
    from ._models import SavedModel
    from ._tables import (
        MIXED_TABLES,
        STDOUT,
        check_output,
        read_pairs,
        read_table,
        read_tables,
        write_table,
    )

    if output is not None and output != STDOUT:
        check_output(output, MIXED_TABLES, (model, *data, pairs))
    fitted = SavedModel.read(model)
    if not fitted.has("pair_proba"):
        raise ValueError(
            f"{model} holds a {type(fitted.learner).__name__}, which cannot say how sure it is "
            "about a pair: fit a SERAPH."
        )
    table = read_tables(data, asked=[label, id_column], decimal_comma=decimal_comma, sql=sql)
    label, unlabeled_labels, id_column = fitted.roles(table, label, unlabeled, id_column)
    points = fitted.points(table, without=[label, id_column])
    marks = None
    if pairs is not None:
        ids = None if id_column is None else table.cells(id_column).to_pylist()
        marks = Marks(*read_pairs(read_table(pairs), table.n_rows, ids), rows=table.n_rows)
    labels = table.labels(label, unlabeled_labels)
    prepared = np.asarray(fitted.before_learner(points))
    chosen = query_pairs(
        fitted.learner, prepared, n, strategy=cast("Any", strategy), y=labels, marks=marks
    )
    if len(chosen) == 0:
        raise ValueError(f"{table.path}: all pairs of rows are known: there is nothing to ask.")
    p = fitted.pair_proba(points, chosen)
    columns = {
        "i": chosen[:, 0],
        "j": chosen[:, 1],
        "similar": np.full(len(chosen), "", dtype=object),
        "p": p.round(4),
    }
    if id_column is not None:
        cells = table.cells(id_column)
        for side, name in enumerate("ij"):
            columns[f"id_{name}"] = cells.take(chosen[:, side])
    if output == STDOUT:
        print_table(columns)
        return
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    result(pairs=rows)
    if output is not None:
        write_table(output, columns)
        result(output=str(output))
        say(
            f"{output}: {len(chosen)} pairs. Fill in the column similar, then run seraph fit "
            "--pairs."
        )
        return
    del columns["similar"]
    shown = [[str(cell) for cell in column] for column in columns.values()]
    show(
        [list(columns), *map(list, zip(*shown, strict=True))],
        "Pairs to ask about",
        numbers=slice(0, None),
    )
