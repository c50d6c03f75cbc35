"""From the columns of a table, as people keep it, to numbers on one scale.

::

    _cells     types of columns, empty cells, and how messages list names
    _numbers   text as numbers: decimal commas, thousands, words for missing values
    _dates     text as dates, and dates as numbers
    _table     named columns, or an array: features, labels, cells
    _ids       numbers that identify rows, and codes
    _notes     what becomes of a column, and why one is left out
    _prepare   the decisions about a whole table, and scikit-learn's steps for it

`TablePreparer` and the command line are made of these. None imports scikit-learn before it is
needed, and `_ids` needs no pyarrow.
"""
