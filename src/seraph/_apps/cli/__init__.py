"""The command ``seraph``: one module per command, which imports heavy packages when it runs.

Data flows one way::

    file -> _tables -> command (fit, transform, ...) -> console, report page or file
"""

import sys

try:
    import rich  # noqa: F401
    import typer  # noqa: F401
except ImportError:
    sys.exit("The command line needs more packages: pip install 'seraph-learn[cli]'")

from ._app import app, main

__all__ = ["app", "main"]
