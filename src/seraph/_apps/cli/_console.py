"""Print results to stdout, as tables or as JSON; print notes and progress to stderr."""

from __future__ import annotations

import errno
import inspect
import io
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints
from zipfile import is_zipfile

import typer

from ..._utils._warnings import LabelWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status
    from rich.text import Text

    from ...tables._table import Written


class _Output:
    """What the current command prints: tables, one JSON object, one table as CSV, or nothing."""

    json = quiet = table = False

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.caught: list[warnings.WarningMessage] = []  # and not printed yet

    @property
    def silent(self) -> bool:
        """Whether tables and sentences are left out; a table for a program stays alone."""
        return self.json or self.quiet or self.table


_output = _Output()

# What the help calls the value of an option.
_METAVARS = {Path: "FILE", int: "NUMBER", float: "NUMBER"}
# Options that everybody uses, which the help lists first, and panels for the others.
_FIRST = ("label", "pairs", "id_column", "drop", "output", "report")
_PANELS = {
    "Columns": ("scale", "keep", "onehot", "impute", "dates", "missing", "text"),
    "Reading files": ("labels", "unlabeled", "decimal_comma", "encoding", "separator"),
    "Learning": ("learner", "parameter", "no_forest", "no_check", "seed"),
    "Printing": ("json_output", "quiet"),
}
_PANEL_OF = {name: panel for panel, names in _PANELS.items() for name in names}
_JSON = Annotated[
    bool, typer.Option("--json", help="Print the results as one JSON object instead of tables.")
]
_QUIET = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print no tables, notes or progress; only errors.")
]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --json and --quiet.

    A command whose parameter is a `request`, a dataclass, gets an option for each field. The help
    calls files FILE and numbers NUMBER, and a flag is --flag, without --no-flag, unless the
    declaration says otherwise.
    """
    request = get_type_hints(function).get("request")
    hints = get_type_hints(request or function, include_extras=True)
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, parameter in inspect.signature(request or function).parameters.items()
    ]
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=hint)
        for name, hint in (("json_output", _JSON), ("quiet", _QUIET))
    ]
    places = [*_FIRST, "", *_PANEL_OF]
    parameters.sort(key=lambda one: places.index(one.name if one.name in places else ""))
    for parameter in parameters:
        kind, option = get_args(parameter.annotation)
        option.rich_help_panel = _PANEL_OF.get(parameter.name)
        if kind is bool and option.default is ...:  # typer keeps the first name there
            option.param_decls = (f"--{parameter.name.replace('_', '-')}",)
        while get_args(kind):  # list[Path] | None
            kind = get_args(kind)[0]
        option.metavar = option.metavar or _METAVARS.get(kind)

    @wraps(function)
    def run(*, json_output: bool, quiet: bool, **arguments: Any) -> None:
        _output.json, _output.quiet = json_output, quiet
        _output.table, _output.values = False, {}
        _check_inputs(arguments)
        function(**arguments) if request is None else function(request(**arguments))
        if json_output:
            values = _plain(_output.values)
            print(json.dumps(values, indent=2, allow_nan=False, ensure_ascii=False))
        sys.stdout.flush()  # here, where click ends quietly if nobody reads on

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _check_inputs(arguments: Mapping[str, Any]) -> None:
    """Refuse a file that does not exist or holds no model, before the slow imports."""
    for name in ("model", "data", "pairs", "reference"):
        paths = arguments.get(name)
        for path in paths if isinstance(paths, list) else [paths]:
            if path is not None and not path.exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    model = arguments.get("model")
    if model is not None and model.is_file() and not is_zipfile(model):
        raise ValueError(f"{model} cannot be read: it is not a model that seraph fit saved.")


def console() -> Console:
    """Return rich's console on stdout."""
    from rich.console import Console

    # A pipe or a file has no width: make it wide, so that nothing is cut off.
    return Console() if sys.stdout.isatty() else Console(width=130)


