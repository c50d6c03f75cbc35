"""The command ``fit``: learn a model from a table and a few labels, and say how good it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import _options as options
from ._console import SHARES_TITLE, command, result, say, show, show_facts
from ._requests import TableRequest

if TYPE_CHECKING:
    from ._summary import FitSummary

_SOLVER_ITERATIONS = 200


@dataclass(frozen=True, kw_only=True)
class FitRequest(TableRequest):
    """What `seraph fit` is asked for."""

    pairs: options.PairsFile = None
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model here: .skops."),
    ] = None
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report page with pictures here: .html."),
    ] = None
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Learner: seraph, or one of seraph.classic, such as itml."
        ),
    ] = "seraph"
    lam: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Weight of the trace: larger gives a simpler metric. cv chooses it by "
            "cross-validation.",
        ),
    ] = "auto"
    mu: Annotated[str, typer.Option(metavar="NUMBER", help="Weight of the unlabeled pairs.")] = (
        "auto"
    )
    components: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Maximum dimension of the new space."),
    ] = None
    max_iter: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Maximum number of solver iterations.")
    ] = _SOLVER_ITERATIONS
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other parameter of the learner (repeatable)."
        ),
    ] = None
    jobs: options.Jobs = 1
    unlabeled_pairs: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Unlabeled pairs to learn from: all, a number (1000000) or a share (0.1).",
        ),
    ] = "all"
    backend: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Library that computes: auto, numpy, numba, torch or dask."
        ),
    ] = "auto"
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device for torch: cpu, cuda, cuda:1.")
    ] = None
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep the state of a long fit here, to resume if it is killed."
        ),
    ] = None
    no_check: options.NoCheck = False
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print a line for each iteration.")
    ] = False

    def check_files(self) -> None:
        """Refuse output files that cannot be written."""
        from ._tables import check_output

        for path, kinds in ((self.output, (".skops",)), (self.report, (".html", ".htm"))):
            if path is not None:
                check_output(path, kinds, (*self.data, self.pairs))

    def settings(self) -> dict[str, Any]:
        """Return the parameters of the learner that the options set."""
        settings = {
            "lam": None if self.lam == "cv" else _weight("--lam", self.lam),
            "mu": _weight("--mu", self.mu),
            "n_components": self.components,
            "max_iter": None if self.max_iter == _SOLVER_ITERATIONS else self.max_iter,
            "unlabeled_pairs": _budget(self.unlabeled_pairs),
            "backend": None if self.backend == "auto" else self.backend,
            "device": self.device,
            "checkpoint": None if self.checkpoint is None else str(self.checkpoint),
            "random_state": None if self.unlabeled_pairs == "all" else self.seed,
            "n_jobs": None if self.jobs == 1 else self.jobs,
            "verbose": 1 if self.verbose else None,
        }
        return {name: value for name, value in settings.items() if value not in (None, "auto")}


@command
def fit(request: FitRequest) -> None:
    """Learn a distance from a table with a few labels or marked pairs, and say how good it is.

    All columns are features, except the label, the id, those you drop, and row numbers. They
    must be numbers, or named by --onehot or --dates. Rows without a label are used too. Pairs from
    query --id find their rows by id.

    Example: seraph fit data.csv --label class -o model.skops --report report.html

    Example: seraph fit data.csv --pairs pairs.csv --id name --drop remarks -o model.skops

    Example: seraph fit data.csv --label class --learner itml --set gamma=2.0
    """
    from ._examples import Examples
    from ._learners import make_learner
    from ._learning import learn_model

    request.check_files()
    if request.jobs == 0:
        raise ValueError("--jobs must be at least 1, or -1 for all cores; got 0.")
    _ = request.preparation  # refuses unknown choices before the table is read
    settings = request.settings()
    table = request.read()
    learner = make_learner(
        request.learner, settings, request.parameter or (), choose_lam=request.lam == "cv"
    )
    examples = Examples.read(table, request, request.pairs)
    summary = learn_model(learner, examples, request)
    # Files first: what goes wrong while printing or drawing must not cost the model.
    written = _write(summary, request, table.path.name)
    _print(summary, f"Learned from {table.path}")
    for line in written:
        say(line)


def _weight(name: str, text: str) -> float | Literal["auto"]:
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        also = ", auto or cv" if name == "--lam" else " or auto"
        raise ValueError(f"{name} must be a number{also}; got {text!r}.") from None


def _budget(text: str) -> int | float | None:
    if text == "all":
        return None
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise ValueError(
            "--unlabeled-pairs must be all, a whole number of pairs, or a share such as 0.1; got "
            f"{text!r}."
        ) from None


def _write(summary: FitSummary, request: FitRequest, source: str) -> list[str]:
    """Save the model, then the report page, and say where."""
    from ..._utils._files import write_whole
    from ...persist import save
    from ._models import LEARNED_FROM

    noted = {
        "label": request.label,
        "unlabeled": list(request.unlabeled or ()),
        "id": request.id_column,
    }
    setattr(summary.model, LEARNED_FROM, summary.learned_from() | noted)
    written = []
    if request.output is not None:
        written.append(f"Model: {save(summary.model, request.output)}")
        result(model=str(request.output))
    if request.report is not None:
        from ._report import fit_report

        page = write_whole(request.report, fit_report(summary, source))
        written.append(f"Page: {page}")
        result(report=str(request.report))
    return written


def _print(summary: FitSummary, title: str) -> None:
    result(**summary.values())
    show_facts(summary.facts(), title)
    if summary.shares:
        show(summary.table_of_features(), SHARES_TITLE, numbers=slice(1, 2))
    errors = summary.check.errors
    if errors is None:
        say(summary.check.skipped)
    else:
        show(errors.rows(), errors.title)
        say(errors.verdict())
