"""From the columns of a table, as people keep it, to numbers on one scale.

::

    _cells     types of columns, empty cells, and how messages list names
    _numbers   text as numbers: decimal commas, thousands, words for missing values
    _dates     text as dates, and dates as numbers
    _table     named columns, or an array: features, labels, cells
    _notes     what becomes of a column, and why one is left out
    _prepare   the decisions about a whole table, and scikit-learn's steps for it
    _preparer  the public transformer of all this

Only `_preparer` imports scikit-learn, and only the others pyarrow: neither has to wait for both.
"""
