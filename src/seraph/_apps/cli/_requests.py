"""What several commands are asked for: dataclasses whose fields are arguments and options.

`_console.command` makes the options of a command from the fields of its request.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import _options as options

if TYPE_CHECKING:
    from ._models import Roles, SavedModel
    from ._tables import InputTable


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Which rows and columns to learn from, and how the columns become features."""

    data: options.DataFiles
    label: options.LabelColumn = None
    labels: options.LabelsFile = None
    unlabeled: options.Unlabeled = None
    scale: options.Scale = "standard"
    drop: options.Drop = None
    keep: options.Keep = None
    id_column: options.IdColumn = None
    onehot: options.OneHot = None
    impute: options.Impute = "median"
    dates: options.Dates = "days"
    decimal_comma: options.DecimalComma = False
    encoding: options.Encoding = None
    sql: options.Sql = None
    sample: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Learn from a random sample of so many rows. It has all rows in pairs, and "
            "those with labels first.",
        ),
    ] = None
    seed: options.Seed = 0

    def read(self) -> InputTable:
        """Read the table."""
        from ._tables import read_tables

        return read_tables(
            self.data,
            asked=[self.label, self.id_column],
            decimal_comma=self.decimal_comma,
            encoding=self.encoding,
            sql=self.sql,
        )


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


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """A saved model, and a table for it."""

    model: options.ModelFile
    data: options.DataFiles
    label: options.LabelColumn = None
    unlabeled: options.Unlabeled = None
    id_column: options.IdColumn = None
    decimal_comma: options.DecimalComma = False
    encoding: options.Encoding = None
    sql: options.Sql = None

    def read(self, *, labeled: bool = True) -> tuple[SavedModel, InputTable, Roles]:
        """Read the model and the table (`labeled` or not), and say what its columns are for."""
        from ._models import SavedModel

        fitted = SavedModel.read(self.model)
        label = self.label if labeled else None
        table = fitted.read_tables(
            self.data,
            asked=[label, self.id_column],
            decimal_comma=self.decimal_comma,
            encoding=self.encoding,
            sql=self.sql,
        )
        return fitted, table, fitted.roles(table, label, self.unlabeled, self.id_column)
