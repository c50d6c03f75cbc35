"""The cells of tables as people keep them: as numbers, dates, text and answers.

::

    _words     words for nothing, for yes and for no
    _numbers   text as numbers: decimal marks, thousands, units
    _dates     text as dates, and dates as numbers
    _reading   how a column is read: settled once, then cell by cell
    _ids       numbers that identify rows, codes and sentinels
    _table     named columns
    _decide    what becomes of each column, and scikit-learn's steps for it
    _preparer  `TablePreparer`, which users import from ``seraph``

pandas, pyarrow and scikit-learn are imported when they are first needed.
"""

from .._utils._public import publish as _publish
from ._decide import number_steps
from ._ids import is_code, looks_like_ids
from ._reading import read_dates, read_numbers, typed_column
from ._table import ColumnError, ColumnWarning, NamedColumns, Setting, Written
from ._words import cell_text, is_missing, read_answer

__all__ = [
    "ColumnError",
    "ColumnWarning",
    "NamedColumns",
    "Setting",
    "Written",
    "cell_text",
    "is_code",
    "is_missing",
    "looks_like_ids",
    "number_steps",
    "read_answer",
    "read_dates",
    "read_numbers",
    "typed_column",
]

_publish(globals())
