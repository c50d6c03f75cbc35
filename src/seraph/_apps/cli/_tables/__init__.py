"""Read and write tables; refuse what cannot be read with a message that says how to fix it.

Rows are numbered from 0. Reading does not guess what a column is for; the command says so when
it asks for one::

    read_tables -> InputTable -> points (features), labels_of (text or None), cells (as they are)
"""

from ...._utils._cells._dates import parse_dates
from ...._utils._cells._numbers import Faults, to_numbers
from ...._utils._cells._table import NamedColumns, Reading, Written, as_categories
from ...._utils._cells._types import and_more, cell_text, listed, quoted
from ._arrays import InputTable, PlainArray, stack
from ._labels import labels_of, unknown_labels
from ._pairs import read_pairs
from ._read import KINDS, STDIN, read_table, read_tables
from ._write import MIXED_TABLES, STDOUT, check_output, csv_bytes, write_table

__all__ = [
    "KINDS",
    "MIXED_TABLES",
    "STDIN",
    "STDOUT",
    "Faults",
    "InputTable",
    "NamedColumns",
    "PlainArray",
    "Reading",
    "Written",
    "and_more",
    "as_categories",
    "cell_text",
    "check_output",
    "csv_bytes",
    "labels_of",
    "listed",
    "parse_dates",
    "quoted",
    "read_pairs",
    "read_table",
    "read_tables",
    "stack",
    "to_numbers",
    "unknown_labels",
    "write_table",
]
