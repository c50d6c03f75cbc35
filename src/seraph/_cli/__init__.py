"""The command ``seraph``: one file a command, and nothing heavy imported before it is asked for.

Data flows one way::

    file -> tabular -> command (fit, transform, ...) -> console, page or file
"""

import sys

try:
    import rich  # noqa: F401
    import typer  # noqa: F401
except ImportError:
    sys.exit("The command line needs a few packages more: pip install 'seraph-learn[cli]'")

from ._app import app, main

__all__ = ["app", "main"]
