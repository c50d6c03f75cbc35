"""The command ``compare``: all learners and their plain rivals, by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._console import command, result, say, show, working
from ._requests import TableRequest

if TYPE_CHECKING:
    from ..._utils._typing import FloatArray
    from ._check import Score
    from ._examples import Examples

# Methods to list by name; the rest are counted.
_LISTED = 5


@dataclass(frozen=True, kw_only=True)
class CompareRequest(TableRequest):
    """What `seraph compare` is asked for."""

    learner: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this learner (repeatable). Rivals stay."),
    ] = None


@command
def compare(request: CompareRequest) -> None:
    """Compare all learners with plain rivals on held-out labels, and say which are best.

    Learners classify as seraph predict does. The rivals are the Euclidean distance, logistic
    regression, label spreading, a random forest, and the most frequent class for each row. The
    errors are those that seraph fit prints. Rows without a label are used by those that can. Of
    methods with the same error, the simplest comes first.

    Example: seraph compare data.csv --label class --id name --drop remarks
    """
    if request.label is None and request.data.suffix != ".npz":
        raise ValueError("compare needs labels: name the column with the classes (--label).")
    table = request.read()
    # Only now: they import scikit-learn, and a refusal should not wait for that.
    from ._check import sign_test
    from ._examples import Examples, prepare

    methods = _methods(request.learner, forest=not request.no_forest)
    examples = Examples.read(table, request)
    points = prepare(examples.table, request)[1]
    scores = _cross_validate(methods, points, examples, request.seed)
    # Of sign tests against the first method, times their number (Bonferroni).
    tests = [sign_test(scores[0], score) for score in scores]
    p_values = [min(1.0, max(1, len(scores) - 1) * p) for p in tests]
    rows = [["method", "wrong", "error", "p", "seconds per fit"]]
    for score, p in zip(scores, p_values, strict=True):
        shown = "" if score is scores[0] else f"{p:.2g}"
        rows.append([*score.cells(), shown, f"{score.seconds:.2f}"])
    verdict = _verdict(scores, p_values)
    figures = [{**score.values(), "p_value": p} for score, p in zip(scores, p_values, strict=True)]
    result(methods=figures, verdict=verdict)
    say(verdict)
    show(rows, "Error on held-out labels, and p of a sign test against the first method")


def _methods(names: list[str] | None, *, forest: bool) -> dict[str, Any]:
    """Return the classifiers to compare, by name, the simplest first."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    from ...classic import Euclidean
    from ._check import classify
    from ._learners import learners, make_learner

    chosen = [make_learner(name) for name in names or learners()]
    return {
        **dict([classify(Euclidean(), forest=False)]),
        # Without iterations, self-training is a fit on the labeled rows.
        "logistic regression": SelfTrainingClassifier(
            LogisticRegression(max_iter=1000), max_iter=0
        ),
        "label spreading": LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200),
        "random forest": SelfTrainingClassifier(
            RandomForestClassifier(random_state=0), max_iter=0
        ),
        **dict(classify(learner, forest=forest) for learner in chosen),
    }


def _cross_validate(
    methods: dict[str, Any], points: FloatArray, examples: Examples, seed: int
) -> list[Score]:
    """Return the scores, best first; a method that fails has none, with a note."""
    from ._check import guess_labels, judge, label_folds

    codes = examples.codes
    folds = label_folds(codes, examples.marks, seed=seed)
    if not folds:
        raise ValueError(
            "Too few labels to compare by: label at least four rows of each of two classes."
        )
    scores = [guess_labels(codes, folds, examples.class_names)]
    with working("comparing") as status:
        for name, method in methods.items():
            status.update(name)
            try:
                scores.append(judge(name, method, points, codes, folds)[0])
            except Exception as error:  # one method that cannot must not end the others
                warnings.warn(f"{name} is left out: {str(error)[:200]}", stacklevel=2)
    return sorted(scores, key=lambda score: score.n_wrong)


def _verdict(scores: Sequence[Score], p_values: Sequence[float]) -> str:
    """Say which methods have the fewest errors, and which others may be as good."""
    from ...tables._messages import and_more
    from ._check import SIGNIFICANCE

    best = scores[0]
    first = [score.name for score in scores if score.n_wrong == best.n_wrong]
    close = [
        f"{score.name} ({score.n_wrong})"
        for score, p in zip(scores, p_values, strict=True)
        if p >= SIGNIFICANCE and score.n_wrong > best.n_wrong
    ]
    said = (
        f"Fewest errors, {best.n_wrong} of {best.n} held-out labels: "
        f"{and_more(first[:_LISTED], len(first))}."
    )
    tests = f"sign tests, p times {len(scores) - 1}"
    if not close:
        return f"{said} Every other method is worse ({tests}, < {SIGNIFICANCE})."
    return f"{said} Not clearly worse: {and_more(close[:_LISTED], len(close))} ({tests})."
