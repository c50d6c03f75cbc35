"""The command ``transform``: map rows so that the learned distance becomes Euclidean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._console import command, free_name, put_table, result, say


@command
def transform(
    model: options.ModelFile,
    data: options.DataFiles,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write here: .csv, .tsv (also .gz), .jsonl, .parquet, .feather or .npy; - "
            "prints CSV.",
        ),
    ] = Path("-"),
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    encoding: options.Encoding = None,
    sql: options.Sql = None,
) -> None:
    """Map the rows of a table so that the learned distance becomes the Euclidean distance.

    Columns are matched with the model's by name; others are ignored. Rows keep their order. The
    new columns are seraph0, seraph1, ..., after the id column if there is one.

    Example: seraph transform model.skops new.csv --id name -o mapped.csv
    """
    import numpy as np

    from ._models import SavedModel
    from ._tables import STDOUT, check_output

    if output != STDOUT:
        check_output(output, inputs=(model, *data))
        if id_column is not None and output.suffix == ".npy":
            raise ValueError(f"{output} can hold only numbers: leave --id out, or write a .csv.")
    fitted = SavedModel.read(model)
    table = fitted.read_tables(
        data, asked=[id_column], decimal_comma=decimal_comma, encoding=encoding, sql=sql
    )
    points = fitted.points(table, without=[id_column])
    mapped = np.asarray(fitted.learner.transform(points))
    columns = {} if id_column is None else {id_column: table.cells(id_column)}
    for number, values in enumerate(mapped.T):
        columns[free_name(f"seraph{number}", columns)] = values
    result(n_rows=len(mapped), n_columns=mapped.shape[1])
    put_table(output, columns)
    say(f"{output}: {len(mapped)} rows, {mapped.shape[1]} columns")
