"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FILES = ".csv, .tsv (also .gz), .parquet, .npy or .npz"

DataFile = Annotated[
    Path,
    typer.Argument(
        help=f"Table to read: {_FILES}. A text table needs a header line; an .npz file holds an "
        "array X (rows by features) and, if there are labels, an array y.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(help="Model saved by `seraph fit -o`.")]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the classes. An empty cell, -1, NA or NaN means the row has no label.",
    ),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Table of marked pairs: columns i and j (row numbers, from 0) and similar (1/0, "
        "true/false, yes/no, +1/-1; empty if not answered yet). Other columns are ignored.",
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that identifies the rows; not a feature."),
]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="Read 1,5 in a text table as one and a half.")
]
