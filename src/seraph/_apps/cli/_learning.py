"""From examples to a fitted model and its check against the Euclidean distance."""

from __future__ import annotations

import sys
import time
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from ._console import working
from ._examples import Examples
from ._held_out import check_labels, check_pairs
from ._prepare import prepare
from ._summary import FitSummary

if TYPE_CHECKING:
    from ._requests import FitRequest

_TOO_FEW = (
    "Too few labels or pairs to check whether the learned distance is better than the Euclidean "
    "one: label at least four rows of each class, or mark more pairs of both kinds."
)
_NOT_ASKED = "Not compared with the Euclidean distance (--no-check)."


def learn_model(learner: Any, examples: Examples, request: FitRequest) -> FitSummary:
    """Fit a model that ends in a learner, and check it on held-out labels or pairs."""
    # Lines about iterations are not results, and stdout is for results.
    with working("learning"), redirect_stdout(sys.stderr):
        before, scaled = prepare(examples.table, request)
        started = time.perf_counter()
        # Codes, since a class may be called -1.
        codes = None if examples.labels is None else examples.codes
        learner.fit(scaled, codes, marks=examples.marks)
        seconds = time.perf_counter() - started
        model = Pipeline([*before, (request.learner.casefold(), learner)])
        if len(learner.components_) == 0:
            raise ValueError(
                "The learned metric is zero: nothing was learned, so nothing is saved. Add labels "
                "of different classes, or leave out --set."
            )
        check, skipped = None, _NOT_ASKED
        if not request.no_check:
            check = _check(learner, scaled, examples, request.seed)
            skipped = _TOO_FEW
    return FitSummary(model, scaled, examples, check, skipped, request.scale, seconds)


def _check(learner: Any, points: Any, examples: Examples, seed: int) -> Any:
    """Compute the errors on held-out labels or pairs; None if these are too few."""
    points, marks = np.asarray(points), examples.marks
    if examples.labels is not None:
        names = examples.class_names
        return check_labels(learner, points, examples.codes, marks, seed=seed, names=names)
    return check_pairs(learner, points, marks, seed=seed)
