"""Collect the commands, run one, and turn its errors into one line and an exit code."""

from __future__ import annotations

import io
import sys
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ..._utils._version import __version__
from ._ask import ask
from ._compare import compare
from ._console import as_options, give_up_stdout, one_line, warnings_as_notes
from ._demo import demo, reproduce
from ._duplicates import duplicates
from ._export import export
from ._fit import fit
from ._inspect import inspect
from ._neighbors import neighbors
from ._predict import predict
from ._query import query
from ._transform import transform


class _Untyped:
    """A command whose help names no Python types, such as <bool> beside a flag."""

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, with the types of flags and arguments hidden."""
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            named = getattr(parameter, "is_flag", False) or parameter.param_type_name == "argument"
            if named and hasattr(parameter, "display_type_rich"):  # not in older versions of typer
                parameter.display_type_rich = lambda ctx: None
        return parameters


class _Command(_Untyped, TyperCommand):
    """A command; see `_Untyped`."""


class _Group(_Untyped, TyperGroup):
    """The commands together; see `_Untyped`."""


app = typer.Typer(
    name="seraph",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",  # the only mode that wraps paragraphs
    help="Semi-supervised metric learning: learn a distance from a table and a few labels.",
)
for _command in (
    compare, fit, predict, transform, export, neighbors, query, ask, duplicates, inspect,
    demo,
):  # fmt: skip
    app.command(cls=_Command)(_command)
# Whatever comes after it, its one line is the answer.
app.command(
    hidden=True,
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(reproduce)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        print(__version__)
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
        with warnings_as_notes():
            code = app(prog_name="seraph", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        give_up_stdout()
        sys.exit(0)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except MemoryError:
        _refuse("not enough memory for this: try fewer rows or columns.")
    except OSError as error:
        give_up_stdout()
        _refuse(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    except (ValueError, ImportError) as error:
        _refuse(str(error))
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
    print(f"seraph: {as_options(one_line(reason))}", file=sys.stderr)
    sys.exit(2)
