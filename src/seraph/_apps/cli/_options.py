"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

_FILES = ".csv, .tsv, .txt, .jsonl, .parquet, .xlsx, .ods, .npy or .npz"

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help=f"Table to read: {_FILES}. A text table needs a header line; an .npz file holds an "
        "array X (rows by features) and, if there are labels, an array y.",
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Model saved by `seraph fit -o`.")
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the classes. An empty cell, -1, NA and the like mean no label.",
    ),
]
LabelsFile = Annotated[
    Path | None,
    typer.Option(
        help="Table of classes, such as the answers of seraph ask --classes: columns row "
        "(numbers, from 0), class and id."
    ),
]
Unlabeled = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUE",
        help="Label that means the class is unknown, such as ? (repeatable). Then no other means "
        'it but empty cells: "" keeps classes that are called -1, NA or None.',
    ),
]
PairsFile = Annotated[
    Path | None,
    typer.Option(
        help="Table of marked pairs: columns i and j (row numbers, from 0) and similar (1/0, "
        "true/false, yes/no, +1/-1; empty if not answered yet). Other columns are ignored."
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that identifies the rows; not a feature."),
]
DecimalComma = Annotated[bool, typer.Option(help="Read 1,5 in a text table as one and a half.")]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Encoding of a text table, such as latin-1; guessed by default."
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="LETTER",
        help="What separates the cells of a text table, such as ; or tab; guessed by default.",
    ),
]
TableOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write here: .csv, .tsv, .txt, .jsonl, .parquet, .xlsx; - for standard output.",
    ),
]
NoForest = Annotated[
    bool, typer.Option(help="Decide by the learned distance alone, without a random forest.")
]
NoCheck = Annotated[bool, typer.Option(help="Skip the comparison with the Euclidean distance.")]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]

# What `fit` and `compare` do to the columns of a table before a learner sees them.
Scale = Annotated[
    Literal["standard", "minmax", "unit", "none"],
    typer.Option(
        metavar="NAME",
        help="How to scale the numbers: standard (unit variance), minmax (to [0, 1], for "
        "features with bounds), unit (each row to length 1, for embeddings), or none. The scaler "
        "is part of the model.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out (repeatable)."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use as numbers, although it looks like ids, row numbers or dates, or is "
        "constant (repeatable).",
    ),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use as categories, although it holds numbers or many distinct texts: each "
        "becomes a column of 0 and 1, and rare ones share a column (repeatable).",
    ),
]
Impute = Annotated[
    Literal["median", "knn"],
    typer.Option(
        metavar="NAME",
        help="How to fill in missing numbers: median (of the column), or knn (mean of the five "
        "most similar rows).",
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUE",
        help="Value that means a missing cell, in any column, such as -999 (repeatable). Empty "
        "cells, NA, ? and the like need not be named.",
    ),
]
Dates = Annotated[
    Literal["days", "parts", "drop"],
    typer.Option(
        metavar="NAME",
        help="What to make of dates: days (since 1970), parts (year, season and weekday), or "
        "drop.",
    ),
]
