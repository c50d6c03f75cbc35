"""The command ``demo``, and where the paper's experiments are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ._console import command, result, silenced


@command
def demo(
    what: Annotated[
        Literal["ask"] | None,
        typer.Argument(help="ask: try `seraph ask` on the digits, in your browser."),
    ] = None,
    samplings: Annotated[int, typer.Option(min=1, help="Number of random samplings.")] = 20,
    picture: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("demo.png"),
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the page, for demo ask.")
    ] = None,
    no_browser: Annotated[bool, typer.Option(help="Print the address, for demo ask.")] = False,
) -> None:
    """Learn a metric for handwritten digits from 10 labels, and draw it.

    Example: seraph demo --samplings 5

    Example: seraph demo ask
    """
    if what == "ask":
        from ._ask import demo_ask

        demo_ask(port, browser=not no_browser)
        return
    from ..demo._digits import main as run_demo
    from ._tables import check_output

    check_output(picture, (".png", ".svg", ".pdf", ".jpg"))
    with silenced():
        errors = run_demo(samplings, picture)
    result(errors=errors, picture=str(picture))


def reproduce() -> None:
    """Say where the paper's experiments are."""
    raise ValueError(
        "the paper's experiments are run from a clone of the repository: make table2, or "
        "python -m benchmarks.paper --help."
    )
