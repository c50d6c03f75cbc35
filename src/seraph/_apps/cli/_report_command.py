"""The command ``report``: write the page of a model that has been saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._console import command, result, say


@command
def report(
    model: options.ModelFile,
    data: options.DataFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write the page here: .html.")
    ],
    label: options.LabelColumn = None,
    unlabeled: options.Unlabeled = None,
    pairs: options.PairsFile = None,
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    sql: options.Sql = None,
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Skip the comparison with the Euclidean distance."),
    ] = False,
    seed: options.Seed = 0,
) -> None:
    """Write a page with pictures about a saved model, on the table it learned from or another.

    Without --no-check, the learner is fitted again with labels held out.

    Example: seraph report model.skops data.csv --label class -o report.html
    """
    from ..._utils._files import write_whole
    from ._learning import summarize_model
    from ._models import SavedModel
    from ._report import fit_report
    from ._tables import check_output, read_tables

    check_output(output, (".html", ".htm"), (model, *data, pairs))
    fitted = SavedModel.read(model)
    table = read_tables(data, asked=[label, id_column], decimal_comma=decimal_comma, sql=sql)
    label, unlabeled_labels, id_column = fitted.roles(table, label, unlabeled, id_column)
    summary = summarize_model(
        fitted,
        table,
        label=label,
        unlabeled=unlabeled_labels,
        id_column=id_column,
        pairs_file=pairs,
        seed=None if no_check else seed,
    )
    write_whole(output, fit_report(summary, table.path.name))
    result(report=str(output), **summary.values())
    say(f"Page: {output}")
