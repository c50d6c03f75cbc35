"""The command ``query``: which pairs to ask an expert about next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._console import say, show


def query(
    model: options.Model,
    data: options.Data,
    n: Annotated[int, typer.Option("-n", min=1, metavar="NUMBER", help="Number of pairs.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write them: .csv, .tsv or .parquet."
        ),
    ] = None,
    label: options.Label = None,
    pairs: options.Pairs = None,
    strategy: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="entropy (the pairs that the model is least sure of) or gradient (those whose "
            "answer is expected to change it most).",
        ),
    ] = "entropy",
    id_column: options.Id = None,
    decimal_comma: options.DecimalComma = False,
) -> None:
    """Choose the pairs of rows to ask an expert about next.

    Fill in the column similar of the file (1 for alike, 0 for not, empty for unsure) and pass
    it back: seraph fit data.csv --label class --pairs queries.csv. Pairs that follow from the
    labels, or that stand answered in --pairs, are not asked for. p is the probability that the
    two rows are alike.

    Example: seraph query model.skops data.csv -n 10 --label class -o queries.csv
    """
    import numpy as np

    from ._models import Model
    from ._tables import check_output, read_pairs, read_table, write_table

    if output is not None:
        check_output(
            output, (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"), (model, data, pairs)
        )
    fitted = Model.read(model)
    if not fitted.has("query_pairs"):
        raise ValueError(
            f"{model} holds a {type(fitted.learner).__name__}, which cannot tell how sure it is "
            "of a pair: fit a SERAPH."
        )
    table = read_table(data, decimal_comma=decimal_comma)
    points = fitted.points(table, without=[label, id_column])
    known = np.empty((0, 2), dtype=np.intp)
    if pairs is not None:
        known = read_pairs(read_table(pairs), table.n_rows)[0]
    chosen = fitted.learner.query_pairs(
        fitted.before_learner(points), n, strategy, y=table.labels(label), pairs=known
    )
    if len(chosen) == 0:
        raise ValueError(f"{data}: all pairs of its rows are known: there is nothing to ask.")
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
    if output is not None:
        write_table(output, columns)
        say(f"{output}: {len(chosen)} pairs; fill in the column similar, then seraph fit --pairs")
        return
    del columns["similar"]
    shown = [[str(cell) for cell in column] for column in columns.values()]
    show(
        [list(columns), *map(list, zip(*shown, strict=True))],
        "Pairs to ask about",
        numbers=slice(0, None),
    )
