"""From examples to a fitted model and its check against the Euclidean distance."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from sklearn.pipeline import Pipeline

from ..._utils._typing import FloatArray
from ._answered import tested_pairs
from ._console import progress_bar
from ._examples import Examples, marked_pairs
from ._held_out import held_out_errors, held_out_pair_errors, n_folds
from ._prepare import prepare
from ._progress import progress_callbacks
from ._summary import Check, FitSummary, classes_text, count_classes
from ._tables import labels_of

if TYPE_CHECKING:
    from pathlib import Path

    from ._models import Roles, SavedModel
    from ._requests import FitRequest
    from ._tables import InputTable

_TOO_FEW_LABELS = (
    "Too few labels to check whether the learned distance is better than the Euclidean one: label "
    "rows of two classes, and at least two rows of one of them."
)
_TOO_FEW_PAIRS = (
    "Too few marked pairs to check whether the learned distance is better than the Euclidean "
    "one: mark at least two similar and two dissimilar pairs."
)
_NOTHING_TO_CHECK = (
    "Not compared with the Euclidean distance: that needs labels (--label) or marked pairs "
    "(--pairs)."
)
_NOT_ASKED = "Not compared with the Euclidean distance (--no-check)."


def learn_model(learner: Any, examples: Examples, request: FitRequest) -> FitSummary:
    """Fit a model that ends in a learner, and check it on held-out labels or pairs."""
    inner = getattr(learner, "learner", learner)  # of SERAPHCV, it has the callback
    verbose = bool(inner.get_params().get("verbose"))
    skipped = _why_not_checked(examples, check=not request.no_check)
    with progress_bar(shown=not verbose) as progress:
        after_iteration, after_fit = progress_callbacks(
            progress,
            total=1 if skipped else 1 + n_folds(examples.codes),
            tol=float(getattr(inner, "tol", None) or 1e-3),
        )
        _set(inner, "callback", after_iteration)
        before, scaled = prepare(examples.table, request)
        seconds = _fit(learner, scaled, examples)
        model = Pipeline([*before, (request.learner.casefold(), learner)])
        after_fit()
        _check_metric(learner, examples)
        _set(inner, "verbose", 0)  # neither is for the folds or the file
        _set(inner, "checkpoint", None)
        check = _check(
            learner,
            scaled,
            examples,
            skipped,
            seed=request.seed,
            after_fold=after_fit,
        )
    _set(inner, "callback", None)  # a function cannot be saved
    return FitSummary(model, scaled, examples, check, request.scale, seconds)


def summarize_model(
    fitted: SavedModel, table: InputTable, roles: Roles, pairs: Path | None, seed: int | None
) -> FitSummary:
    """Summarize a saved model on a table; with a seed, check copies of its learner there."""
    if not hasattr(fitted.learner, "components_"):
        raise ValueError(
            f"{fitted.path} holds a {type(fitted.learner).__name__}, which has no metric to "
            "report on."
        )
    labels = labels_of(table, roles.label, roles.unlabeled)
    marked = marked_pairs(table, pairs, roles.id_column)
    scaled = fitted.points(table, without=[roles.label if table.names else None, roles.id_column])
    examples = Examples(table.path, table, labels, *marked)
    skipped = _why_not_checked(examples, check=seed is not None)
    check = _check(fitted.learner, scaled, examples, skipped, seed=seed or 0)
    return FitSummary(fitted.estimator, scaled, examples, check, fitted.learned_from.get("scale"))


def _fit(learner: Any, scaled: FloatArray, examples: Examples) -> float:
    """Fit the learner; return the seconds that it took."""
    started = time.perf_counter()
    # Lines about iterations are not results, and stdout is for results.
    with redirect_stdout(sys.stderr):
        learner.fit(scaled, examples.labels, marks=examples.marks)
    return time.perf_counter() - started


def _set(learner: Any, parameter: str, value: Any) -> None:
    """Set a parameter of the learner, if it has one of this name."""
    if parameter in learner.get_params(deep=False):
        learner.set_params(**{parameter: value})


def _check_metric(learner: Any, examples: Examples) -> None:
    """Refuse a metric of rank 0, and say which classes it was learned from."""
    given = getattr(learner, "lam", "auto") != "auto"
    has_metric = len(learner.components_) or learner.isotropic_
    if has_metric and not (given and len(learner.learned_components_) == 0):
        return
    classes = ""
    if examples.labels is not None:
        sizes = count_classes(examples.labels)
        classes = (
            f" It was learned from {len(sizes)} classes: {classes_text(sizes)}. If one of them "
            "means that the class is unknown, name it with --unlabeled."
        )
    raise ValueError(
        "The learned metric is zero: nothing was learned, so nothing is saved. Lower --lam "
        f"(auto suits most data), or add labels of different classes.{classes}"
    )


def _why_not_checked(examples: Examples, *, check: bool) -> str:
    """Say why the comparison with the Euclidean distance is skipped; empty if it is not."""
    if not check:
        return _NOT_ASKED
    if examples.labels is None:
        return "" if len(examples.pairs) else _NOTHING_TO_CHECK
    return "" if len(count_classes(examples.labels)) > 1 else _TOO_FEW_LABELS


def _check(
    learner: Any,
    scaled: FloatArray,
    examples: Examples,
    skipped: str,
    *,
    seed: int,
    after_fold: Callable[[], object] = lambda: None,
) -> Check:
    """Compute the errors on held-out labels or pairs."""
    if skipped:
        return Check(None, skipped)
    marks = examples.marks
    if examples.labels is None:
        errors: Any = tested_pairs(
            learner, scaled, examples.pairs, examples.similar, examples.test_weights, seed=seed
        )
        errors = errors or held_out_pair_errors(
            learner, scaled, marks, seed=seed, after_fold=after_fold
        )
        return Check(errors, "" if errors else _TOO_FEW_PAIRS)
    codes = examples.codes
    errors = held_out_errors(
        learner,
        scaled,
        codes,
        marks,
        seed=seed,
        after_fold=after_fold,
        names=examples.class_names,
    )
    return Check(errors, "" if errors else _TOO_FEW_LABELS)
