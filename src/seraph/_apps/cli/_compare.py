"""The command ``compare``: all learners and their plain rivals, by cross-validation."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._utils._files import save_whole
from . import _options as options
from ._console import (
    brief,
    check_tables_out,
    command,
    progress_bar,
    put_table,
    result,
    say,
    show,
)
from ._requests import TableRequest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..._utils._typing import Array, FloatArray, IntArray

_PICTURES = (".png", ".svg", ".pdf")
_SIGNIFICANCE = 0.05
_SIMPLEST = ("Euclidean", "logistic regression", "label spreading")


@dataclass(frozen=True, kw_only=True)
class CompareRequest(TableRequest):
    """What `seraph compare` is asked for."""

    learner: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this learner (repeatable). Rivals stay."),
    ] = None
    repeats: Annotated[int, typer.Option(min=1, help="Times to shuffle into five folds.")] = 3
    picture: Annotated[
        Path | None, typer.Option(help="Draw the errors here: .png, .svg or .pdf.")
    ] = None
    output: options.TableOutput = None


@command
def compare(request: CompareRequest) -> None:
    """Compare all learners with plain rivals on held-out labels, and say which to take.

    Learners classify by the labeled rows in their space, as seraph predict does. The rivals are
    the same with the Euclidean distance, logistic regression and label spreading. Rows without a
    label are used by those that can. Of methods with the same error, the simplest comes first.

    Example: seraph compare data.csv --label class --id name --drop remarks --picture errors.png
    """
    from ._tables import check_output

    if request.picture is not None:
        check_output(request.picture, _PICTURES, request.data)
    check_tables_out([request.output], request.data)
    if request.label is None and not all(path.suffix == ".npz" for path in request.data):
        raise ValueError("compare needs labels: name the column with the classes (--label).")
    preparation, table = request.preparation, request.read()
    methods = _methods(request.learner)
    # Only now: they import scikit-learn, and a refusal should not wait for that.
    import numpy as np

    from ._examples import Examples

    examples = Examples.read(table, request)
    encoder = preparation.encoder(examples.features)
    points = np.asarray(encoder.transform(examples.features.points), dtype=np.float64)
    scores, failed = _cross_validate(
        methods, points, examples.codes, request.repeats, request.seed
    )
    rows, verdict = _rows(scores), _verdict(scores)
    if request.output is not None:
        put_table(request.output, {head: cells for head, *cells in zip(*rows, strict=True)})
    if request.picture is not None:
        save_whole(_picture(scores), request.picture)
    troubles = [{"method": name, "trouble": trouble} for name, trouble in failed.items()]
    result(methods=[*(score.values() for score in scores), *troubles], verdict=verdict)
    show(rows, f"Error on held-out labels, {request.repeats} times five folds")
    say(verdict)
    if request.picture is not None:
        say(f"Picture: {request.picture}")


@dataclass
class _Score:
    """Errors of one method: for each held-out row, the share of the repeats it was wrong in."""

    name: str
    wrong: FloatArray
    seconds: float = 0.0

    @property
    def error(self) -> float:
        return float(self.wrong.mean())

    @property
    def standard_error(self) -> float:
        import numpy as np

        n = len(self.wrong)
        share = (self.wrong.sum() + 1.0) / (n + 2.0)  # an error of 0 is not certain
        return float(np.sqrt(share * (1.0 - share) / n))

    def values(self) -> dict[str, Any]:
        return {
            "method": self.name,
            "error": self.error,
            "standard_error": self.standard_error,
            "seconds_per_fit": self.seconds,
        }


def _methods(wanted: list[str] | None) -> dict[str, Any]:
    """Return the classifiers to compare, by name."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    from ... import MetricClassifier
    from ._learners import learners, make_learner

    names = [*wanted, "euclidean"] if wanted else learners()
    chosen = [make_learner(name, {}) for name in names]
    return {
        **{type(learner).__name__: MetricClassifier(learner) for learner in chosen},
        # Without iterations, self-training is a fit on the labeled rows.
        "logistic regression": SelfTrainingClassifier(
            LogisticRegression(max_iter=1000), max_iter=0
        ),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200),
    }


