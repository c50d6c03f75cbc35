"""The command ``compare``: all learners and their plain rivals, by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ._console import command, result, say, show
from ._requests import TableRequest


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
    from ._check import compare_methods, make_methods, say_best, sign_test
    from ._examples import Examples, prepare

    methods = make_methods(request.learner, forest=not request.no_forest)
    examples = Examples.read(table, request)
    points = prepare(examples.table, request)[1]
    scores = compare_methods(methods, points, examples, request.seed)
    # Of sign tests against the first method, times their number (Bonferroni).
    tests = [sign_test(scores[0], score) for score in scores]
    p_values = [min(1.0, max(1, len(scores) - 1) * p) for p in tests]
    rows = [["method", "wrong", "error", "p", "seconds per fit"]]
    for score, p in zip(scores, p_values, strict=True):
        shown = "" if score is scores[0] else f"{p:.2g}"
        rows.append([*score.cells(), shown, f"{score.seconds:.2f}"])
    verdict = say_best(scores, p_values)
    figures = [{**score.values(), "p_value": p} for score, p in zip(scores, p_values, strict=True)]
    result(methods=figures, verdict=verdict)
    say(verdict)
    show(rows, "Error on held-out labels, and p of a sign test against the first method")
