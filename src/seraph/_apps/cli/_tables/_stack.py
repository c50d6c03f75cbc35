"""Put tables with the same columns below each other, and name columns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._cells import is_text
from ._csv import check_distinct
from ._limits import check_columns
from ._table import InputTable, NamedColumns, PlainArray


def named_columns(table: Any) -> dict[str, Any]:
    """Return the columns of a pyarrow table by name, without a saved nameless index."""
    kept = [name for name in table.column_names if not name.startswith("__index_level_")]
    check_columns(len(kept))
    check_distinct(kept)
    if not kept:
        raise ValueError("it has no columns: write it with the features as columns.")
    return {name: table.column(name) for name in kept}


def stack(tables: Sequence[InputTable]) -> InputTable:
    """Return one table of the rows of several, in their order.

    Columns are matched by name. A table that lacks one, or has one more, is refused.
    """
    first, *others = tables
    path = Path(f"{first.path} and {len(others)} more")
    if isinstance(first, PlainArray):
        return _stacked_arrays(path, first, others)
    columns: dict[str, list[Any]] = {name: [] for name in first.names or ()}
    for table in tables:
        names = table.names or ()
        differing = sorted({*columns} ^ {*names})
        if differing:
            lacking = differing[0] not in names
            raise ValueError(
                f"{table.path} {'lacks' if lacking else 'has'} the column {differing[0]!r}, "
                f"unlike {first.path}: tables that are read together need the same columns."
            )
        for name, parts in columns.items():
            parts.append(table.cells(name))
    semicolons = any(isinstance(table, NamedColumns) and table.semicolons for table in tables)
    decimal_comma = isinstance(first, NamedColumns) and first.decimal_comma
    stacked = {name: _stacked(parts) for name, parts in columns.items()}
    return NamedColumns(path, stacked, decimal_comma, semicolons)


def _stacked_arrays(path: Path, first: PlainArray, others: Sequence[InputTable]) -> PlainArray:
    X, y = [first.X], [first.y]
    for table in others:
        alike = isinstance(table, PlainArray) and table.X.shape[1] == first.X.shape[1]
        if not isinstance(table, PlainArray) or not alike or (table.y is None) != (y[0] is None):
            raise ValueError(
                f"{table.path} has other columns than {first.path}: tables that are read "
                "together need the same columns."
            )
        X.append(table.X)
        y.append(table.y)
    labels = [part for part in y if part is not None]
    return PlainArray(path, np.concatenate(X), np.concatenate(labels) if labels else None)


def _stacked(parts: Sequence[Any]) -> Any:
    """Concatenate columns; types that differ become text."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        kind = pa.float64() if not any(map(is_text, kinds)) else pa.string()
        try:
            parts = [pc.cast(part, kind) for part in parts]
        except pa.ArrowInvalid:
            parts = [pc.cast(part, pa.string()) for part in parts]
    elif kinds:
        parts = [pc.cast(part, next(iter(kinds))) for part in parts]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type)
