"""Get what a display needs from a fitted learner, or explain what is missing."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from .._typing import Array


class Learner(Protocol):
    """Anything with ``fit``; each display documents what else it needs."""

    def fit(self, X: Any, y: Any = None) -> Any: ...


def needed(display: str, estimator: Learner, name: str, hint: str) -> Any:
    """Return an attribute of a fitted learner, or raise an error that names the display."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        last = " For a Pipeline, pass its last step, and X as that step receives it."
        raise TypeError(
            f"{display} needs a learner with `{name}`, which {type(estimator).__name__} does not "
            f"have: {hint}{last if hasattr(estimator, 'named_steps') else ''}"
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
    return check_array(X, dtype=np.float64), mapped
