"""The command ``demo``, and where the paper's experiments are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import command, result, silenced


@command
def demo(
    what: Annotated[
        str | None,
        typer.Argument(
            help="embeddings: adapt vectors of a language model from 100 marked pairs. "
            "ask: try `seraph ask` on the digits, in your browser."
        ),
    ] = None,
    samplings: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of random samplings; 20 by default, 5 of the embeddings."
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Write the picture here; demo.png by default, or demo-embeddings.png."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the page, for demo ask.")
    ] = None,
    no_browser: Annotated[bool, typer.Option(help="Print the address, for demo ask.")] = False,
) -> None:
    """Learn a metric for handwritten digits from 10 labels, and draw it.

    Example: seraph demo --samplings 5

    Example: seraph demo embeddings

    Example: seraph demo ask
    """
    if what not in (None, "embeddings", "ask"):
        raise ValueError(f"demo must be one of embeddings, ask; got {what!r}.")
    asking = what == "ask"
    for option, misplaced in (
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

    picture = picture or Path("demo.png" if what is None else f"demo-{what}.png")
    check_output(picture, (".png", ".svg", ".pdf", ".jpg"))
    if what is None:
        from ..demo._digits import main as run_demo

        with silenced():
            errors = run_demo(samplings or 20, picture)
        result(errors=errors, picture=str(picture))
        return
    from ..demo._embeddings import MEASURES, SAMPLINGS, main

    with silenced():
        found = main(samplings or SAMPLINGS, picture)
    measures = {
        name: dict(zip(MEASURES, map(list, zip(*values, strict=True)), strict=True))
        for name, values in found.items()
    }
    result(measures=measures, picture=str(picture))


def reproduce() -> None:
    """Say where the paper's experiments are."""
    raise ValueError(
        "the paper's experiments are run from a clone of the repository: make table2, or "
        "python -m benchmarks.paper --help."
    )