def one_line(text: str) -> str:
    """Return text on one line, with control characters replaced by question marks."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))


def phrase(said: Exception | Warning) -> str:
    """Return what the library said, with options where it names parameters of a call."""
    from ...tables._words import Setting, quoted

    return "".join(
        " ".join(f"--{part.name} {quoted(value)}" for value in part.values)
        if isinstance(part, Setting)
        else str(part)
        for part in getattr(said, "parts", [said])
    )


@contextmanager
def notes(*, fresh: bool = False) -> Iterator[None]:
    """Print the warnings of what runs within as notes: before its results, or at its end.

    A command that fails prints why, and no more. A `fresh` command prints its results, too.
    """
    if fresh:
        _output.json = _output.quiet = _output.table = False
    outer = _output.caught
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # The notes on the table have said so, with the option to use.
        warnings.simplefilter("ignore", LabelWarning)
        # (Of scikit-learn.)
        warnings.filterwarnings("ignore", "The number of unique classes is greater", UserWarning)
        _output.caught = caught
        try:
            yield
            _print_notes()
        finally:
            _output.caught = outer


def _print_notes() -> None:
    """Print what has been noted so far."""
    texts = dict.fromkeys(phrase(warning.message) for warning in _output.caught)  # type: ignore[arg-type]
    _output.caught.clear()
    for text in () if _output.quiet else texts:
        print(f"seraph: note: {one_line(text)}", file=sys.stderr)


def working(what: str) -> Status:
    """Show on stderr that the command works, if that is a terminal."""
    from rich.console import Console

    stderr = Console(stderr=True)
    stderr.quiet = _output.quiet or not stderr.is_terminal
    return stderr.status(what)


def result(**values: Any) -> None:
    """Keep results for --json."""
    _output.values |= values


def show(
    rows: Sequence[Sequence[str | Text]],
    title: str,
    *,
    numbers: slice = slice(1, None),
) -> None:
    """Print a table of text: headings first, then the rows; `numbers` are aligned right.

    Headings that are all empty are not shown. A str is printed as it is; a Text may have a style.
    """
    from rich.table import Table
    from rich.text import Text

    if _output.silent:
        return
    _print_notes()
    table = Table(show_header=any(rows[0]))
    right = range(len(rows[0]))[numbers]
    for number, text in enumerate(rows[0]):
        table.add_column(one_line(f"{text}"), justify="right" if number in right else "left")
    for row in rows[1:]:
        table.add_row(*(Text(one_line(text)) if isinstance(text, str) else text for text in row))
    # Not as the table's title, which rich would wrap to the width of the table.
    console().print(Text(one_line(title), style="italic"), table)


def show_facts(facts: Sequence[Sequence[str]], title: str) -> None:
    """Print a table of names and texts, without headings."""
    show([["", ""], *facts], title, numbers=slice(0))


def say(text: str) -> None:
    """Print one line of text."""
    from rich.text import Text

    if not _output.silent:
        _print_notes()
        out = console()
        out.print(Text(one_line(text)), soft_wrap=not out.is_terminal)


def print_now(text: str) -> None:
    """Print what is needed while the command runs; with --json to stderr, as stdout has JSON."""
    print(text, file=sys.stderr if _output.json else sys.stdout, flush=True)


def silenced() -> AbstractContextManager[Any]:
    """Keep what is printed off stdout, if the command prints no tables."""
    return redirect_stdout(io.StringIO()) if _output.silent else nullcontext()


def put_table(
    path: Path, columns: Mapping[str, Any], name: str = "output", like: Written | None = None
) -> None:
    """Write a table that is the result itself to a file, or for - to stdout, and nothing else.

    On stdout it is CSV, or rows of the JSON object; `name` is what that calls the file. Text is
    written `like` a table that was read.
    """
    from ...persist._write import write_whole
    from ...tables._files import STDOUT, csv_bytes, table_bytes
    from ...tables._table import CSV

    if path != STDOUT:
        write_whole(path, table_bytes(path, columns, like or CSV))
        result(**{name: str(path)})
    elif _output.json:
        rows = [list(row) for row in zip(*columns.values(), strict=True)]
        result(columns=list(columns), rows=rows)
    else:
        _output.table = True
        # UTF-8 unless it is to be like a file, whatever the terminal's encoding.
        sys.stdout.buffer.write(csv_bytes(columns, like or CSV))


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name for a new column, with underscores appended if the table has one like it."""
    while name in taken:
        name += "_"
    return name


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: NaN and infinity become null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if hasattr(value, "as_py"):  # pyarrow
        value = value.as_py()
    if hasattr(value, "tolist"):  # numpy
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)
