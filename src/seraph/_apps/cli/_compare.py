"""The command ``compare``: all learners and their plain rivals, by cross-validation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import _options as options
from ._console import command, print_table, progress_bar, result, say, show
from ._requests import TableRequest

if TYPE_CHECKING:
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
    repeats: Annotated[
        int, typer.Option(min=1, metavar="NUMBER", help="Times to shuffle into five folds.")
    ] = 3
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the errors here: .png, .svg or .pdf."),
    ] = None
    output: options.TableOutput = None

    def check_files(self) -> None:
        """Refuse output files that cannot be written, and tables that have no labels."""
        from ._tables import MIXED_TABLES, STDOUT, check_output

        for path, kinds in ((self.picture, _PICTURES), (self.output, MIXED_TABLES)):
            if path is not None and path != STDOUT:
                check_output(path, kinds, self.data)
        if self.label is None and not all(path.suffix == ".npz" for path in self.data):
            raise ValueError("compare needs labels: name the column with the classes (--label).")


@command
def compare(request: CompareRequest) -> None:
    """Compare all learners with plain rivals on held-out labels, and say which to take.

    Learners classify by the labeled rows in their space, as seraph predict does. The rivals are
    the same with the Euclidean distance, logistic regression and label spreading. Rows without a
    label are used by those that can. Of methods with the same error, the simplest comes first.

    Example: seraph compare data.csv --label class --id name --drop remarks --picture errors.png
    """
    request.check_files()
    preparation, table = request.preparation, request.read()
    methods = _methods(request.learner)
    # Only now: it imports scikit-learn, and a refusal should not wait for that.
    from ._examples import Examples

    examples = Examples.read(table, request)
    points = preparation.matrix(examples.features)[1]
    codes = examples.known.codes
    scores = _cross_validate(methods, points, codes, request.repeats, request.seed)
    _write(scores, request)


def _write(scores: list[_Score], request: CompareRequest) -> None:
    """Write the files, then print the table and the verdict."""
    from ._tables import STDOUT, write_table

    rows, verdict = _rows(scores), _verdict(scores)
    output, picture = request.output, request.picture
    if output is not None:
        columns = {name: [row[k] for row in rows[1:]] for k, name in enumerate(rows[0])}
        print_table(columns) if output == STDOUT else write_table(output, columns)
    if picture is not None:
        from ..._utils._files import write_whole

        write_whole(picture, _picture(scores, picture.suffix))
    result(methods=[score.values() for score in scores], verdict=verdict)
    if output != STDOUT:
        show(rows, f"Error on held-out labels, {request.repeats} times five folds")
        say(verdict)
        if picture is not None:
            say(f"Picture: {picture}")


@dataclass
class _Score:
    """Errors of one method: for each held-out row, the share of the repeats it was wrong in."""

    name: str
    wrong: FloatArray
    seconds: float = 0.0
    trouble: str = ""
    runs: list[float] = field(default_factory=list)

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
        if self.trouble:
            return {"method": self.name, "trouble": self.trouble}
        return {
            "method": self.name,
            "error": self.error,
            "standard_error": self.standard_error,
            "seconds_per_fit": self.seconds,
        }


def _methods(wanted: list[str] | None) -> dict[str, Callable[[], Any]]:
    """Return what to compare: functions that make a classifier, by name."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.semi_supervised import LabelSpreading

    from ..._estimators import MetricClassifier
    from ._learners import learners

    known = learners()
    for name in wanted or ():
        if name.casefold() not in known:
            raise ValueError(f"--learner must be one of {', '.join(known)}; got {name!r}.")
    chosen = {name.casefold() for name in wanted} | {"euclidean"} if wanted else set(known)

    def nearest(cls: type) -> Callable[[], Any]:
        return lambda: MetricClassifier(cls())

    methods: dict[str, Callable[[], Any]] = {
        cls.__name__: nearest(cls) for name, cls in known.items() if name in chosen
    }
    methods["logistic regression"] = lambda: _LabeledOnly(LogisticRegression(max_iter=1000))
    methods["label spreading"] = lambda: LabelSpreading(kernel="knn", n_neighbors=7, max_iter=200)
    return methods


