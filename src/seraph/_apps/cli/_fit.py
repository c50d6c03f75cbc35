"""The command ``fit``: learn a model from a table and a few labels, and say how good it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from . import _options as options
from ._console import SHARES_TITLE, command, result, say, show, show_facts

if TYPE_CHECKING:
    from ._summary import FitSummary

_SOLVER_ITERATIONS = 200


@command
def fit(
    data: options.DataFiles,
    label: options.LabelColumn = None,
    unlabeled: options.Unlabeled = None,
    pairs: options.PairsFile = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model here: .skops."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report page with pictures here: .html."),
    ] = None,
    scale: options.Scale = "standard",
    drop: options.Drop = None,
    keep: options.Keep = None,
    id_column: options.IdColumn = None,
    onehot: options.OneHot = None,
    impute: options.Impute = None,
    dates: options.Dates = None,
    decimal_comma: options.DecimalComma = False,
    sql: options.Sql = None,
    sample: options.Sample = None,
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Learner: seraph, or one of seraph.classic, such as itml."
        ),
    ] = "seraph",
    lam: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Weight of the trace: larger gives a simpler metric. cv chooses it by "
            "cross-validation.",
        ),
    ] = "auto",
    mu: Annotated[
        str, typer.Option(metavar="NUMBER", help="Weight of the unlabeled pairs.")
    ] = "auto",
    components: Annotated[
        int | None,
        typer.Option(min=1, metavar="NUMBER", help="Maximum dimension of the new space."),
    ] = None,
    max_iter: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Maximum number of solver iterations.")
    ] = _SOLVER_ITERATIONS,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="Any other parameter of the learner (repeatable)."
        ),
    ] = None,
    jobs: options.Jobs = 1,
    unlabeled_pairs: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Unlabeled pairs to learn from: all, a number (1000000) or a share (0.1).",
        ),
    ] = "all",
    backend: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Library that computes: auto, numpy, numba, torch or dask."
        ),
    ] = "auto",
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Device for torch: cpu, cuda, cuda:1.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Keep the state of a long fit here, to resume if it is killed."
        ),
    ] = None,
    seed: options.Seed = 0,
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Skip the comparison with the Euclidean distance."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print a line for each iteration.")
    ] = False,
) -> None:
    """Learn a distance from a table with a few labels or marked pairs, and say how good it is.

    All columns are features, except the label, the id, those you drop, and row numbers. They
    must be numbers, or named by --onehot or --dates. Rows without a label are used too. Pairs from
    query --id find their rows by id.

    Example: seraph fit data.csv --label class -o model.skops --report report.html

    Example: seraph fit data.csv --pairs pairs.csv --id name --drop remarks -o model.skops

    Example: seraph fit data.csv --label class --learner itml --set gamma=2.0
    """
    from ._learning import Request, learn_model
    from ._models import LEARNED_FROM
    from ._prepare import Preparation
    from ._tables import check_output, read_tables

    for path, kinds in ((output, (".skops",)), (report, (".html", ".htm"))):
        if path is not None:
            check_output(path, kinds, (*data, pairs))
    if jobs == 0:
        raise ValueError("--jobs must be at least 1, or -1 for all cores; got 0.")
    preparation = Preparation(
        scale=scale,
        impute=impute,
        dates=dates,
        onehot=onehot or (),
        drop=[*(drop or ()), *([] if id_column is None else [id_column])],
        keep=keep or (),
    )
    settings = {
        "lam": None if lam == "cv" else _weight("--lam", lam),
        "mu": _weight("--mu", mu),
        "n_components": components,
        "max_iter": None if max_iter == _SOLVER_ITERATIONS else max_iter,
        "unlabeled_pairs": _budget(unlabeled_pairs),
        "backend": None if backend == "auto" else backend,
        "device": device,
        "checkpoint": None if checkpoint is None else str(checkpoint),
        "random_state": None if unlabeled_pairs == "all" else seed,
        "n_jobs": None if jobs == 1 else jobs,
        "verbose": 1 if verbose else None,
    }
    request = Request(
        learner=learner,
        settings={name: value for name, value in settings.items() if value not in (None, "auto")},
        more=tuple(parameter or ()),
        choose_lam=lam == "cv",
        preparation=preparation,
        label=label,
        unlabeled=tuple(unlabeled or ()),
        pairs_file=pairs,
        id_column=id_column,
        sample=sample,
        seed=seed,
        check=not no_check,
        curve=report is not None and not no_check,
    )
    table = read_tables(data, asked=[label, id_column], decimal_comma=decimal_comma, sql=sql)
    summary = learn_model(table, request)
    # Files first: what goes wrong while printing or drawing must not cost the model.
    noted = {"label": label, "unlabeled": list(unlabeled or ()), "id": id_column}
    setattr(summary.model, LEARNED_FROM, summary.learned_from() | noted)
    written = _write(summary, output, report, f"{table.path.name}")
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


def _write(
    summary: FitSummary, output: Path | None, report: Path | None, source: str
) -> list[str]:
    """Save the model, then the report page, and say where."""
    from ..._utils._files import write_whole
    from ...persist import save

    written = []
    if output is not None:
        written.append(f"Model: {save(summary.model, output)}")
        result(model=str(output))
    if report is not None:
        from ._report import fit_report

        written.append(f"Page: {write_whole(report, fit_report(summary, source))}")
        result(report=str(report))
    return written


def _print(summary: FitSummary, title: str) -> None:
    result(**summary.values())
    show_facts(summary.facts(), title)
    if summary.shares:
        show(summary.table_of_features(), SHARES_TITLE, numbers=slice(1, 2))
    if summary.errors is not None:
        show(summary.errors.rows(), summary.errors.title)
        say(summary.errors.verdict())
    else:
        say(summary.no_errors_reason)
