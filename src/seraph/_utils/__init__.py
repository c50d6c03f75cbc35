"""Helpers that depend on no other room.

::

    _typing      type aliases of arrays, and a cached property without a lock
    _tiles       slices of rows, and tiles of pairs of rows
    _validation  checks of single parameters
    _rows        row numbers, and marks compared with classes
    _unknown     values that say that something is unknown
    _quantities  labels that are a quantity
    _directions  models that make rows of unit length, and rows without a direction
    _folds       rows dealt to folds
    _threshold   a distance up to which pairs are similar
    _merging     agglomerative clustering with constraints
    _questions   pairs to ask a person about
    _eigen       eigenvalues of symmetric matrices, on a GPU if they are large
    _graph       graphs of nearest neighbors
    _cells       cells of untidy tables as numbers, dates and text
    _threads     settings of the process and its threads, such as the threads of BLAS
    _warnings    warnings that point at the caller's line
    _optional    packages that may be missing
    _public      public names for objects of private modules
    _files       atomic writes of files; HTML pages
    _colors      colors and markers of classes
    _version     versions of seraph and of its dependencies
"""
