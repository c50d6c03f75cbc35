"""The steps of a model that is exported, and the checks that every export makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._decide._classifier import MetricClassifier
from .._decide._pair_classifier import PairClassifier
from .._utils._validation import shown


def check_export(model: Any, dtype: DTypeLike) -> np.dtype[Any]:
    """Refuse anything but a fitted estimator; return the type of the numbers to write."""
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(
            f"model must be a fitted estimator, such as a SERAPH; got {shown(model)}."
        )
    check_is_fitted(model)
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {shown(dtype)}.")
    return np.dtype(dtype)


def flat_steps(model: Any) -> list[Any]:
    """List the steps of a model, also those of inner pipelines and inside of classifiers."""
    if isinstance(model, MetricClassifier | PairClassifier):
        return flat_steps(model.estimator_)
    if hasattr(model, "steps"):
        return [part for _, step in model.steps for part in flat_steps(step)]
    return [model]


def first_step(model: Any) -> Any:
    """Return the first step of a pipeline, or of the one in it; or the model itself."""
    return first_step(model.steps[0][1]) if hasattr(model, "steps") else model
