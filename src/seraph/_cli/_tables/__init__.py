"""Tables that people have: read with care, refused in words that help, written whole.

Rows are numbered from 0. A file is turned into a `Table` without guessing at its columns; what
each of them is for is said by whoever asks for it::

    read_table -> Table -> points (numbers), labels (text or None), cells (as they are)
"""

from ._pairs import read_pairs
from ._read import KINDS, read_table
from ._table import Table
from ._write import check_output, csv_text, write_table

__all__ = [
    "KINDS",
    "Table",
    "check_output",
    "csv_text",
    "read_pairs",
    "read_table",
    "write_table",
]
