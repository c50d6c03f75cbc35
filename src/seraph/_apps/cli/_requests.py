"""What several commands are asked for: dataclasses whose fields are arguments and options.

`_console.command` makes the options of a command from the fields of its request.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options

if TYPE_CHECKING:
    from ...tables._table import InputTable


@dataclass(frozen=True, kw_only=True)
class ReadRequest:
    """How tables are written, and which column names their rows."""

    id_column: options.IdColumn = None
    decimal_comma: options.DecimalComma = False
    encoding: options.Encoding = None
    separator: options.Separator = None

    @property
    def how(self) -> dict[str, Any]:
        """How tables are written, for `read_table`."""
        return {
            "decimal_comma": self.decimal_comma,
            "encoding": self.encoding,
            "separator": self.separator,
        }


@dataclass(frozen=True, kw_only=True)
class ColumnsRequest(ReadRequest):
    """How the columns of a table become features."""

    scale: options.Scale = "standard"
    drop: options.Drop = None
    keep: options.Keep = None
    onehot: options.OneHot = None
    impute: options.Impute = "median"
    dates: options.Dates = "days"
    missing: options.Missing = None
    seed: options.Seed = 0


@dataclass(frozen=True, kw_only=True)
class TableRequest(ColumnsRequest):
    """Which rows and columns to learn from."""

    data: options.DataFile
    label: options.LabelColumn = None
    labels: options.LabelsFile = None
    unlabeled: options.Unlabeled = None
    no_forest: options.NoForest = False

    def read(self) -> InputTable:
        """Read the table."""
        from ...tables._files import read_table
        from ...tables._labels import as_it_was

        table = read_table(self.data, asked=[self.label, self.id_column], **self.how)
        return as_it_was(table, self.label)


@dataclass(frozen=True, kw_only=True)
class FitRequest(TableRequest):
    """What `seraph fit` is asked for."""

    pairs: options.PairsFile = None
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
    no_check: options.NoCheck = False
