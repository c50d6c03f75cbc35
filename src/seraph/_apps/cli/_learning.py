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
from ._examples import Examples
from ._held_out import held_out_errors, held_out_pair_errors, n_folds
from ._prepare import prepare
from ._summary import Check, FitSummary, classes_text, count_classes

if TYPE_CHECKING:
    from ._requests import FitRequest

_TOO_FEW_LABELS = (
    "Too few labels to check whether the learned distance is better than the Euclidean one: label "
    "rows of two classes, and at least two rows of one of them."
)
_TOO_FEW_PAIRS = (
    "Too few marked pairs to check whether the learned distance is better than the Euclidean "
    "one: mark at least two similar and two dissimilar pairs."
)
_NOT_ASKED = "Not compared with the Euclidean distance (--no-check)."


def learn_model(learner: Any, examples: Examples, request: FitRequest) -> FitSummary:
    """Fit a model that ends in a learner, and check it on held-out labels or pairs."""
    verbose = "verbose" in learner.get_params() and learner.verbose
    skipped = _why_not_checked(examples, check=not request.no_check)
    with progress_bar(shown=not verbose) as progress:
        task = progress.add_task("learning", total=1 if skipped else 1 + n_folds(examples.codes))
        before, scaled = prepare(examples.table, request)
        seconds = _fit(learner, scaled, examples)
        model = Pipeline([*before, (request.learner.casefold(), learner)])
        progress.advance(task)
        _check_metric(learner, examples)
        if verbose:
            learner.set_params(verbose=0)  # it is not for the folds or the file
        check = _check(
            learner,
            scaled,
            examples,
            skipped,
            seed=request.seed,
            after_fold=lambda: progress.advance(task),
        )
    return FitSummary(model, scaled, examples, check, request.scale, seconds)


def _fit(learner: Any, scaled: FloatArray, examples: Examples) -> float:
    """Fit the learner; return the seconds that it took."""
    started = time.perf_counter()
    # Lines about iterations are not results, and stdout is for results.
    with redirect_stdout(sys.stderr):
        learner.fit(scaled, examples.labels, marks=examples.marks)
    return time.perf_counter() - started


def _check_metric(learner: Any, examples: Examples) -> None:
    """Refuse a metric of rank 0, and say which classes it was learned from."""
    if len(learner.components_):
        return
    classes = ""
    if examples.labels is not None:
        sizes = count_classes(examples.labels)
        classes = (
            f" It was learned from {len(sizes)} classes: {classes_text(sizes)}. If one of them "
            "means that the class is unknown, name it with --unlabeled."
        )
    raise ValueError(
        "The learned metric is zero: nothing was learned, so nothing is saved. Add labels of "
        f"different classes, or leave out --set.{classes}"
    )


def _why_not_checked(examples: Examples, *, check: bool) -> str:
    """Say why the comparison with the Euclidean distance is skipped; empty if it is not."""
    if not check:
        return _NOT_ASKED
    few = examples.labels is not None and len(count_classes(examples.labels)) < 2
    return _TOO_FEW_LABELS if few else ""


def _check(
    learner: Any,
    scaled: FloatArray,
    examples: Examples,
    skipped: str,
    *,
    seed: int,
    after_fold: Callable[[], object],
) -> Check:
    """Compute the errors on held-out labels or pairs."""
    if skipped:
        return Check(None, skipped)
    if examples.labels is None:
        errors: Any = tested_pairs(
            learner, scaled, examples.pairs, examples.similar, examples.test_weights, seed=seed
        )
        errors = errors or held_out_pair_errors(
            learner, scaled, examples.marks, seed=seed, after_fold=after_fold
        )
        return Check(errors, "" if errors else _TOO_FEW_PAIRS)
    errors = held_out_errors(
        learner,
        scaled,
        examples.codes,
        examples.marks,
        seed=seed,
        after_fold=after_fold,
        names=examples.class_names,
    )
    return Check(errors, "" if errors else _TOO_FEW_LABELS)