def _cross_validate(
    methods: dict[str, Any],
    points: FloatArray,
    codes: IntArray,
    repeats: int,
    seed: int,
) -> tuple[list[_Score], dict[str, str]]:
    """Return the scores, best first, and why a method has none."""
    import numpy as np

    from ._held_out import folds

    splits = [held for repeat in range(repeats) for held in folds(codes, seed + repeat)]
    if not splits:
        raise ValueError(
            "Too few labels to compare by: label rows of two classes, and at least two rows of "
            "one of them."
        )
    rows = np.unique(np.concatenate(splits))
    scores: list[_Score] = []
    failed: dict[str, str] = {}
    with progress_bar() as progress:
        task = progress.add_task("comparing", total=len(methods) * len(splits))
        for number, (name, method) in enumerate(methods.items()):
            progress.update(task, description=name, completed=number * len(splits))
            wrong = np.zeros(len(codes))
            started = time.perf_counter()
            try:
                for held in splits:
                    wrong[held] += _predicted(method, points, codes, held) != codes[held]
                    progress.advance(task)
            except Exception as error:  # one method that cannot must not end the others
                failed[name] = brief(error)
                warnings.warn(f"{name} is left out: {failed[name]}", stacklevel=2)
                continue
            seconds = (time.perf_counter() - started) / len(splits)
            scores.append(_Score(name, wrong[rows] / repeats, seconds))
    return _ranked(scores), failed


def _ranked(scores: list[_Score]) -> list[_Score]:
    return sorted(scores, key=lambda score: (score.error, _complexity(score.name)))


def _complexity(name: str) -> int:
    """Rank methods with the same error: what learns nothing, what is plain, what is learned."""
    return _SIMPLEST.index(name) if name in _SIMPLEST else len(_SIMPLEST)


def _predicted(method: Any, points: FloatArray, codes: IntArray, held: IntArray) -> Array:
    """Return the classes of the held-out rows, learned from the others."""
    kept = codes.copy()
    kept[held] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted: Array = method.fit(points, kept).predict(points[held])
    return predicted


def _rows(scores: list[_Score]) -> list[list[str]]:
    rows = [["method", "error", "±", "seconds per fit"]]
    for score in scores:
        errors = [f"{100 * error:.1f} %" for error in (score.error, score.standard_error)]
        rows.append([score.name, *errors, f"{score.seconds:.2f}"])
    return rows


def _verdict(scores: list[_Score]) -> str:
    """Say which method to take, or which are level: the labels cannot tell them apart."""
    from scipy.stats import binomtest

    best, *others = scores
    close = []
    for score in others:
        better = int((best.wrong < score.wrong).sum())
        worse = int((best.wrong > score.wrong).sum())
        p = float(binomtest(better, better + worse).pvalue) if better + worse else 1.0
        if p >= _SIGNIFICANCE:
            close.append(score.name)
    n = len(best.wrong)
    errs = f"on {100 * best.error:.1f} % of {n} held-out labels"
    if not close:
        return (
            f"Take {best.name}: it errs least, {errs}. It is better than every other one (sign "
            f"test, p < {_SIGNIFICANCE})."
        )
    level = [best.name, *close]
    simplest = min(level, key=_complexity)
    said = (
        f"{best.name} errs {errs}, level with {', '.join(close)}: {n} labels cannot tell them "
        f"apart (sign test, p >= {_SIGNIFICANCE})."
    )
    if simplest == best.name:
        return f"{said} Take {best.name}, the simplest of them."
    nothing = ", which learns nothing" if simplest == "Euclidean" else ""
    return f"{said} The simplest of them is {simplest}{nothing}; more labels would decide."


def _picture(scores: list[_Score]) -> Figure:
    from matplotlib.figure import Figure

    ran = scores[::-1]
    figure = Figure(figsize=(7.2, 0.38 * len(ran) + 1.1), layout="constrained")
    axes = figure.subplots()
    colors = ["0.55" if score.name in _SIMPLEST else "#0072B2" for score in ran]
    errors = [100 * score.error for score in ran]
    spread = [100 * score.standard_error for score in ran]
    axes.barh([score.name for score in ran], errors, xerr=spread, color=colors, capsize=3)
    axes.set(xlabel="error on held-out labels, % (lines: one standard error)")
    axes.set_xlim(left=0)
    axes.set_title("Learned distances (blue) and plain rivals (gray)", fontsize=11)
    return figure
