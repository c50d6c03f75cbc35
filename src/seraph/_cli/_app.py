"""The commands under one name, and how a command may end: done, refused or interrupted."""

from __future__ import annotations

import io
import os
import sys
from typing import Annotated

import typer

from .._version import __version__
from ._console import console, notes, one_line
from ._fit import fit
from ._inspect import inspect
from ._neighbors import neighbors
from ._paper import demo, reproduce_command
from ._query import query
from ._transform import transform

app = typer.Typer(
    name="seraph",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # the one mode that fills paragraphs
    help="Semi-supervised metric learning: learn a distance from a table and a few labels.",
)
app.command()(fit)
app.command()(transform)
app.command()(neighbors)
app.command()(query)
app.command()(inspect)
app.command()(demo)
app.command("reproduce")(reproduce_command)

# typer carries a copy of click in its later versions: the base of what both raise for an
# option or a value that is not known.
_UsageError: type[Exception] = typer.BadParameter.__mro__[1]


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        console.print(__version__, highlight=False)
        raise typer.Exit


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that knows no ± shows a ?
    try:
        with notes():
            code = app(prog_name="seraph", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has seen enough; the interpreter must not write the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (KeyboardInterrupt, typer.Abort):
        code = 130
    except _UsageError as error:
        message = _usage(error)
        if not message:  # there was nothing on the command line, and the help has been shown
            sys.exit(2)
        _refuse(message)
    except MemoryError:
        _refuse("there is not enough memory for this.")
    except OSError as error:
        _refuse(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (ValueError, ImportError) as error:
        _refuse(str(error))
    if code == 130:
        print("seraph: interrupted.", file=sys.stderr)
    sys.exit(code or 0)


def _refuse(reason: str) -> None:
    print(f"seraph: {one_line(reason)}", file=sys.stderr)
    sys.exit(2)


def _usage(error: Exception) -> str:
    """What is wrong with the command line, and where its options are explained."""
    context = getattr(error, "ctx", None)
    command = getattr(context, "command_path", "seraph")
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    if not message.strip():
        return ""
    return f"{message.rstrip('.')}. (Options: {command} --help)"
