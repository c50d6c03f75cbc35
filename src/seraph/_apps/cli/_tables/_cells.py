"""Types of columns, and which cells are empty."""

from __future__ import annotations

from typing import Any

# Empty cells as R, pandas and databases write them.
MISSING = ("", "NA", "NaN", "nan", "null", "<NA>")


def is_text(kind: Any) -> bool:
    """Return whether a pyarrow type is text."""
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_date(kind: Any) -> bool:
    """Return whether a pyarrow type is a date or a time stamp."""
    import pyarrow as pa

    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def without_empty(column: Any) -> Any:
    """Return a text column without spaces around its cells, null where a cell is empty."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    empty = pc.is_in(column, value_set=pa.array(MISSING, type=column.type))
    return pc.if_else(empty, pa.scalar(None, type=column.type), column)
