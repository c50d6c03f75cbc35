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
    """Learn a metric for handwritten digits from 10 labels, and draw it.

    Example: seraph demo --samplings 5
    """
    from ...tables._write import check_output
    from ..demo._digits import main as run_demo

    check_output(picture, (".png", ".svg", ".pdf", ".jpg"))
    with silenced():
        errors = run_demo(samplings, picture)
    result(errors=errors, picture=str(picture))
