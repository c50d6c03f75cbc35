"""Tables as people keep them: files, columns, and cells as numbers, dates, text and answers.

::

    _words     words for nothing, for yes and for no; what messages are made of
    _numbers   text as numbers: decimal marks, thousands, units
    _dates     text as dates, and dates as numbers
    _columns   `Column`: how a column is read, or why it is left out; in words
    _reading   how a column is read: settled once, then cell by cell
    _ids       numbers that identify rows, codes and sentinels
    _table     tables with named columns, and arrays
    _files     files as tables, and tables as files
    _answers   labels of a table, and answers to questions about its rows
    _decide    what becomes of each column, and scikit-learn's steps for it
    _preparer  `TablePreparer`, which users import from ``seraph``

pandas, pyarrow and scikit-learn are imported when they are first needed.
"""

from .._utils._public import publish as _publish
from ._columns import Column

__all__ = ["Column"]

_publish(globals())
