"""What a display asks of a fitted learner, and what it says where that is missing."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted


class Learner(Protocol):
    """Anything with ``fit``; each display names what else it needs."""

    def fit(self, X: Any, y: Any = None) -> Any: ...


def needed(display: str, estimator: Learner, name: str, hint: str) -> Any:
    """Attribute `name` of a fitted learner, or an error that names the display."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        last = " Of a Pipeline, pass the last step, and X as that step sees it."
        raise TypeError(
            f"{display} needs a learner with `{name}`, which {type(estimator).__name__} does not "
            f"have: {hint}{last if hasattr(estimator, 'named_steps') else ''}"
        )
    return getattr(estimator, name)


def before_and_after(display: str, estimator: Learner, X: ArrayLike) -> tuple[NDArray, NDArray]:
    """The points as they came, and mapped to where the learned distance is Euclidean."""
    transform = needed(display, estimator, "transform", "pass a fitted metric learner.")
    if get_tags(estimator).input_tags.pairwise:
        raise TypeError(
            f"{display} compares the learned distance with that of the points, and this "
            f"{type(estimator).__name__} takes values of a kernel: there are no points."
        )
    mapped = np.asarray(transform(X), dtype=np.float64)
    return check_array(X, dtype=np.float64), mapped
