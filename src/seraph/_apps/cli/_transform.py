"""The command ``transform``: map rows so that the learned distance becomes Euclidean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ._console import command, free_name, put_table, result, say
from ._requests import DataFile, ModelFile, ReadRequest


@dataclass(frozen=True, kw_only=True)
class TransformRequest(ReadRequest):
    """What `seraph transform` is asked for."""

    model: ModelFile
    data: DataFile
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Write here: .csv, .tsv, .jsonl, .parquet, .xlsx, .npy; - prints CSV.",
        ),
    ] = Path("-")


@command
def transform(request: TransformRequest) -> None:
    """Map the rows of a table so that the learned distance becomes the Euclidean distance.

    Columns are matched with the model's by name; others are ignored. Rows keep their order. The
    new columns are seraph0, seraph1, ..., after the id column if there is one.

    Example: seraph transform model.skops new.csv --id name -o mapped.csv
    """
    from ...tables._files import MIXED_TABLES, check_tables_out
    from ._models import SavedModel

    output, id_column = request.output, request.id_column
    check_tables_out([output], (request.model, request.data), (*MIXED_TABLES, ".npy"))
    if id_column is not None and output.suffix == ".npy":
        raise ValueError(f"{output} can hold only numbers: leave --id out, or write a .csv.")
    fitted = SavedModel.read(request.model)
    table = fitted.read_table(request.data, asked=[id_column], **request.how)
    mapped = fitted.map(table, [id_column])
    columns = {} if id_column is None else {id_column: table.cells(id_column)}
    for number, values in enumerate(mapped.T):
        columns[free_name(f"seraph{number}", columns)] = values
    result(n_rows=len(mapped), n_columns=mapped.shape[1])
    put_table(output, columns)
    say(f"{output}: {len(mapped)} rows, {mapped.shape[1]} columns")
