"""The command ``report``: write the page of a model that has been saved."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._console import command, result, say
from ._requests import ModelRequest


@dataclass(frozen=True, kw_only=True)
class ReportRequest(ModelRequest):
    """What `seraph report` is asked for."""

    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write the page here: .html.")
    ]
    pairs: options.PairsFile = None
    no_check: options.NoCheck = False
    seed: options.Seed = 0


@command
def report(request: ReportRequest) -> None:
    """Write a page with pictures about a saved model, on the table it learned from or another.

    Without --no-check, the learner is fitted again with labels held out.

    Example: seraph report model.skops data.csv --label class -o report.html
    """
    from ..._utils._files import write_whole
    from ._learning import summarize_model
    from ._models import SavedModel
    from ._report import fit_report
    from ._tables import check_output

    inputs = (request.model, *request.data, request.pairs)
    check_output(request.output, (".html", ".htm"), inputs)
    fitted = SavedModel.read(request.model)
    table, roles = request.read(fitted)
    seed = None if request.no_check else request.seed
    summary = summarize_model(fitted, table, roles, request.pairs, seed)
    write_whole(request.output, fit_report(summary, table.path.name))
    result(report=str(request.output), **summary.values())
    say(f"Page: {request.output}")
