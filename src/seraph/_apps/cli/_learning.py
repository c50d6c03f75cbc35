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
    from rich.progress import Progress

    from ... import FitState
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
    inner = getattr(learner, "learner", learner)  # of SERAPHCV, it has the callback
    verbose = bool(inner.get_params().get("verbose"))
    skipped = _why_not_checked(examples, check=not request.no_check)
    with progress_bar(shown=not verbose) as progress:
        total = 1 if skipped else 1 + n_folds(examples.codes)
        after_iteration, after_fit = progress_callbacks(progress, total)
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


def progress_callbacks(
    progress: Progress, total: int
) -> tuple[Callable[[FitState], None] | None, Callable[[], None]]:
    """Return what to call after each iteration and after each of `total` fits.

    They are functions, not methods, because a copy of the learner copies its callback.
    """
    task = progress.add_task("learning", total=total)

    def after_iteration(state: FitState) -> None:
        gap = "" if state.gap is None else f", gap {state.gap:.0e}"
        said = f"learning, iteration {state.iteration}{gap}, rank {state.rank}"
        progress.update(task, description=said)

    def after_fit() -> None:
        progress.advance(task)

    return None if progress.disable else after_iteration, after_fit


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
    learned = getattr(learner, "learned_components_", learner.components_)
    if has_metric and not (given and len(learned) == 0):
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
