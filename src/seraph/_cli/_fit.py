"""The command ``fit``: a table and a few labels to a model, and how good it is."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from . import _options as options
from ._console import SHARES, bar, say, show, show_facts

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from rich.progress import Progress

    from .._engine._callback import FitState
    from ._outcome import Outcome
    from ._tables import Table

_SCALES = ("standard", "minmax", "none")


def fit(
    data: options.Data,
    label: options.Label = None,
    pairs: options.Pairs = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to save the model: .skops."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write a page with pictures: .html."),
    ] = None,
    scale: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="How to scale the features: standard (in standard deviations), minmax (to "
            "[0, 1], for features with bounds), or none. The scaler is part of the model.",
        ),
    ] = "standard",
    drop: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column to leave out (repeatable)."),
    ] = None,
    id_column: options.Id = None,
    decimal_comma: options.DecimalComma = False,
    lam: Annotated[
        str, typer.Option(metavar="NUMBER", help="Weight of the trace: larger, a simpler metric.")
    ] = "auto",
    mu: Annotated[
        str, typer.Option(metavar="NUMBER", help="Weight of the unlabelled pairs.")
    ] = "auto",
    components: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="NUMBER", help="Largest number of dimensions of the new space."
        ),
    ] = None,
    max_iter: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Iterations of the solver at most.")
    ] = 200,
    jobs: Annotated[
        int, typer.Option(metavar="NUMBER", help="Number of threads; -1 is all cores.")
    ] = 1,
    unlabeled_pairs: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Unlabelled pairs to learn from: all, so many (1000000), or a share (0.1).",
        ),
    ] = "all",
    backend: Annotated[
        str, typer.Option(metavar="NAME", help="What computes: auto, numpy, numba, torch or dask.")
    ] = "auto",
    device: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where torch computes: cpu, cuda, cuda:1.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Where to keep the state of a long fit, to go on if it is killed."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Seed of what is drawn at random.")
    ] = 0,
    no_check: Annotated[
        bool,
        typer.Option("--no-check", help="Skip the comparison with the Euclidean distance."),
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="A line for each iteration.")] = False,
) -> None:
    """Learn a distance from a table with a few labels, or from pairs, and say how good it is.

    All columns but the label, the id and those that are dropped are features, and must be
    numbers. Rows without a label are learned from, too.

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
    table = read_table(data, decimal_comma=decimal_comma)
    outcome = _learn(
        table,
        settings,
        scale,
        label,
        pairs,
        [*(drop or []), id_column],
        seed=None if no_check else seed,
    )
    page = None
    if report is not None:
        from ._report import html_report

        page = html_report(outcome, data.name)

    show_facts(outcome.facts(), f"Learned from {data}")
    show(outcome.features(), SHARES, numbers=slice(1, 2))
    if outcome.check is not None:
        show(outcome.check.rows(), "Error of the nearest labelled neighbour, labels held out")
        say(outcome.check.verdict())
    else:
        say(outcome.unchecked)
    _write(outcome, output, report, page)


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
    table: Table,
    settings: dict[str, Any],
    scale: str,
    label: str | None,
    pairs_path: Path | None,
    left_out: list[str | None],
    *,
    seed: int | None,
) -> Outcome:
    """Fit the model; and, given a seed for the shuffle, hold out labels."""
    import numpy as np
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import MinMaxScaler, StandardScaler

    from .._estimators._seraph import SERAPH
    from .._pairs import PairLabels
    from ._check import FOLDS
    from ._check import check as hold_out
    from ._outcome import Outcome
    from ._tables import read_pairs, read_table

    labels = table.labels(label)
    pairs, similar = np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    if pairs_path is not None:
        pairs, similar = read_pairs(read_table(pairs_path), table.n_rows)
    _check_labels(table, labels, label, pairs_path, similar)
    points = table.points(without=[name for name in (label, *left_out) if name is not None])
    if table.n_rows < 2:
        raise ValueError(f"{table.path} has one row: a distance needs two, and many to learn it.")
    if np.all(np.ptp(np.asarray(points), axis=0) == 0.0):
        raise ValueError(f"{table.path}: each feature has the same value in every row.")
    known = PairLabels.make(table.n_rows, labels, pairs, similar)
    if known.n_dissimilar == 0:
        raise ValueError(
            f"{table.path}: all {known.n_similar} labelled pairs are similar, and nothing holds "
            "points apart: label rows of a second class (-1 is no class, but no label), or mark "
            "pairs that are not alike."
        )

    unchecked = _why_unchecked(labels, check=seed is not None)
    with bar(shown=not settings["verbose"]) as progress:
        after_iteration, after_fit = _watch(progress, 1 if unchecked else 1 + FOLDS)
        learner = SERAPH(**settings, callback=after_iteration)
        steps: list[tuple[str, Any]] = [("seraph", learner)]
        if scale != "none":
            steps.insert(0, ("scale", MinMaxScaler() if scale == "minmax" else StandardScaler()))
        model = Pipeline(steps)
        started = time.perf_counter()
        # The lines of each iteration are no result: stdout is for results.
        with redirect_stdout(sys.stderr) if settings["verbose"] else nullcontext():
            model.fit(points, labels, seraph__pairs=pairs, seraph__pair_labels=similar)
        seconds = time.perf_counter() - started
        after_fit()
        seen = np.asarray(model[:-1].transform(points) if len(steps) > 1 else points)
        if len(learner.components_) == 0:
            raise ValueError(
                "The learned metric is zero: every distance would be 0, so nothing is saved. "
                "Lower --lam (auto suits most data), or give labels that hold points apart."
            )
        learner.set_params(verbose=0, checkpoint=None)  # which was of that fit
        found = None
        if not unchecked:
            found = hold_out(
                learner, seen, known.codes, pairs, similar, seed=seed or 0, watch=after_fit
            )
            unchecked = "" if found else _NO_CHECK
    learner.set_params(callback=None)  # a function does not belong in a file
    names = table.names and [str(name) for name in model.feature_names_in_]
    return Outcome(
        model=model,
        seen=seen,
        names=names or [f"x{k}" for k in range(seen.shape[1])],
        scale=scale,
        labels=labels,
        pairs=pairs,
        similar=similar,
        seconds=seconds,
        check=found,
        unchecked=unchecked,
    )


