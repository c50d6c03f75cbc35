"""Print results to stdout; print notes and progress to stderr."""

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

# A pipe or a file has no width: make it wide, so that nothing is cut off.
console = Console() if sys.stdout.isatty() else Console(width=130)

# Title of a table that `fit` and `inspect` both show.
SHARES_TITLE = "What matters: share in the mean squared distance"


def one_line(text: str) -> str:
    """Return text on one line, with control characters replaced by question marks."""
    return "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Print each warning as a note of one line, once the command has succeeded."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        print(f"seraph: note: {one_line(text)}", file=sys.stderr)


def progress_bar(*, shown: bool = True) -> Progress:
    """Make a progress bar on stderr, hidden unless stderr is a terminal."""
    stderr = Console(stderr=True)
    # Some versions of rich end a hidden bar with an empty line.
    stderr.quiet = not (shown and stderr.is_terminal)
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(compact=True),
        console=stderr,
        transient=True,
        disable=stderr.quiet,
    )


def show(
    rows: Sequence[Sequence[str]],
    title: str,
    *,
    numbers: slice = slice(1, None),
    markup: bool = False,
) -> None:
    """Print a table of text.

    Parameters
    ----------
    rows : sequence of sequences of str
        Headings first, then the rows.
    title : str
        Title above the table.
    numbers : slice, default=slice(1, None)
        Columns of numbers, aligned right.
    markup : bool, default=False
        Whether the text contains rich's markup; text from a user's file must not.
    """
    table = Table()
    right = range(len(rows[0]))[numbers]
    for number, text in enumerate(rows[0]):
        table.add_column(one_line(text), justify="right" if number in right else "left")
    for row in rows[1:]:
        table.add_row(*(text if markup else Text(one_line(text)) for text in row))
    _print(title, table)


def show_facts(facts: Sequence[Sequence[str]], title: str) -> None:
    """Print a table of names and texts, without headings."""
    table = Table(show_header=False)
    for name, text in facts:
        table.add_row(name, Text(one_line(text)))
    _print(title, table)


def _print(title: str, table: Table) -> None:
    # Not as the table's title, which rich would wrap to the width of the table.
    console.print(Text(one_line(title), style="italic"), table)


def say(text: str) -> None:
    """Print one line of text."""
    console.print(Text(one_line(text)), soft_wrap=not console.is_terminal)
