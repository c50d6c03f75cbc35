"""Fit a learner, or a pipeline that ends in one, and map points by it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn import get_config
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
)
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from .._learner import refuse_output
from .._marks import Marks, aligned_marks, sample_rows
from .._mean import MeanMetric
from .._points import header, is_chunked, is_tensor, map_rows, to_memory
from .._utils._directions import check_directions
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_read, check_unmasked, shown


class OfLearner(MetaEstimatorMixin, BaseEstimator):
    """Base of estimators around a learner, their parameter ``estimator``."""

    estimator: Any
    # With metadata routing, marks come here without being asked for.
    __metadata_request__fit: ClassVar = {"marks": True}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = get_tags(or_default(self.estimator)).input_tags.pairwise
        return tags

    def _begin_fit(self, X: Any, y: Any, marks: Marks | None) -> tuple[Any, Any, Any, Any]:
        """Return the checked learner, and rows in memory with their labels and marks."""
        blank = or_default(self.estimator)
        check_learner(blank)
        X, y, marks, _ = sample_rows(from_device(X), y, marks)
        if isinstance(y, Marks) and marks is None:
            y, marks = None, y
        return blank, X, y, marks


class MapOfLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OfLearner):
    """Base of those that map rows: `_map` does, and `_n_features_out` is how many columns."""

    def transform(self, X: ArrayLike) -> Array:
        """Map points to the learned space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_dimensions)
            Mapped points, of the type that the learner returns; a dask collection gives a dask
            array that is not computed yet.
        """
        if is_chunked(X):
            refuse_output(self)
            return self._by_chunks("transform", X, self._n_features_out)
        check_is_fitted(self)
        X = from_device(X)
        with as_numbers("X"):  # the learner checks the entries
            validate_data(
                self, X, reset=False, dtype=None, accept_sparse=True, ensure_all_finite=False
            )
        return self._map(X)

    def _by_chunks(self, method: str, X: Any, width: int) -> Any:
        """Apply a method to each chunk of a dask collection, when computed."""
        check_is_fitted(self)
        validate_data(self, header(X), reset=False, skip_check_array=True)
        names = list(X.columns) if hasattr(X, "columns") else None
        return map_rows(X, partial(_map_chunk, getattr(self, method), names, width), width=width)


def or_default(estimator: Any) -> Any:
    """Return the learner that a classifier was given, or else the default.

    Nothing in seraph scales points unasked. Of columns in different units, a fit warns; but
    embeddings that are scaled column by column get worse, and nobody would know.
    """
    return MeanMetric() if estimator is None else estimator


def check_learner(estimator: Any) -> None:
    """Refuse anything but a learner of a metric, or a pipeline that ends in one."""
    if isinstance(estimator, type) or not hasattr(estimator, "transform"):
        raise ValueError(
            "estimator must be an estimator with fit and transform, such as SERAPH(); got "
            f"{shown(estimator)}."
        )


def from_device(X: Any) -> Any:
    """Copy a tensor to an ndarray, for the steps of a pipeline; return the rest as it is.

    Masked entries are refused, because the steps would drop the mask.
    """
    check_read("X", X)
    check_unmasked(X)
    return to_memory(X) if is_tensor(X) else X


def _map_chunk(
    method: Callable[..., Array], names: list[Any] | None, width: int, chunk: Any
) -> Array:
    """Apply a method to a chunk, under the names of its columns."""
    if len(chunk) == 0:
        return np.empty((0, width))
    if names is not None:
        import pandas

        chunk = pandas.DataFrame(chunk, columns=names)
    return np.asarray(method(chunk))


def transformed(learner: Any, X: Any, name: str = "X") -> Array:
    """Map points by the learner; a metric of rank 0 gives one column of zeros."""
    check_directions(learner, X, name)
    with as_numbers(name):  # a step of a pipeline may be the first to look at X
        mapped = np.asarray(learner.transform(from_device(X)))
    return mapped if mapped.shape[1] else np.zeros((len(mapped), 1))


def forest_points(model: Any, X: Any) -> Any:
    """Return rows as the learner at the end of a fitted pipeline sees them.

    None if they are no finite table of numbers in memory: a forest cannot use them.
    """
    while isinstance(model, Pipeline | FrozenEstimator):
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        else:
            X, model = model[:-1].transform(X) if len(model) > 1 else X, model.steps[-1][1]
    if issparse(X):
        return None
    try:
        points = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return points if points.ndim == 2 and np.isfinite(points).all() else None


def fit_model(estimator: Any, X: Any, y: ArrayLike | None, marks: Marks | None) -> Any:
    """Fit a learner, or a pipeline whose last step is one, in place.

    Marks are matched to rows here, because a scaler drops the index of a data frame.
    """
    arguments = {}
    if marks is not None:
        name, step = "marks", estimator
        while isinstance(step, Pipeline) and not get_config()["enable_metadata_routing"]:
            name, step = f"{step.steps[-1][0]}__{name}", step.steps[-1][1]
        arguments[name] = aligned_marks(X, _num_samples(X), None, marks)[1]
    check_directions(estimator, X)
    with as_numbers("X"):  # a step of a pipeline may be the first to look at X
        return estimator.fit(X, y, **arguments)
