"""Helpers that depend on no other room.

::

    _typing      type aliases of arrays
    _tiles       slices of rows
    _validation  checks of single parameters
    _directions  models that make rows of unit length, and rows without a direction
    _eigen       eigenvalues and singular values
    _graph       graphs of nearest neighbors
    _threads     settings of the process and its threads, such as the threads of BLAS
    _warnings    warnings that point at the caller's line
    _optional    packages that may be missing
    _public      public names for objects of private modules
    _version     versions of seraph and of its dependencies
"""
