"""What every room may use, and what uses no room.

::

    _typing      short names for the types of arrays
    _validation  checks of single parameters
    _warnings    warnings that point at the caller's line
    _public      public names for what private modules define
    _files       files that appear whole or not at all; HTML pages
    _version     versions of seraph and of what it uses
"""
