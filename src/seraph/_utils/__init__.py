"""Helpers that depend on no other room.

::

    _typing      type aliases of arrays, and a cached property without a lock
    _tiles       slices of rows, and tiles of pairs of rows
    _validation  checks of single parameters
    _warnings    warnings that point at the caller's line
    _public      public names for objects of private modules
    _files       atomic writes of files; HTML pages
    _version     versions of seraph and of its dependencies
"""
