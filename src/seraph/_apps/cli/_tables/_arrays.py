"""Tables from arrays, whose columns have no names; and several tables as one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...._utils._cells._numbers import Faults, check_finite, largest_allowed
from ...._utils._cells._table import NamedColumns, Reading, Written
from ...._utils._cells._types import is_text
from ...._utils._typing import Array, IntArray

# Rows of an array to check at a time: it may be mapped from a file larger than the memory.
_ROWS = 1 << 14
_NUMBERS_ONLY = Reading()


@dataclass(frozen=True)
class PlainArray:
    """A table from an array: its columns have no names, and labels are separate.

    Parameters
    ----------
    path : Path
        File it was read from.
    X : ndarray of shape (n_rows, n_features)
        Features.
    y : ndarray of shape (n_rows,), optional
        Labels.
    """

    path: Path
    X: Array
    y: Array | None = None

    names = None
    decimal_comma = False
    written = Written()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.X)

    def points(self, *, reading: Reading = _NUMBERS_ONLY) -> Any:
        """Return the features in single or double precision; `reading` says if some may lack."""
        small = self.X.dtype in (np.float32, np.float16)
        width: type[np.floating[Any]] = np.float32 if small else np.float64
        points = np.ascontiguousarray(self.X, dtype=width)
        faults = Faults(for_model=True)
        limit = largest_allowed(points)
        blocks = (points[start : start + _ROWS] for start in range(0, len(points), _ROWS))
        if not all(np.all(np.abs(block) <= limit) for block in blocks):
            for number, values in enumerate(points.T):
                check_finite(f"{number}", values, faults)
        if reading.missing:
            faults.missing.clear()
        faults.check(self.path)
        return points

    def take(self, rows: IntArray) -> PlainArray:
        """Return a table of some of the rows."""
        return replace(self, X=self.X[rows], y=None if self.y is None else self.y[rows])

    def without(self, names: Collection[str | None]) -> PlainArray:
        """Return the table; refuse names, which its columns do not have."""
        for name in names:
            if name is not None:
                self.cells(name)
        return self

    def cells(self, name: str) -> Any:
        """Refuse: an array has no named columns."""
        raise ValueError(
            f"{self.path} is an array, whose columns have no names: there is no column {name!r}. "
            "(For labels, save arrays X and y in an .npz file.)"
        )


InputTable: TypeAlias = NamedColumns | PlainArray


def stack(tables: Sequence[InputTable]) -> InputTable:
    """Return one table of the rows of several, in their order.

    Columns are matched by name. A table that lacks one, or has one more, is refused, and so are
    arrays.
    """
    first, *others = tables
    path = Path(f"{first.path} and {len(others)} more")
    if first.names is None or any(table.names is None for table in others):
        raise ValueError(f"{path}: arrays are not read together: join them in one file.")
    columns: dict[str, list[Any]] = {name: [] for name in first.names}
    for table in tables:
        names = table.names or ()
        differing = sorted({*columns} ^ {*names})
        if differing:
            verb = "has" if differing[0] in names else "lacks"
            raise ValueError(
                f"{table.path} {verb} the column {differing[0]!r}, unlike {first.path}: tables "
                "that are read together need the same columns."
            )
        for name, parts in columns.items():
            parts.append(table.cells(name))
    stacked = {name: _stacked(parts) for name, parts in columns.items()}
    # The lines of several files have no common numbers.
    written = first.written._replace(lines=False)
    return NamedColumns(path, stacked, first.decimal_comma, written)


def _stacked(parts: Sequence[Any]) -> Any:
    """Concatenate columns; types that differ become floats, or text if a cell is no number."""
    kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
    if len(kinds) > 1:
        kind = pa.string() if any(map(is_text, kinds)) else pa.float64()
    else:
        kind = next(iter(kinds), pa.null())
    try:
        parts = [pc.cast(part, kind) for part in parts]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        parts = [pc.cast(part, pa.string()) for part in parts]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], type=parts[0].type)
