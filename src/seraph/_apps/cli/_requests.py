"""What several commands are asked for: dataclasses whose fields are arguments and options.

`_console.command` makes the options of a command from the fields of its request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _options as options

if TYPE_CHECKING:
    from ._models import Roles, SavedModel
    from ._prepare import Preparation
    from ._tables import InputTable


@dataclass(frozen=True, kw_only=True)
class TableRequest:
    """Which rows and columns to learn from, and how the columns become features."""

    data: options.DataFiles
    label: options.LabelColumn = None
    unlabeled: options.Unlabeled = None
    scale: options.Scale = "standard"
    drop: options.Drop = None
    keep: options.Keep = None
    id_column: options.IdColumn = None
    onehot: options.OneHot = None
    impute: options.Impute = None
    dates: options.Dates = None
    decimal_comma: options.DecimalComma = False
    sql: options.Sql = None
    sample: options.Sample = None
    seed: options.Seed = 0

    @property
    def preparation(self) -> Preparation:
        """What to do with the columns; unknown choices are refused."""
        from ._prepare import Preparation

        return Preparation(
            scale=self.scale,
            impute=self.impute,
            dates=self.dates,
            onehot=self.onehot or (),
            drop=[*(self.drop or ()), *([] if self.id_column is None else [self.id_column])],
            keep=self.keep or (),
        )

    def read(self) -> InputTable:
        """Read the table."""
        return _read(self)


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """A saved model, and a table for it."""

    model: options.ModelFile
    data: options.DataFiles
    label: options.LabelColumn = None
    unlabeled: options.Unlabeled = None
    id_column: options.IdColumn = None
    decimal_comma: options.DecimalComma = False
    sql: options.Sql = None

    def read(self, fitted: SavedModel) -> tuple[InputTable, Roles]:
        """Read the table, and say what its columns are for."""
        table = _read(self)
        return table, fitted.roles(table, self.label, self.unlabeled, self.id_column)


def _read(request: Any) -> InputTable:
    from ._tables import read_tables

    return read_tables(
        request.data,
        asked=[request.label, request.id_column],
        decimal_comma=request.decimal_comma,
        sql=request.sql,
    )
