"""The transformer of untidy tables.

::

    _preparer  `TablePreparer`, and the tables that it takes
    _decide    what becomes of each column, and scikit-learn's steps for it

``_utils/_cells`` reads the cells.
"""
