"""Get what a display needs from a fitted learner, or explain what is missing."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from .._utils._typing import Array
from .._utils._validation import as_numbers, prepared_by


class Learner(Protocol):
    """Anything with ``fit``; each display documents what else it needs."""

    def fit(self, X: Any, y: Any = None) -> Any: ...


def unwrapped(estimator: Any, X: Any) -> tuple[Any, Any, Any]:
    """Return the learner in a pipeline or classifier, its points, and the names of its features.

    The points are mapped by the steps before it; the names are None where they are unknown.
    """
    while hasattr(estimator, "estimator_"):  # a classifier of pairs may hold one of rows
        estimator = estimator.estimator_
    pipeline = estimator
    steps = getattr(pipeline, "steps", None)
    if steps is None:
        return estimator, X, getattr(estimator, "feature_names_in_", None)
    check_is_fitted(pipeline)
    before, learner = pipeline[:-1], steps[-1][1]
    if X is not None and len(before):
        with prepared_by(before.steps[0][1] if len(before) == 1 else before):
            X = before.transform(X)
    found, X, names = unwrapped(learner, X)
    if names is None and found is learner and len(before):
        with suppress(AttributeError, ValueError):  # a step that does not name its features
            names = before.get_feature_names_out()
    return found, X, names


def needed(display: str, estimator: Learner, name: str, hint: str) -> Any:
    """Return an attribute of a fitted learner, or raise an error that names the display."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        raise TypeError(
            f"{display} needs a learner with `{name}`, which {type(estimator).__name__} does not "
            f"have: {hint}"
        )
    return getattr(estimator, name)


def before_and_after(display: str, estimator: Learner, X: ArrayLike) -> tuple[Array, Array]:
    """Return the points, and the points mapped so that the learned distance is Euclidean."""
    transform = needed(display, estimator, "transform", "pass a fitted metric learner.")
    if get_tags(estimator).input_tags.pairwise:
        raise TypeError(
            f"{display} compares the learned distance with the Euclidean one, but this "
            f"{type(estimator).__name__} takes kernel values: there are no points."
        )
    mapped = np.asarray(transform(X), dtype=np.float64)
    with as_numbers("X", X):
        return check_array(X, dtype=np.float64), mapped
