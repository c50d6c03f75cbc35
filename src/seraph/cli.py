"""The command ``seraph``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeVar

try:
    import typer
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table as RichTable
except ImportError:
    sys.exit("The command line needs a few packages more: pip install 'seraph-learn[cli]'")

from ._version import __version__
from .datasets import TASKS
from .paper import PARTS, Plan, claims, reproduce
from .paper.methods import METHODS
from .paper.protocol import SCALINGS
from .paper.tables import Table, grid

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Semi-supervised metric learning.",
)
# A pipe or a file has no width of its own; nothing should be cut off there.
console = Console() if sys.stdout.isatty() else Console(width=130)


def main() -> None:
    """Run the command; bad input ends with one line and exit code 2."""
    try:
        app()
    except ValueError as error:
        print(f"seraph: {error}", file=sys.stderr)
        sys.exit(2)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        console.print(__version__, highlight=False)
        raise typer.Exit


@app.command()
def demo(
    samplings: Annotated[int, typer.Option(min=1, help="Number of random samplings.")] = 20,
    picture: Annotated[Path, typer.Option(help="Where to write the picture.")] = Path("demo.png"),
) -> None:
    """Learn a metric of handwritten digits from 10 labels, and draw it.

    Example: seraph demo --samplings 5
    """
    from .demo import main as run_demo

    run_demo(samplings, picture)


@app.command("reproduce")
def reproduce_command(
    part: Annotated[str, typer.Argument(help="|".join(PARTS) + "|all")],
    samplings: Annotated[int, typer.Option(min=2, help="Random samplings of each task.")] = 50,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    tasks: Annotated[list[str] | None, typer.Option(help="Only this task (repeatable).")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Only this method (repeatable).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samplings.")] = 0,
    scaling: Annotated[str, typer.Option(help="UCI features: " + "|".join(SCALINGS))] = "zscore",
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("reproduced"),
) -> None:
    """Run the tables and figures of the paper again.

    An interrupted run goes on where it stopped; the same seed gives the same table whatever
    the number of jobs.

    Example: seraph reproduce table2 --samplings 5 --tasks wine --tasks usps-1-5-20 --jobs 2
    """
    parts = PARTS if part == "all" else (_choice("part", part, (*PARTS, "all")),)
    plan = Plan(
        tasks=tuple(_choice("--tasks", t, TASKS) for t in tasks or TASKS),
        methods=tuple(_choice("--methods", m, tuple(METHODS)) for m in methods or METHODS),
        samplings=samplings,
        seed=seed,
        scaling=_choice("--scaling", scaling, SCALINGS),
    )
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
    )
    with bar:
        fits = bar.add_task(
            "fits", total=plan.size(), visible=bool({"table2", "figure3"} & {*parts})
        )
        sizes, table, paths = reproduce(
            parts, plan, out, jobs=jobs, watch=lambda record: bar.advance(fits)
        )
    if sizes is not None:
        _show(sizes, "Table 1: ours (the paper's)")
    if table is not None:
        _show_table2(table)
    for path in paths:
        console.print(str(path), highlight=False)


Choice = TypeVar("Choice", bound=str)


def _choice(name: str, value: str, choices: tuple[Choice, ...]) -> Choice:
    for choice in choices:
        if value == choice:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def _show(rows: list[list[str]], title: str) -> None:
    table = RichTable(title=title, title_justify="left")
    for number, text in enumerate(rows[0]):
        table.add_column(text, justify="right" if number else "left")
    for row in rows[1:]:
        table.add_row(*row)
    console.print(table)


def _show_table2(table: Table) -> None:
    rows = grid(table, "{cell}\n[dim]{paper}  {away}[/dim]", bold="[bold green]{0}[/bold green]")
    width = max(1, min(6, (console.width - 26) // 17))  # tasks that fit side by side
    for start in range(1, len(rows[0]), width):
        _show(
            [[row[0], *row[start : start + width]] for row in rows],
            "Table 2: error in %; below it the paper's, and the difference in standard errors",
        )
    if any(method == "hyper" for method, _ in table):
        for claim, held, total, others in claims(table):
            without = f" (not: {', '.join(others)})" if others else ""
            console.print(f"SERAPH hyper: {claim}: {held} of {total}{without}", highlight=False)


if __name__ == "__main__":
    main()
