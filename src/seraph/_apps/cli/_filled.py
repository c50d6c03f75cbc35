"""What ``seraph predict`` adds to a table, and the table as it was before."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...tables._table import InputTable

ADDED = ("probability", "given", "nearest")


def as_it_was(table: InputTable, label: str | None) -> InputTable:
    """Return a table that `seraph predict` has filled in as it was before, and say so.

    Or the filled-in classes would count as labels, and what was added to them as features.
    """
    from ...tables._words import cell_text

    if table.names is None or table.names[-3:] != ADDED:
        return table
    given = [cell_text(cell).casefold() for cell in table.cells("given").to_pylist()]
    if not {*given} <= {"true", "false"}:
        return table
    n = given.count("false")
    warnings.warn(
        f"{table.path} was filled in by seraph predict: the {n} classes that are not given count "
        f"as no labels, and {', '.join(ADDED)} are left out.",
        stacklevel=2,
    )
    table = table.without(ADDED)
    if label is None or label not in table.names:
        return table
    import pyarrow as pa

    column = table.cells(label)
    open_rows = pa.array([word == "false" for word in given])
    cells = pa.compute.if_else(open_rows, pa.scalar(None, column.type), column)
    return replace(table, columns={**table.columns, label: cells})
