"""The command ``compare``: all learners and their plain rivals, by cross-validation."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
from ._errors import SIGNIFICANCE, TITLE, always, error_cells, sign_test, standard_error
from ._requests import TableRequest

if TYPE_CHECKING:
    from ..._utils._typing import BoolArray, FloatArray
    from ._examples import Examples

_SIMPLEST = ("Euclidean", "logistic regression", "label spreading")


@dataclass(frozen=True, kw_only=True)
class CompareRequest(TableRequest):
    """What `seraph compare` is asked for."""

    learner: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this learner (repeatable). Rivals stay."),
    ] = None
    output: options.TableOutput = None


@command
def compare(request: CompareRequest) -> None:
    """Compare all learners with plain rivals on held-out labels, and say which to take.

    Learners classify by a vote of the labeled rows in their space. The rivals are the same with
    the Euclidean distance, logistic regression, label spreading, and the most frequent class for
    each row. The errors are those that seraph fit prints. Rows without a label are used by those
    that can. Of methods with the same error, the simplest comes first.

    Example: seraph compare data.csv --label class --id name --drop remarks
    """
    check_tables_out([request.output], request.data)
    if request.label is None and not all(path.suffix == ".npz" for path in request.data):
        raise ValueError("compare needs labels: name the column with the classes (--label).")
    table = request.read()
    methods = _methods(request.learner)
    # Only now: they import scikit-learn, and a refusal should not wait for that.
    from ._examples import Examples
    from ._prepare import prepare

    examples = Examples.read(table, request)
    points = prepare(examples.table, request)[1]
    scores, failed = _cross_validate(methods, points, examples, request.seed)
    rows, verdict = _rows(scores), _verdict(scores)
    if request.output is not None:
        put_table(request.output, {head: cells for head, *cells in zip(*rows, strict=True)})
    troubles = [{"method": name, "trouble": trouble} for name, trouble in failed.items()]
    result(methods=[*(score.values() for score in scores), *troubles], verdict=verdict)
    say(verdict)
    show(rows, TITLE)


@dataclass
class _Score:
    """Errors of one method: which held-out rows it got wrong."""

    name: str
    wrong: BoolArray
    seconds: float = 0.0
    is_guess: bool = False

    @property
    def n_wrong(self) -> int:
        return int(self.wrong.sum())

    @property
    def error(self) -> float:
        return self.n_wrong / len(self.wrong)

    @property
    def standard_error(self) -> float:
        return standard_error(self.n_wrong, len(self.wrong))

    @property
    def complexity(self) -> int:
        """Rank among methods with the same error: a guess, what learns nothing, what is plain."""
        if self.is_guess:
            return -1
        return _SIMPLEST.index(self.name) if self.name in _SIMPLEST else len(_SIMPLEST)

    def values(self) -> dict[str, Any]:
        return {
            "method": self.name,
            "wrong": self.n_wrong,
            "n": len(self.wrong),
            "error": self.error,
            "standard_error": self.standard_error,
            "seconds_per_fit": self.seconds,
        }


def _methods(wanted: list[str] | None) -> dict[str, Any]:
    """Return the classifiers to compare, by name."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    from ._held_out import by_vote
    from ._learners import learners, make_learner

    chosen = [make_learner(name) for name in wanted or learners()]
    return {
        **{type(learner).__name__: by_vote(learner) for learner in chosen},
        "Euclidean": by_vote(),
        # Without iterations, self-training is a fit on the labeled rows.
        "logistic regression": SelfTrainingClassifier(
            LogisticRegression(max_iter=1000), max_iter=0
        ),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200),
    }


def _cross_validate(
    methods: dict[str, Any], points: FloatArray, examples: Examples, seed: int
) -> tuple[list[_Score], dict[str, str]]:
    """Return the scores, best first, and why a method has none."""
    import numpy as np

    from ._held_out import label_folds, most_frequent

    codes = examples.codes
    folds = label_folds(codes, examples.marks, seed=seed)
    if not folds:
        raise ValueError(
            "Too few labels to compare by: label rows of two classes, and at least two rows of "
            "one of them."
        )
    guess = most_frequent(codes)
    held = np.concatenate([fold.held for fold in folds])
    name = always(examples.class_names[guess])
    scores = [_Score(name, codes[held] != guess, is_guess=True)]
    failed: dict[str, str] = {}
    with progress_bar() as progress:
        task = progress.add_task("comparing", total=len(methods) * len(folds))
        for number, (name, method) in enumerate(methods.items()):
            progress.update(task, description=name, completed=number * len(folds))
            wrong = []
            started = time.perf_counter()
            try:
                for fold in folds:
                    wrong.append(fold.wrong(method, points, codes))
                    progress.advance(task)
            except Exception as error:  # one method that cannot must not end the others
                failed[name] = brief(error)
                warnings.warn(f"{name} is left out: {failed[name]}", stacklevel=2)
                continue
            seconds = (time.perf_counter() - started) / len(folds)
            scores.append(_Score(name, np.concatenate(wrong), seconds))
    return _ranked(scores), failed


def _ranked(scores: list[_Score]) -> list[_Score]:
    return sorted(scores, key=lambda score: (score.n_wrong, score.complexity))


def _rows(scores: list[_Score]) -> list[list[str]]:
    rows = [["method", "wrong", "error", "seconds per fit"]]
    for score in scores:
        cells = error_cells(score.n_wrong, len(score.wrong))
        rows.append([score.name, *cells, f"{score.seconds:.2f}"])
    return rows


def _verdict(scores: list[_Score]) -> str:
    """Say which method to take, or which are level: the labels cannot tell them apart."""
    best, *others = scores
    close = [one for one in others if sign_test(best.wrong, one.wrong) >= SIGNIFICANCE]
    n = len(best.wrong)
    errs = f"on {best.n_wrong} of {n} held-out labels"
    if not close:
        return (
            f"Take {best.name}: it errs least, {errs}. It is better than every other one (sign "
            f"test, p < {SIGNIFICANCE})."
        )
    simplest = min([best, *close], key=lambda score: score.complexity)
    said = (
        f"{best.name} errs {errs}, level with {', '.join(one.name for one in close)}: {n} labels "
        f"cannot tell them apart (sign test, p >= {SIGNIFICANCE})."
    )
    if simplest.is_guess:
        return (
            f"No method is clearly better than the same class for each row. {said} More labels "
            "would decide, or these columns say nothing about the class."
        )
    if simplest is best:
        return f"{said} Take {best.name}, the simplest of them."
    nothing = ", which learns nothing" if simplest.name == "Euclidean" else ""
    return f"{said} The simplest of them is {simplest.name}{nothing}; more labels would decide."
