"""The command ``seraph``: one module per command, which imports heavy packages when it runs.

Data flows one way::

    file -> _tables -> command (fit, transform, ...) -> console, report page or file
"""

try:
    import rich  # noqa: F401
    import typer  # noqa: F401
except ImportError as error:
    raise ImportError(
        "The command line needs more packages: pip install 'seraph-learn[cli]'. (Without them, "
        "only seraph demo runs.)"
    ) from error

from ._app import app, main

__all__ = ["app", "main"]
