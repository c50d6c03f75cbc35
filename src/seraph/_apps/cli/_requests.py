"""What commands are asked for: dataclasses whose fields are arguments and options.

`_console.command` makes the options of a command from the fields of its request. Options that
several requests have on their own come first.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from ...tables._table import InputTable

DataFile = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="Table to read: .csv, .tsv, .txt, .jsonl, .parquet, .xlsx, .ods, .npy or .npz. A "
        "text table needs a header line; an .npz file holds an array X (rows by features) and, if "
        "there are labels, an array y.",
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
TableOutput = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Write here: .csv, .tsv, .txt, .jsonl, .parquet, .xlsx; - for standard output.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out (repeatable)."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed.")]


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """How tables are written, and which column names their rows."""

    id_column: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="Column that identifies the rows; not a feature."
        ),
    ] = None
    decimal_comma: Annotated[
        bool, typer.Option(help="Read 1,5 in a text table as one and a half.")
    ] = False
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Encoding of a text table, such as latin-1; guessed by default."
        ),
    ] = None
    separator: Annotated[
        str | None,
        typer.Option(
            metavar="LETTER",
            help="What separates the cells of a text table, such as ; or tab; guessed by default.",
        ),
    ] = None

    @property
    def how(self) -> dict[str, Any]:
        """How tables are written, for `read_table`."""
        names = ("decimal_comma", "encoding", "separator")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, kw_only=True)
class ColumnsRequest(ReadRequest):
    """How the columns of a table become features."""

    scale: Annotated[
        Literal["standard", "minmax", "unit", "none"],
        typer.Option(
            metavar="NAME",
            help="How to scale the numbers: standard (unit variance), minmax (to [0, 1], for "
            "features with bounds), unit (each row to length 1, for embeddings), or none. The "
            "scaler is part of the model.",
        ),
    ] = "standard"
    drop: Drop = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to use as numbers, although it looks like ids, row numbers or dates, or "
            "is constant (repeatable).",
        ),
    ] = None
    onehot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to use as categories, although it holds numbers or many distinct texts: "
            "each becomes a column of 0 and 1, and rare ones share a column (repeatable).",
        ),
    ] = None
    impute: Annotated[
        Literal["median", "knn"],
        typer.Option(
            metavar="NAME",
            help="How to fill in missing numbers: median (of the column), or knn (mean of the "
            "five most similar rows).",
        ),
    ] = "median"
    dates: Annotated[
        Literal["days", "parts", "drop"],
        typer.Option(
            metavar="NAME",
            help="What to make of dates: days (since 1970), parts (year, season and weekday), or "
            "drop.",
        ),
    ] = "days"
    missing: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VALUE",
            help="Value that means a missing cell, in any column, such as -999 (repeatable). "
            "Empty cells, NA, ? and the like need not be named.",
        ),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class TableRequest(ColumnsRequest):
    """Which rows and columns to learn from."""

    data: DataFile
    label: LabelColumn = None
    labels: LabelsFile = None
    unlabeled: Unlabeled = None
    no_forest: Annotated[
        bool,
        typer.Option(help="Decide by the learned distance alone, without a random forest."),
    ] = False

    def read(self) -> InputTable:
        """Read the table."""
        from ...tables._answers import as_it_was
        from ...tables._files import read_table

        table = read_table(self.data, asked=[self.label, self.id_column], **self.how)
        return as_it_was(table, self.label)


@dataclass(frozen=True, kw_only=True)
class FitRequest(TableRequest):
    """What `seraph fit` is asked for."""

    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Table of marked pairs: columns i and j (row numbers, from 0) and similar (1/0, "
            "true/false, yes/no, +1/-1; empty if not answered yet). Other columns are ignored."
        ),
    ] = None
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the model here: .skops.")
    ] = None
    report: Annotated[
        Path | None, typer.Option(help="Write a report page with pictures here: .html.")
    ] = None
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Learner: meanmetric, seraph, or one of seraph.classic, such as itml.",
        ),
    ] = "meanmetric"
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any parameter of the learner, such as n_components=2 or seraph__lam=0.5; for "
            "--learner seraph, lam=0.5 or n_jobs=-1 (repeatable).",
        ),
    ] = None
    no_check: Annotated[
        bool, typer.Option(help="Skip the comparison with the Euclidean distance.")
    ] = False
