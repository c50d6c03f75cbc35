"""What every learner of a Mahalanobis distance can do once it has learned one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from ._sweep._chunks import as_array, each, header, is_chunked

_FLOATS = (np.float64, np.float32)


class MahalanobisLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of the learners of ``d(x, x') = ||P x - P x'||``, with ``P = components_``.

    A subclass implements ``fit`` and ends it with ``_learned``.
    """

    components_: NDArray

    def _check_points(self, X: ArrayLike) -> NDArray:
        """Points to learn from, as an array; nothing is written to the learner yet."""
        points: Any = X
        if is_tensor(points):
            points = points.detach().cpu().numpy()
        return check_array(
            points, dtype=_FLOATS, ensure_min_samples=2, estimator=self, input_name="X"
        )

    def _learned(self, X: ArrayLike, components: NDArray, **attributes: Any) -> Self:
        """Write what was learned from `X`, all of it and only now.

        The rows of `components` get a definite sign: their largest entry is positive.
        """
        if components.size:
            peak = np.argmax(np.abs(components), axis=1)
            signs = np.sign(components[np.arange(len(components)), peak])
            components = components * np.where(signs == 0.0, 1.0, signs)[:, np.newaxis]
        # n_features_in_, feature_names_in_
        validate_data(self, header(X), skip_check_array=True)
        self.__dict__.update(components_=components, **attributes)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike) -> NDArray:
        """Map points to where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, rank)
            The mapped points; a tensor on the same device, if X is one; for a dask collection
            a dask array, not computed yet.
        """
        check_is_fitted(self)
        if is_tensor(X):
            return self._transform_tensor(X)
        if is_chunked(X):
            validate_data(self, header(X), reset=False, skip_check_array=True)
            learned_map, rank = _Map(self.components_), len(self.components_)
            return each(as_array(X), "seraph-transform", learned_map, width=rank)
        points: NDArray = validate_data(self, X, dtype=_FLOATS, reset=False)
        return points @ self.components_.T.astype(points.dtype, copy=False)

    def _transform_tensor(self, X: Any) -> Any:
        """The same where the points are, for a tensor of torch."""
        validate_data(self, X, reset=False, skip_check_array=True)
        points = X if X.is_floating_point() else X.double()
        components = points.new_tensor(self.components_.tolist())
        return points @ components.reshape(self.components_.shape).T

    def pair_distance(self, pairs: ArrayLike) -> NDArray:
        """Distance between the two points of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            Pairs of points.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        return np.sqrt(self._squared_distances(pairs))

    def pair_score(self, pairs: ArrayLike) -> NDArray:
        """Score of each pair, the higher the more alike: the negative distance.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)
            Pairs of points.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Negative learned distances.
        """
        return -self.pair_distance(pairs)

    def get_metric(self) -> MahalanobisMetric:
        """Learned distance as a function of two points, for scikit-learn's ``metric=``.

        It can be pickled, and stays as it is when the learner is fitted again. Mapping the
        points with ``transform`` and using the Euclidean distance gives the same, faster.

        Returns
        -------
        MahalanobisMetric
            Function of two arrays of shape (n_features,).
        """
        check_is_fitted(self)
        return MahalanobisMetric(self.components_.copy())

    def get_mahalanobis_matrix(self) -> NDArray:
        """Matrix ``A`` of the learned distance, ``d(x, x')^2 = (x - x')' A (x - x')``.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            Symmetric positive semi-definite matrix.
        """
        check_is_fitted(self)
        return self.components_.T @ self.components_

    def _squared_distances(self, pairs: ArrayLike) -> NDArray:
        check_is_fitted(self)
        points: NDArray = check_array(
            pairs,
            dtype=_FLOATS,
            allow_nd=True,
            ensure_2d=False,
            ensure_min_samples=0,
            estimator=self,
            input_name="pairs",
        )
        m = self.components_.shape[1]
        if points.ndim != 3 or points.shape[1:] != (2, m):
            raise ValueError(
                f"pairs must have shape (n_pairs, 2, {m}), two points each; got {points.shape}. "
                "For an array of row numbers of a table X, pass X[row_numbers]."
            )
        difference = (points[:, 0] - points[:, 1]) @ self.components_.T.astype(points.dtype)
        return np.einsum("kr,kr->k", difference, difference)


@dataclass(frozen=True)
class _Map:
    """The learned map as a function of a chunk of points."""

    components: NDArray

    def __call__(self, chunk: ArrayLike) -> NDArray:
        points: NDArray = check_array(chunk, dtype=_FLOATS, ensure_min_samples=0, input_name="X")
        return points @ self.components.T.astype(points.dtype, copy=False)


@dataclass(frozen=True)
class MahalanobisMetric:
    """Distance between two points under a learned metric.

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

    components: NDArray

    def __call__(self, u: ArrayLike, v: ArrayLike) -> float:
        """Distance between `u` and `v`."""
        difference = np.asarray(u) - np.asarray(v)
        return float(np.linalg.norm(self.components @ difference))


def is_tensor(X: Any) -> bool:
    """Whether `X` is a tensor of torch, which need not be installed."""
    return type(X).__module__.partition(".")[0] == "torch"
