"""From the cells of a table, as people keep it, to numbers, dates and text.

::

    _types     types of columns, empty cells, and how messages list names
    _numbers   text as numbers: decimal commas, thousands, words for missing values
    _dates     text as dates, and dates as numbers
    _ids       numbers that identify rows, and codes
    _table     named columns, and how they are read as features
    _steps     scikit-learn's steps that scale numbers and fill them in

`TablePreparer` decides what becomes of each column with these, and applications read cells with
them. None imports scikit-learn before it is needed, and `_ids` needs no pyarrow.
"""
