"""The command ``fit``: learn a model from a table and a few labels, and say how good it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import _options as options
from ._console import SHARES_TITLE, progress_bar, say, show, show_facts

if TYPE_CHECKING:
    from rich.progress import Progress

    from .._engine import FitState
    from .._typing import Array, BoolArray, IntArray
    from ._summary import FitSummary
    from ._tables import InputTable

_SCALES = ("standard", "minmax", "none")


def fit(
    data: options.DataFile,
    label: options.LabelColumn = None,
    pairs: options.PairsFile = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Save the model here: .skops."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report page with pictures here: .html."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to scale the features: standard (unit variance), minmax (to [0, 1], for "
            "features with bounds), or none. The scaler is part of the model.",
        ),
    ] = "standard",
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Column to leave out (repeatable)."),
    ] = None,
    id_column: options.IdColumn = None,
    decimal_comma: options.DecimalComma = False,
    lam: Annotated[
        str,
        typer.Option(metavar="NUMBER", help="Weight of the trace: larger gives a simpler metric."),
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
    ] = 200,
    jobs: Annotated[
        int, typer.Option(metavar="NUMBER", help="Number of threads; -1 uses all cores.")
    ] = 1,
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
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Random seed.")] = 0,
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Skip the comparison with the Euclidean distance."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print a line for each iteration.")
    ] = False,
) -> None:
    """Learn a distance from a table with a few labels or marked pairs, and say how good it is.

    All columns are features, and must be numbers, except the label, the id and those you drop.
    Rows without a label are used too.

    Example: seraph fit data.csv --label class -o model.skops --report report.html

    Example: seraph fit data.csv --pairs pairs.csv --id name --drop remarks -o model.skops
    """
    from ._tables import check_output, read_table

    for path, kinds in ((output, (".skops",)), (report, (".html", ".htm"))):
        if path is not None:
            check_output(path, kinds, (data, pairs))
    if scale not in _SCALES:
        raise ValueError(f"--scale must be one of {', '.join(_SCALES)}; got {scale!r}.")
    if jobs == 0:
        raise ValueError("--jobs must be at least 1, or -1 for all cores; got 0.")
    settings = {
        "lam": _weight("--lam", lam),
        "mu": _weight("--mu", mu),
        "n_components": components,
        "max_iter": max_iter,
        "unlabeled_pairs": _budget(unlabeled_pairs),
        "backend": backend,
        "device": device,
        "checkpoint": None if checkpoint is None else str(checkpoint),
        "random_state": None if unlabeled_pairs == "all" else seed,
        "n_jobs": None if jobs == 1 else jobs,
        "verbose": int(verbose),
    }
    summary = _learn(
        read_table(data, decimal_comma=decimal_comma),
        settings,
        scale=scale,
        label=label,
        pairs_file=pairs,
        dropped=[*(drop or []), *([] if id_column is None else [id_column])],
        check_seed=None if no_check else seed,
    )
    page = None
    if report is not None:
        from ._report import fit_report

        page = fit_report(summary, data.name)

    show_facts(summary.facts(), f"Learned from {data}")
    show(summary.features(), SHARES_TITLE, numbers=slice(1, 2))
    if summary.errors is not None:
        show(summary.errors.rows(), "Error of the nearest labeled neighbor on held-out labels")
        say(summary.errors.verdict())
    else:
        say(summary.no_errors_reason)
    _write(summary, output, report, page)


def _weight(name: str, text: str) -> float | Literal["auto"]:
    if text == "auto":
        return "auto"
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} must be a number, or auto; got {text!r}.") from None


def _budget(text: str) -> int | float | Literal["all"]:
    if text == "all":
        return "all"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise ValueError(
            "--unlabeled-pairs must be all, a whole number of pairs, or a share such as 0.1; got "
            f"{text!r}."
        ) from None


def _learn(
    table: InputTable,
    settings: dict[str, Any],
    *,
    scale: str,
    label: str | None,
    pairs_file: Path | None,
    dropped: list[str],
    check_seed: int | None,
) -> FitSummary:
    """Fit the model; with a seed for the shuffle, also compute its errors on held-out labels."""
    import numpy as np
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    from .._estimators._seraph import SERAPH
    from .._pairs import PairLabels
    from ._held_out import FOLDS, held_out_errors
    from ._summary import FitSummary
    from ._tables import read_pairs, read_table

    labels = table.labels(label)
    pairs: IntArray = np.empty((0, 2), dtype=np.intp)
    similar: BoolArray = np.empty(0, dtype=bool)
    if pairs_file is not None:
        pairs, similar = read_pairs(read_table(pairs_file), table.n_rows)
    _check_labels(table, labels, label, pairs_file, n_pairs=len(similar))
    points = table.points(without=dropped if label is None else [label, *dropped])
    if table.n_rows < 2:
        raise ValueError(f"{table.path} has only one row: add more rows to learn from.")
    if np.all(np.ptp(np.asarray(points), axis=0) == 0.0):
        raise ValueError(
            f"{table.path}: every feature has the same value in all rows, so all distances are "
            "0: add features that vary."
        )
    known = PairLabels.make(table.n_rows, labels, pairs, similar)
    if known.n_dissimilar == 0:
        raise ValueError(
            f"{table.path}: all {known.n_similar} labeled pairs are similar, so nothing keeps "
            "points apart: label rows of a second class (-1 means no label), or mark pairs that "
            "are not alike."
        )

    no_errors_reason = _why_not_checked(labels, check=check_seed is not None)
    with progress_bar(shown=not settings["verbose"]) as progress:
        n_fits = 1 if no_errors_reason else 1 + FOLDS
        after_iteration, after_fit = _progress_callbacks(progress, n_fits)
        learner = SERAPH(**settings, callback=after_iteration)
        steps: list[tuple[str, Any]] = [("seraph", learner)]
        if scale != "none":
            steps.insert(0, ("scale", MinMaxScaler() if scale == "minmax" else StandardScaler()))
        model = Pipeline(steps)
        started = time.perf_counter()
        # Lines about iterations are not results, and stdout is for results.
        with redirect_stdout(sys.stderr) if settings["verbose"] else nullcontext():
            model.fit(points, labels, seraph__pairs=pairs, seraph__pair_labels=similar)
        seconds = time.perf_counter() - started
        after_fit()
        scaled = np.asarray(model[:-1].transform(points) if len(steps) > 1 else points)
        if len(learner.learned_components_) == 0 and learner.lam != "auto":
            raise ValueError(
                "The learned metric is zero: nothing was learned, so nothing is saved. "
                "Lower --lam (auto suits most data), or add labels of different classes."
            )
        learner.set_params(verbose=0, checkpoint=None)  # neither is for the folds or the file
        errors = None
        if check_seed is not None and not no_errors_reason:
            errors = held_out_errors(
                learner, scaled, known.codes, pairs, similar, seed=check_seed, after_fold=after_fit
            )
            no_errors_reason = "" if errors else _TOO_FEW_LABELS
    learner.set_params(callback=None)  # a function cannot be saved
    names = table.names and [str(name) for name in model.feature_names_in_]
    return FitSummary(
        model=model,
        scaled=scaled,
        names=names or [f"x{k}" for k in range(scaled.shape[1])],
        scale=scale,
        labels=labels,
        pairs=pairs,
        similar=similar,
        seconds=seconds,
        errors=errors,
        no_errors_reason=no_errors_reason,
    )


_TOO_FEW_LABELS = (
    "Too few labels to check whether the learned distance is better than the Euclidean one: label "
    "rows of two classes, and at least two rows of one of them."
)


def _check_labels(
    table: InputTable,
    labels: Array | None,
    label: str | None,
    pairs_file: Path | None,
    *,
    n_pairs: int,
) -> None:
    """Refuse a table without labels to learn from, naming the options that would help."""
    if labels is None and pairs_file is None:
        raise ValueError(
            f"{table.path}: there is nothing to learn from. Name the column with the classes "
            "(--label) or a file of marked pairs (--pairs)."
        )
    if n_pairs:
        return
    if labels is None:
        raise ValueError(
            f"{pairs_file}: no pair has been answered: the column similar is empty. Fill it in."
        )
    n_labeled = sum(value is not None for value in labels)
    if n_labeled < 2:
        raise ValueError(
            f"{table.path}: {n_labeled or 'none'} of its {len(labels)} rows has a label in "
            f"{label or 'y'!r} (-1 and empty cells mean unlabeled): label at least two rows, of "
            "two classes."
        )


def _why_not_checked(labels: Array | None, *, check: bool) -> str:
    """Say why the comparison with the Euclidean distance is skipped; empty if it is not."""
    if not check:
        return "Not compared with the Euclidean distance (--no-check)."
    if labels is None:
        return "Not compared with the Euclidean distance: that needs class labels (--label)."
    return "" if len({value for value in labels if value is not None}) > 1 else _TOO_FEW_LABELS


def _progress_callbacks(
    progress: Progress, total: int
) -> tuple[Callable[[FitState], None] | None, Callable[[], None]]:
    """Return what to call after each iteration and after each fit, to move the progress bar.

    They are functions, not methods, because a copy of the learner copies its callback.
    """
    task = progress.add_task("learning", total=total)

    def after_iteration(state: FitState) -> None:
        what = "checking" if progress.tasks[task].completed else "learning"
        progress.update(
            task, description=f"{what}, iteration {state.iteration}, rank {state.rank}"
        )

    return None if progress.disable else after_iteration, lambda: progress.advance(task)


def _write(
    summary: FitSummary, output: Path | None, report: Path | None, page: str | None
) -> None:
    """Save the model and the report page, and say where."""
    from .._files import write_whole
    from ..persist import save
    from ._models import LEARNED_FROM

    if output is not None:
        setattr(summary.model, LEARNED_FROM, summary.learned_from())
        say(f"Model: {save(summary.model, output)}")
    if report is not None and page is not None:
        say(f"Page: {write_whole(report, page)}")
