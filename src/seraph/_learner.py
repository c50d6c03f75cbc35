"""Base classes of all learners: mapping points, distances of pairs, scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from ._marks import Marks, sample_rows, take_pairs
from ._points import (
    FLOATS,
    as_points,
    check_range,
    check_tensor,
    header,
    is_chunked,
    is_tensor,
    map_rows,
    to_memory,
)
from ._utils._public import publish
from ._utils._typing import Array
from ._utils._validation import as_numbers, two_points
from .metrics._pairs import Gap, pairs_to_score, score_of_pairs, squared_gap


class MetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of all learners of a distance.

    ``transform`` maps points to a space where the learned distance is the Euclidean one.
    """

    # With metadata routing, marks go to the learner without being asked for.
    __metadata_request__fit: ClassVar = {"marks": True}
    # A pipeline passes its score a sample_weight of None, and wants it known.
    __metadata_request__score: ClassVar = {"marks": True, "sample_weight": None}

    def pair_distance(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the learned distance between the two points of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or (n_pairs, 2) with `X`
            Pairs of points; or, with `X`, pairs of its rows: labels of its index if it is a
            DataFrame, row numbers otherwise.
        X : array-like of shape (n_samples, n_features), optional
            Points.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        return self._distances(pairs, X)

    def score(
        self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None
    ) -> float:
        """Compute the AUC of the distance over the labeled pairs of `X`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels, as in ``fit``.
        marks : Marks, optional
            Marks of the rows of `X`.

        Returns
        -------
        float
            Probability that a similar pair is closer than a dissimilar one; see
            :func:`seraph.metrics.pair_auc`. Without pairs of both kinds it is 0.5, with a
            warning.
        """
        X, y, marks, _ = sample_rows(X, y, marks, unlabeled=0)
        points, gap = self._points_and_gap(X)
        return score_of_pairs(points, gap, pairs_to_score(X, len(points), y, marks))

    def _distances(self, pairs: ArrayLike, X: Any) -> Array:
        return np.sqrt(self._squared_distances(pairs, X))

    def _points_and_gap(self, X: ArrayLike) -> tuple[Array, Gap]:
        """Return points, and a function of two such arrays that grows with the distance."""
        return np.asarray(self.transform(to_memory(X) if is_tensor(X) else X)), squared_gap

    def _check_points(self, X: ArrayLike) -> Array:
        """Check the points to learn from, and return them as an array."""
        if is_chunked(X):
            raise ValueError(
                f"{type(self).__name__} cannot learn from a dask collection here: pass "
                "X.compute() if it fits into memory, or some of its rows."
            )
        points = as_points(X, ensure_min_samples=2, estimator=self)
        check_range(points)
        return points

    def _check_new_points(self, X: ArrayLike) -> Array:
        """Check the points to map, and return them as an array."""
        check_is_fitted(self)
        with as_numbers("X", X):
            points: Array = validate_data(self, to_memory(X), dtype=FLOATS, reset=False)
        return points

    def _squared_distances(self, pairs: ArrayLike, X: Any) -> Array:
        """Return the squared distances of pairs of points, or of rows of `X`."""
        check_is_fitted(self)
        if X is not None:
            validate_data(self, header(X), reset=False, skip_check_array=True)
            X, pairs = take_pairs(X, pairs)
            with as_numbers("X", X):
                table = check_array(
                    to_memory(X), dtype=None, ensure_all_finite=False, ensure_min_samples=0
                )
            pairs = table[pairs]
        shape = {"allow_nd": True, "ensure_2d": False, "ensure_min_samples": 0}
        points = as_points(pairs, "pairs", estimator=self, **shape)
        check_pairs(points, self.n_features_in_)
        difference = self._map_differences(points)
        return np.einsum("kr,kr->k", difference, difference)

    def _map_differences(self, pairs: Array) -> Array:
        """Map the difference of the two points of each pair."""
        raise NotImplementedError


class MahalanobisLearner(MetricLearner):
    """Base class of all learners of ``d(x, x') = ||P x - P x'||``, with ``P = components_``.

    A subclass implements ``fit(X, y=None, *, marks=None)`` and ends it with
    ``return self._set_learned(X, components)``, which sets all attributes at once. Mapping,
    distances, scores, saving and plots then work.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The map P.

    Examples
    --------
    A learner of one direction, that between the means of two classes:

    >>> import numpy as np
    >>> from seraph import MahalanobisLearner
    >>> class MeanDirection(MahalanobisLearner):
    ...     def fit(self, X, y=None, *, marks=None):
    ...         points, y = self._check_points(X), np.asarray(y)
    ...         first, second = (points[y == k].mean(axis=0) for k in (0, 1))
    ...         return self._set_learned(X, (first - second)[np.newaxis])
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]])
    >>> MeanDirection().fit(X, [0, 0, 1, 1]).transform(X).ravel()
    array([0., 0., 4., 4.])
    """

    components_: Array

    def _set_learned(self, X: ArrayLike, components: Array, **attributes: Any) -> Self:
        """Set all attributes that were learned from `X`, now that nothing can fail any more.

        `X` is what the user passed, and `components` the factor of the learned metric.
        """
        validate_data(self, header(X), skip_check_array=True)  # n_features_in_, feature_names_in_
        if components.size:  # each row has a definite sign: its largest entry is positive
            peaks = components[np.arange(len(components)), np.abs(components).argmax(axis=1)]
            signs = np.copysign(1.0, peaks).astype(components.dtype)
            components = components * signs[:, np.newaxis]
        self.__dict__.update(components_=components, **attributes)
        return self

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def transform(self, X: ArrayLike) -> Array:
        """Map points to a space where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points. A tensor gives a tensor on the same device; a dask collection
            gives a dask array that is not computed yet.
        """
        check_is_fitted(self)
        if is_tensor(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            points = check_tensor(X, type(self).__name__, least=0)
            # (A copy: torch takes no negative strides, and warns of read-only memory.)
            return points @ points.new_tensor(self.components_.copy()).T
        if is_chunked(X):
            refuse_output(self)
            with as_numbers("X", X):
                validate_data(self, header(X), reset=False, skip_check_array=True)
            function = partial(_map_chunk, components=self.components_)
            return map_rows(X, function, width=self._n_features_out)
        return map_points(self._check_new_points(X), self.components_)

    def get_metric(self) -> MahalanobisMetric:
        """Return the learned distance as a function of two points, for ``metric=``.

        It can be pickled, and it does not change when the learner is fitted again. Mapping the
        points with ``transform`` and using the Euclidean distance gives the same and is faster.

        Returns
        -------
        MahalanobisMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return MahalanobisMetric(self.components_.copy())

    def get_mahalanobis_matrix(self) -> Array:
        """Return the matrix ``A`` of ``d(x, x')^2 = (x - x')' A (x - x')``.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Symmetric positive semi-definite matrix of the type of the components.
        """
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def _map_differences(self, pairs: Array) -> Array:
        return map_points(pairs[:, 0] - pairs[:, 1], self.components_)


def refuse_output(estimator: Any) -> None:
    """Refuse to turn a dask collection into a table in memory, as `set_output` asks for."""
    kind = _get_output_config("transform", estimator)["dense"]
    if kind != "default":
        raise ValueError(
            f'transform="{kind}" was set by set_output, and X is a dask collection, which '
            'would be loaded as a whole: call set_output(transform="default"), and make a '
            "dask frame of the result with dask.dataframe.from_dask_array; or pass X.compute()."
        )


def map_points(points: Array, components: Array) -> Array:
    """Map points, in their own precision, by the factor of a metric."""
    return points @ components.T.astype(points.dtype, copy=False)


def check_pairs(points: Array, n_features: int) -> None:
    """Refuse an array that does not hold two points in each row."""
    if points.ndim != 3 or points.shape[1:] != (2, n_features):
        raise ValueError(
            f"pairs must have shape (n_pairs, 2, {n_features}), two points each; got "
            f"{points.shape}. If you have row numbers or names of rows of a table X, pass X as "
            "well."
        )


def _map_chunk(chunk: ArrayLike, components: Array) -> Array:
    """Map a chunk of points of a dask collection."""
    return map_points(as_points(chunk, ensure_min_samples=0), components)


@dataclass(frozen=True, eq=False)
class MahalanobisMetric:
    """Distance between two points under a learned metric, for arguments ``metric=``.

    It is equal to itself alone, as functions are.

    Parameters
    ----------
    components : ndarray of shape (rank, n_features)
        Factor of the metric.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import MahalanobisMetric
    >>> MahalanobisMetric(np.array([[2.0, 0.0]]))([0.0, 0.0], [1.0, 5.0])
    2.0
    """

    components: Array

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Compute the distance between `u` and `v`."""
        first, second = two_points(u, v, self.components.shape[1])
        apart = map_points(np.subtract(first, second)[np.newaxis], self.components)
        return math.hypot(*apart[0])  # no square can overflow


publish(globals(), "seraph", ["MahalanobisLearner", "MahalanobisMetric"])
