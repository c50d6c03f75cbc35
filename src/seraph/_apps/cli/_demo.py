"""The command ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ._console import command, result, silenced


@command
def demo(
    samplings: Annotated[int, typer.Option(min=1, help="Number of random samplings.")] = 10,
    picture: Annotated[Path, typer.Option(help="Write the picture here.")] = Path("demo.png"),
) -> None:
    """Learn a metric from the species of 30 penguins, and draw them before and after.

    Example: seraph demo --samplings 5
    """
    from ...tables._files import check_output
    from ..demo._penguins import main as run_demo

    check_output(picture, (".png", ".svg", ".pdf", ".jpg"))
    with silenced():
        scores = run_demo(samplings, picture)
    result(scores=scores, picture=str(picture))
