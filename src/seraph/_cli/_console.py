"""What people see: tables on stdout; notes and progress on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

# A pipe or a file has no width of its own; nothing should be cut off there.
console = Console() if sys.stdout.isatty() else Console(width=130)

# The heading of a table that `fit` and `inspect` both show.
SHARES = "What matters: share in the mean squared distance"


def one_line(text: str) -> str:
    """Text without its line ends, and without what a terminal would obey."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))


@contextmanager
def notes() -> Iterator[None]:
    """Tell the library's warnings as notes of one line each, once the command has succeeded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"seraph: note: {one_line(text)}", file=sys.stderr)


def bar(*, shown: bool = True) -> Progress:
    """A progress bar, for people who watch: on stderr, and only if that is a terminal."""
    watch = Console(stderr=True)
    watch.quiet = not (shown and watch.is_terminal)  # some versions end a hidden bar with a line
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(compact=True),
        console=watch,
        transient=True,
        disable=watch.quiet,
    )


def show(
    rows: Sequence[Sequence[str]],
    title: str,
    *,
    numbers: slice = slice(1, None),
    markup: bool = False,
) -> None:
    """Print rows of text under their headings, the first row.

    Parameters
    ----------
    rows : sequence of sequences of str
        The headings, and the rows.
    title : str
        What stands above.
    numbers : slice, default=slice(1, None)
        The columns that hold numbers, which are flush right.
    markup : bool, default=False
        Whether the text has colours for rich; what comes from a user's file must not.
    """
    table = Table()
    right = range(len(rows[0]))[numbers]
    for number, text in enumerate(rows[0]):
        table.add_column(one_line(text), justify="right" if number in right else "left")
    for row in rows[1:]:
        table.add_row(*(text if markup else Text(one_line(text)) for text in row))
    _print(title, table)


def show_facts(facts: Sequence[Sequence[str]], title: str) -> None:
    """Print names and what there is to say of each."""
    table = Table(show_header=False)
    for name, text in facts:
        table.add_row(name, Text(one_line(text)))
    _print(title, table)


def _print(title: str, table: Table) -> None:
    # Not as the table's own title, which would be broken to its width.
    console.print(Text(one_line(title), style="italic"), table)


def say(text: str) -> None:
    """Print a sentence, or the name of a file that was written."""
    console.print(Text(one_line(text)), soft_wrap=not console.is_terminal)
