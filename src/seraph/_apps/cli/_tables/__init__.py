"""Read and write tables; refuse what cannot be read with a message on how to fix it.

Rows are numbered from 0. Reading does not guess what a column is for; the command says so when
it asks for one::

    read_table -> InputTable -> points (features), labels_of (text or None), cells (as they are)
"""

from ._labels import labels_of, unknown_labels
from ._read import read_table
from ._table import FileTable, InputTable, PlainArray, and_more, as_text, quoted, row_ids
from ._write import (
    MIXED_TABLES,
    STDOUT,
    cells_like,
    check_output,
    check_tables_out,
    csv_bytes,
    write_table,
)

__all__ = [
    "MIXED_TABLES",
    "STDOUT",
    "FileTable",
    "InputTable",
    "PlainArray",
    "and_more",
    "as_text",
    "cells_like",
    "check_output",
    "check_tables_out",
    "csv_bytes",
    "labels_of",
    "quoted",
    "read_table",
    "row_ids",
    "unknown_labels",
    "write_table",
]
