"""Collect the commands, run one, and turn its errors into one line and an exit code."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ... import __version__
from ._ask import ask
from ._compare import compare
from ._console import notes, one_line, phrase
from ._demo import demo
from ._duplicates import duplicates
from ._export import export
from ._fit import fit
from ._predict import predict
from ._transform import transform


def _plain(self: Any, ctx: Any) -> list[Any]:
    """Return the parameters of a command; the help names no type of a flag."""
    params = super(type(self), self).get_params(ctx)
    for one in params:
        if getattr(one, "is_flag", False):
            one.metavar = " "
    return list(params)


class _Group(TyperGroup):
    get_params = _plain


class _Command(TyperCommand):
    get_params = _plain


app = typer.Typer(
    cls=_Group,
    name="seraph",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # the only mode that wraps paragraphs
    help="Semi-supervised metric learning: learn a distance from a table and a few labels.",
)
for _command in (fit, predict, transform, compare, ask, duplicates, export, demo):
    app.command(cls=_Command)(_command)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    about: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="Print what `seraph fit` printed about a model."),
    ] = None,
) -> None:
    if version:
        print(__version__)
        raise typer.Exit
    if about is not None:
        from ._summary import show_model

        show_model(about)
        raise typer.Exit


def main() -> None:
    """Run the command and exit: 0 if it succeeded, 2 for bad input, with one line on stderr.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, for the caller to say so.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # print ? where the terminal has no ±
    try:
        with notes(fresh=True):
            code = app(prog_name="seraph", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except OSError as error:
        _refuse(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (ValueError, ImportError) as error:
        _refuse(phrase(error))
    except Exception as error:
        # About the command line: an error of click, or of the copy of it that typer has had since
        # 0.26. No import gives the base class in all versions; all its errors have this method.
        if not hasattr(error, "format_message"):
            raise
        message = error.format_message().strip().rstrip(".")
        if not message:  # no arguments: the help has been shown
            sys.exit(2)
        command = getattr(getattr(error, "ctx", None), "command_path", "seraph")
        _refuse(f"{message}. (Options: {command} --help)")
    if code == 130:  # what typer makes of Ctrl-C
        raise KeyboardInterrupt
    sys.exit(code or 0)


def _refuse(reason: str) -> NoReturn:
    print(f"seraph: {one_line(reason)}", file=sys.stderr)
    sys.exit(2)