class _LabeledOnly:
    """A supervised classifier, fitted on the labeled rows."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: FloatArray, y: IntArray) -> _LabeledOnly:
        self.classifier.fit(X[y >= 0], y[y >= 0])
        return self

    def predict(self, X: FloatArray) -> Array:
        predicted: Array = self.classifier.predict(X)
        return predicted


def _cross_validate(
    methods: dict[str, Callable[[], Any]],
    points: FloatArray,
    codes: IntArray,
    repeats: int,
    seed: int,
) -> list[_Score]:
    """Return the scores, best first; methods that failed last."""
    import numpy as np

    from ._held_out import folds

    splits = [held for repeat in range(repeats) for held in folds(codes, seed + repeat)]
    if not splits:
        raise ValueError(
            "Too few labels to compare by: label rows of two classes, and at least two rows of "
            "one of them."
        )
    rows = np.unique(np.concatenate(splits))
    scores = []
    with progress_bar() as progress:
        task = progress.add_task("comparing", total=len(methods) * len(splits))
        for name, make in methods.items():
            score = _Score(name, np.zeros(len(codes)))
            started = time.perf_counter()
            for held in splits:
                progress.update(task, description=name)
                if not score.trouble:
                    _judge(score, make, points, codes, held)
                progress.advance(task)
            score.seconds = (time.perf_counter() - started) / len(splits)
            score.wrong = score.wrong[rows] / repeats
            scores.append(score)
    failed = [score for score in scores if score.trouble]
    for score in failed:
        warnings.warn(f"{score.name} is left out: {score.trouble}", stacklevel=2)
    return [*_ranked([score for score in scores if not score.trouble]), *failed]


def _ranked(scores: list[_Score]) -> list[_Score]:
    return sorted(scores, key=lambda score: (score.error, _complexity(score.name)))


def _complexity(name: str) -> int:
    """Rank methods with the same error: what learns nothing, what is plain, what is learned."""
    return _SIMPLEST.index(name) if name in _SIMPLEST else len(_SIMPLEST)


def _judge(
    score: _Score, make: Callable[[], Any], points: FloatArray, codes: IntArray, held: IntArray
) -> None:
    kept = codes.copy()
    kept[held] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            predicted = make().fit(points, kept).predict(points[held])
        except Exception as error:  # one method that cannot must not end the others
            score.trouble = " ".join(str(error).split())[:200] or type(error).__name__
            return
    score.wrong[held] += predicted != codes[held]


def _rows(scores: list[_Score]) -> list[list[str]]:
    rows = [["method", "error", "±", "seconds per fit"]]
    for score in scores:
        if not score.trouble:
            rows.append(
                [
                    score.name,
                    f"{100 * score.error:.1f} %",
                    f"{100 * score.standard_error:.1f} %",
                    f"{score.seconds:.2f}",
                ]
            )
    return rows


def _verdict(scores: list[_Score]) -> str:
    """Say which method to take, or which are level: the labels cannot tell them apart."""
    from scipy.stats import binomtest

    ran = [score for score in scores if not score.trouble]
    best = ran[0]
    close = []
    for score in ran[1:]:
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


def _picture(scores: list[_Score], suffix: str) -> bytes:
    import io

    from matplotlib.figure import Figure

    ran = [score for score in scores if not score.trouble][::-1]
    figure = Figure(figsize=(7.2, 0.38 * len(ran) + 1.1), layout="constrained")
    axes = figure.subplots()
    colors = ["0.55" if score.name in _SIMPLEST else "#0072B2" for score in ran]
    errors = [100 * score.error for score in ran]
    spread = [100 * score.standard_error for score in ran]
    axes.barh([score.name for score in ran], errors, xerr=spread, color=colors, capsize=3)
    axes.set(xlabel="error on held-out labels, % (lines: one standard error)")
    axes.set_xlim(left=0)
    axes.set_title("Learned distances (blue) and plain rivals (gray)", fontsize=11)
    out = io.BytesIO()
    figure.savefig(out, format=suffix.lstrip(".").lower(), dpi=120)
    return out.getvalue()
