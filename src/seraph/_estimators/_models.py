"""Fit a learner, or a pipeline that ends in one, and compute distances of pairs with it."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from .._learner import check_pairs
from .._marks import Marks, Rows, aligned_marks
from .._points import is_tensor, to_memory
from .._utils._directions import check_directions
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_rows_by_number, shown


def check_estimator(name: str, estimator: Any) -> None:
    """Refuse anything but a learner of a metric, or a pipeline that ends in one."""
    fits = hasattr(estimator, "fit") and hasattr(estimator, "transform")
    if isinstance(estimator, type) or not fits:
        raise ValueError(
            f"{name} must be an estimator with fit and transform, such as SERAPH() or "
            f"make_pipeline(StandardScaler(), SERAPH()); got {shown(estimator)}."
        )


def from_device(X: Any) -> Any:
    """Copy a tensor to an ndarray, for the steps of a pipeline; return the rest as it is."""
    return to_memory(X) if is_tensor(X) else X


def learner_of(estimator: Any) -> Any:
    """Return the learner: the estimator itself, or the last step of a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return estimator


def fit_model(
    estimator: Any, X: Any, y: ArrayLike | None, marks: Marks | None, **more: Any
) -> Any:
    """Fit a learner, or a pipeline whose last step is one, in place.

    Marks are matched to rows here, because a scaler drops the index of a data frame. `more` are
    further arguments of the learner's ``fit``; those that are None are left out.
    """
    if marks is not None:
        more["marks"] = aligned_marks(X, _num_samples(X), None, marks)[1]
    given = {name: value for name, value in more.items() if value is not None}
    learner = learner_of(estimator)
    taken = signature(learner.fit).parameters
    for name in given:
        if name not in taken and not any(p.kind is p.VAR_KEYWORD for p in taken.values()):
            raise ValueError(
                f"{type(learner).__name__} does not learn from {name}: leave {name} out, or use "
                "SERAPH, which does."
            )
    step = estimator
    while isinstance(step, Pipeline) and not get_config()["enable_metadata_routing"]:
        given = {f"{step.steps[-1][0]}__{name}": value for name, value in given.items()}
        step = step.steps[-1][1]
    check_directions(estimator, X)
    with as_numbers("X"):  # a step of a pipeline may be the first to look at X
        return estimator.fit(X, y, **given)


def pair_distances(
    model: Any, pairs: ArrayLike, X: Any, measure: Callable[[Any, Any, Array], Array]
) -> Array:
    """Compute distances between pairs of points, or of rows of `X`, under a fitted model.

    Parameters
    ----------
    model : fitted learner or pipeline
        Its ``transform`` maps points so that the learned distance is the Euclidean one.
    pairs : array-like of shape (n_pairs, 2, n_features), or (n_pairs, 2) with `X`
        Pairs of points; or, with `X`, pairs of its rows, as in ``pair_distance``.
    X : array-like or None
        Points.
    measure : callable
        Computes the distances of pairs of rows from model, points and row numbers.
    """
    X, pairs = from_device(X), from_device(pairs)
    if X is not None:
        check_rows_by_number(X)
        check_directions(model, X)
        with as_numbers("X"):  # a step of a pipeline may be the first to look at X
            return measure(model, X, Rows.of(X).require(pairs))
    points = np.asarray(pairs)
    check_pairs(points, model.n_features_in_)
    if len(points) == 0:
        return np.empty(0)
    rows = points.reshape(-1, points.shape[2])
    check_directions(model, rows, "pairs")
    with as_numbers("pairs"):
        return measure(model, _name_features(model, rows), np.arange(len(rows)).reshape(-1, 2))


def _name_features(model: Any, points: Array) -> Any:
    """Give points the names of the features, if the model goes by them."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=names)