_NO_CHECK = (
    "Too few labels to check whether the distance is better than the Euclidean one: that takes "
    "two classes, one of them with two labels."
)


def _check_labels(
    table: Table,
    labels: NDArray | None,
    label: str | None,
    pairs_path: Path | None,
    similar: NDArray,
) -> None:
    """Refuse a table from which there is nothing to learn, in the words of the command line."""
    if labels is None and pairs_path is None:
        raise ValueError(
            f"{table.path}: there is nothing to learn from. Name the column of the classes with "
            "--label, or a file of marked pairs with --pairs."
        )
    if labels is None and not len(similar):
        raise ValueError(f"{pairs_path}: no pair has been answered: the column similar is empty.")
    if labels is not None and not len(similar) and sum(x is not None for x in labels) < 2:
        known = sum(x is not None for x in labels)
        raise ValueError(
            f"{table.path}: {known or 'none'} of its {len(labels)} rows has a label in "
            f"{label or 'y'!r} (-1 and empty cells mean unlabelled): label two or more, of two "
            "classes."
        )


def _why_unchecked(labels: NDArray | None, *, check: bool) -> str:
    if not check:
        return "Not compared with the Euclidean distance (--no-check)."
    if labels is None:
        return (
            "Not compared with the Euclidean distance: that takes class labels (--label), to be "
            "held out."
        )
    return "" if len({label for label in labels if label is not None}) > 1 else _NO_CHECK


def _watch(
    progress: Progress, total: int
) -> tuple[Callable[[FitState], None] | None, Callable[[], None]]:
    """What to call after an iteration, and after a fit, to move the bar.

    Functions and no methods: they are copied along with the learner.
    """
    task = progress.add_task("learning", total=total)

    def after_iteration(state: FitState) -> None:
        what = "checking" if progress.tasks[task].completed else "learning"
        progress.update(
            task, description=f"{what}, iteration {state.iteration}, rank {state.rank}"
        )

    return None if progress.disable else after_iteration, lambda: progress.advance(task)


def _write(outcome: Outcome, output: Path | None, report: Path | None, page: str | None) -> None:
    """Save the model and the page, and say so."""
    from .._files import write_whole
    from ..persist import save
    from ._models import LEARNED_FROM

    if output is not None:
        setattr(outcome.model, LEARNED_FROM, outcome.learned_from())
        say(f"Model: {save(outcome.model, output)}")
    if report is not None and page is not None:
        say(f"Page: {write_whole(report, page)}")
