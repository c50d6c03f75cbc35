"""Types of columns, and which cells are empty."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Empty cells as R, pandas, databases and spreadsheets write them.
MISSING = ("", "NA", "NaN", "nan", "null", "NULL", r"\N", "<NA>", "#N/A")
# Words for an unknown class, in lower case, unless the user names others.
NO_LABEL = (
    "?", "??", "n/a", "#n/a", "n.a.", "unknown", "unlabeled", "unlabelled", "not labeled",
    "missing", "undefined", "unclassified", "unspecified", "tbd", "to do", "todo",
)  # fmt: skip
# Words for a missing number. The others are classes, such as + and -, unless the user says so.
UNKNOWN = (*NO_LABEL, "-", "--", ".", "none")
# Columns that a message names; the rest are counted.
LISTED = 5


def columns_of(table: pa.Table, names: Sequence[str]) -> dict[str, Any]:
    """Return columns by name, with decimals as floats: a label of -1.00 is -1.

    Examples
    --------
    >>> from decimal import Decimal
    >>> columns_of(pa.table({"a": [Decimal("-1.00")]}), ["a"])["a"].to_pylist()
    [-1.0]
    """
    columns = {name: table.column(name) for name in names}
    return {
        name: pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column
        for name, column in columns.items()
    }


def cell_text(cell: Any) -> str:
    """Return a cell as text without spaces around it; a whole number has no decimal point.

    Examples
    --------
    >>> cell_text(3.0), cell_text(2.5), cell_text("a "), cell_text(None)
    ('3', '2.5', 'a', '')
    """
    if cell is None:
        return ""
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell).strip()


def typed_column(cells: Any) -> Any:
    """Return cells as a column of pyarrow; cells of several types become text.

    Examples
    --------
    >>> typed_column([1.0, None, "a"]).to_pylist(), typed_column([1, None]).to_pylist()
    (['1', None, 'a'], [1, None])
    """
    try:
        return pa.chunked_array([pa.array(cells, from_pandas=True)])
    except (pa.ArrowException, TypeError):
        import pandas as pd

        missing = pd.Series(cells, dtype=object).isna()
        texts = [None if no else cell_text(c) for c, no in zip(cells, missing, strict=True)]
        return pa.chunked_array([pa.array(texts, type=pa.string())])


def and_more(shown: Sequence[str], n: int) -> str:
    """Join what is shown of `n` things, and count the others.

    Examples
    --------
    >>> and_more(["a", "b"], 2), and_more(["a", "b"], 5)
    ('a, b', 'a, b and 3 more')
    """
    return ", ".join(shown) + (f" and {n - len(shown)} more" if n > len(shown) else "")


def listed(details: Mapping[str, str]) -> str:
    """Name a few columns, each with a detail about it, and count the others.

    Examples
    --------
    >>> listed({"a": "'x' in row 0", "b": "list"})
    "columns 'a' ('x' in row 0), 'b' (list)"
    """
    shown = [f"{name!r} ({detail})" for name, detail in list(details.items())[:LISTED]]
    return f"{'column' if len(details) == 1 else 'columns'} {and_more(shown, len(details))}"


def quoted(text: str) -> str:
    """Return text as an argument of a command, in quotation marks if it needs any."""
    return text if re.fullmatch(r"\w+", text) else f'"{text}"'


def is_text(kind: Any) -> bool:
    """Return whether a pyarrow type is text."""
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_date(kind: Any) -> bool:
    """Return whether a pyarrow type is a date or a time stamp."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))


def without_empty(column: Any) -> Any:
    """Return a text column without spaces around its cells, null where a cell is empty."""
    column = pc.utf8_trim_whitespace(column)
    empty = pc.is_in(column, value_set=pa.array(MISSING, type=column.type))
    return pc.if_else(empty, pa.scalar(None, type=column.type), column)
