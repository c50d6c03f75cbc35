"""Options that several commands have, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

_FILES = ".csv, .tsv (also .gz), .parquet, .npy or .npz"

Data = Annotated[
    Path,
    typer.Argument(
        help=f"The table: {_FILES}. A text table has a header line; an .npz file holds an array X "
        "(rows by features) and may hold labels as y."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model that `seraph fit -o` has written.")]
Label = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="The column of the classes. An empty cell, -1, NA or NaN is a row without a label.",
    ),
]
Pairs = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table of pairs with the columns i, j (row numbers, from 0) and similar (1/0, "
        "true/false, yes/no, +1/-1; empty: not answered yet). Other columns are ignored.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="The column that names the rows; no feature."),
]
DecimalComma = Annotated[
    bool, typer.Option("--decimal-comma", help="The text table writes 1,5 for one and a half.")
]
