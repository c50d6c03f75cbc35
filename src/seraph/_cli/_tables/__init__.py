"""Read and write tables; refuse what cannot be read with a message that says how to fix it.

Rows are numbered from 0. Reading does not guess what a column is for; the command says so when
it asks for one::

    read_table -> InputTable -> points (numbers), labels (text or None), cells (as they are)
"""

from ._pairs import read_pairs
from ._read import KINDS, read_table
from ._table import InputTable
from ._write import check_output, csv_text, write_table

__all__ = [
    "KINDS",
    "InputTable",
    "check_output",
    "csv_text",
    "read_pairs",
    "read_table",
    "write_table",
]
