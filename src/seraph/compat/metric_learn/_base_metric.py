"""What all learners of metric-learn share: preprocessors, checks, and distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ..._marks import exact_column
from ..._utils._typing import Array
from ..._utils._unknown import is_unknown
from ..._utils._validation import as_numbers, check_choice, check_seed, check_unmasked
from ..._utils._warnings import warn
from .exceptions import PreprocessorError

_FLOATS = (np.float64, np.float32)
_LARGEST = 1e150  # the square of an entry is still a number
_TUPLES = {2: "pairs", 3: "triplets", 4: "quadruplets"}


class BaseMetricLearner(BaseEstimator, ABC):
    """Base of all learners: it knows the preprocessor.

    Parameters
    ----------
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points. With it,
        methods take row numbers or indicators in place of points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import NCA
    >>> from seraph.compat.metric_learn.base_metric import BaseMetricLearner
    >>> issubclass(NCA, BaseMetricLearner)
    True
    """

    def __init__(self, preprocessor: Any = None) -> None:
        self.preprocessor = preprocessor

    @abstractmethod
    def pair_score(self, pairs: ArrayLike) -> Array:
        """Score how alike the points of each pair are.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.
        """

    def _lookup(self) -> Callable[[Array], Any] | None:
        """Return the preprocessor as a function."""
        table = self.preprocessor
        if table is None or callable(table):
            return table
        if not (hasattr(table, "__len__") or hasattr(table, "__array__")) or isinstance(
            table, str
        ):
            raise ValueError(
                "preprocessor must be None, a table of points or a function that returns points; "
                f"got {type(table)}."
            )
        return ArrayIndexer(table)

    def _formed(self, X: Any, ndim: int) -> Any:
        """Return points or tuples of points, looked up if `X` has indicators instead."""
        check_unmasked(X)
        lookup = self._lookup()
        if lookup is None:
            return X
        indicators = np.asarray(X)
        if indicators.ndim != ndim - 1:
            return X
        try:
            columns = indicators.T if ndim == 3 else [indicators]
            found = [np.asarray(lookup(column)) for column in columns]
        except Exception as error:  # whatever a user's function raises
            raise PreprocessorError(error) from error
        return np.stack(found, axis=1) if ndim == 3 else found[0]

    def _check_preprocessor(self) -> None:
        self.preprocessor_ = self._lookup()

    def _prepare_inputs(
        self, X: Any, y: Any = None, type_of_inputs: str = "classic", **checks: Any
    ) -> Any:
        """Check what a user's own learner, over these bases, was given to fit.

        Other arguments are those of `sklearn.utils.check_array`, by their names of today or of
        metric-learn's days.
        """
        check_choice("type_of_inputs", type_of_inputs, ("classic", "tuples"))
        self._check_preprocessor()
        if "force_all_finite" in checks:
            checks["ensure_all_finite"] = checks.pop("force_all_finite")
        if type_of_inputs == "tuples":
            return self._tuples(X, y, size=getattr(self, "_tuple_size", 2), **checks)
        return self._points(X, *(() if y is None else (y,)), **checks)

    def _points(self, X: Any, *y: Any, reset: bool = True, **checks: Any) -> Any:
        """Check points (and labels)."""
        # Rounding depends on the order in memory, and the path of a fit on rounding.
        checks = {"dtype": _FLOATS, "order": "C"} | checks
        if reset:
            checks = {"ensure_min_samples": 2} | checks
        check_seed(getattr(self, "random_state", None))
        y = tuple(exact_column(labels) for labels in y)
        for labels in y:
            _check_labels(labels)
        points = self._formed(X, 2)
        with as_numbers("X", points):
            return validate_data(self, points, *y, reset=reset, **checks)

    def _tuples(
        self, X: Any, y: Any = None, *, size: int, reset: bool = True, **checks: Any
    ) -> Any:
        """Check tuples of points (and labels of pairs)."""
        name = _TUPLES[size]
        check_seed(getattr(self, "random_state", None))
        points = self._formed(X, 3)
        with as_numbers(name, points):
            tuples = check_array(
                points,
                **{"dtype": _FLOATS, "estimator": self, "input_name": name} | checks,
                allow_nd=True,
                ensure_2d=False,
            )
        if tuples.ndim != 3 or tuples.shape[1] != size or tuples.shape[2] == 0:
            hint = "" if self.preprocessor is not None else " and a preprocessor"
            raise ValueError(
                f"{name} must be a 3D array of shape (n_{name}, {size}, n_features), or a 2D "
                f"array of indicators{hint}; got shape {tuples.shape}."
            )
        if reset:
            self.n_features_in_ = tuples.shape[2]
        elif tuples.shape[2] != getattr(self, "n_features_in_", tuples.shape[2]):
            raise ValueError(
                f"{name} have points of {tuples.shape[2]} features, but {type(self).__name__} was "
                f"fitted with {self.n_features_in_} features."
            )
        if y is None:
            return tuples
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        check_consistent_length(tuples, y)
        if not np.isin(y, [-1, 1]).all():
            raise ValueError(
                "y must be +1 for pairs that are alike and -1 for those that are not; got "
                f"{np.unique(y)[:5].tolist()}."
            )
        return tuples, y


def _check_labels(y: Any) -> None:
    """Refuse labels that are not there, and labels that cannot be put in order."""
    try:
        labels = np.asarray(y)
    except ValueError:
        raise ValueError("y must hold one label for each point; got lists within it.") from None
    if labels.ndim != 1:
        return
    missing = is_unknown(labels)
    if isinstance(y, np.ma.MaskedArray):
        missing |= y.mask
    if missing.any():
        raise ValueError(
            f"y contains NaN, None or masked entries, {int(missing.sum())} times: every point "
            "needs a class here. Number the classes, with -1 where one is unknown; or use the "
            "learners of seraph.classic, which take labels as they are."
        )
    try:
        np.unique(labels)
    except TypeError:
        raise ValueError(
            "y must hold labels of one type, text or numbers; got several. Convert them to text."
        ) from None


class ArrayIndexer:
    """A table of points as a function of row numbers: what a preprocessor that is a table becomes.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Table of points.

    Examples
    --------
    >>> from seraph.compat.metric_learn.base_metric import ArrayIndexer
    >>> ArrayIndexer([[1.0, 2.0], [3.0, 4.0]])([1]).tolist()
    [[3.0, 4.0]]
    """

    def __init__(self, X: Any) -> None:
        self.X = np.asarray(X)

    def __call__(self, indices: Any) -> Array:
        """Return the points at some rows.

        Parameters
        ----------
        indices : array-like of int
            Row numbers.

        Returns
        -------
        ndarray
            The points.
        """
        points: Array = self.X[indices]
        return points


class MetricTransformer(ABC):
    """Base of the learners that map points to a space where the learned distance is Euclidean.

    Examples
    --------
    >>> from seraph.compat.metric_learn import NCA
    >>> from seraph.compat.metric_learn.base_metric import MetricTransformer
    >>> issubclass(NCA, MetricTransformer)
    True
    """

    @abstractmethod
    def transform(self, X: ArrayLike) -> Array:
        """Map points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        """


class MahalanobisMixin(BaseMetricLearner, MetricTransformer):
    """Base of the learners of a Mahalanobis distance ``||L x - L x'||``, with L `components_`.

    Parameters
    ----------
    preprocessor : array-like or callable, optional
        Table of points, or a function of an array of indicators that returns points.

    Examples
    --------
    >>> from seraph.compat.metric_learn import Covariance
    >>> from seraph.compat.metric_learn.base_metric import MahalanobisMixin
    >>> isinstance(Covariance(), MahalanobisMixin)
    True
    """

    components_: Array
    n_features_in_: int

    def _adopt(self, components: Array, **attributes: Any) -> Self:
        """Set what was learned."""
        if not np.abs(components).max(initial=0.0) < _LARGEST:
            raise ValueError(
                f"{type(self).__name__} has learned a metric beyond all numbers: some points that "
                "should be near are equal, or features differ in scale by far. Scale the "
                "features, and drop those that do not vary or repeat others."
            )
        self._check_preprocessor()
        self.components_ = np.array(components, dtype=float)
        self.__dict__.update(attributes)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Map points to a space where the learned distance is the Euclidean one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The mapped points.
        """
        check_is_fitted(self, "components_")
        points = self._points(X, reset=False, accept_sparse=True)
        mapped: Array = points @ self.components_.T
        return mapped

    def pair_distance(self, pairs: ArrayLike) -> Array:
        """Compute the learned distance between the two points of each pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        check_is_fitted(self, "components_")
        points = self._tuples(pairs, size=2, reset=False)
        distances: Array = np.linalg.norm(
            (points[:, 1] - points[:, 0]) @ self.components_.T, axis=1
        )
        return distances

    def pair_score(self, pairs: ArrayLike) -> Array:
        """Score how alike the points of each pair are: the negative distance.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Negative learned distances.
        """
        return -self.pair_distance(pairs)

    def score_pairs(self, pairs: ArrayLike) -> Array:
        """Compute the learned distances; deprecated for `pair_distance`.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features) or (n_pairs, 2)
            Pairs of points, or of indicators for the preprocessor.

        Returns
        -------
        ndarray of shape (n_pairs,)
            Learned distances.
        """
        warn(
            "score_pairs is deprecated: use pair_distance, or pair_score for a similarity.",
            FutureWarning,
        )
        return self.pair_distance(pairs)

    def get_metric(self) -> Callable[..., float]:
        """Return the learned distance as a function of two points, for ``metric=``.

        Returns
        -------
        callable
            Function of two points; with ``squared=True``, of the squared distance. It does not
            change when the learner is fitted again.
        """
        check_is_fitted(self, "components_")
        return _Distance(np.array(self.components_))

    def get_mahalanobis_matrix(self) -> Array:
        """Return the matrix of the learned squared distance.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            ``L'L``.
        """
        check_is_fitted(self, "components_")
        return self.components_.T @ self.components_


class LabeledLearner(TransformerMixin, MahalanobisMixin):
    """Base: learners of points that all have a label; -1 is a class like any other."""

    _learn: Callable[..., Self]  # from points, and their classes numbered from 0

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or (n_samples,) with a preprocessor
            Points or indicators.
        y : array-like of shape (n_samples,)
            Class of each point.

        Returns
        -------
        self
            The fitted learner.
        """
        points, y = self._points(X, y)
        check_classification_targets(y)
        return self._learn(points, np.unique(y, return_inverse=True)[1].reshape(-1))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True, eq=False)  # so that scikit-learn can look it up among its own
class _Distance:
    """The learned distance as a function."""

    components: Array

    def __call__(self, u: ArrayLike, v: ArrayLike, squared: bool = False) -> float:
        difference = validate_vector(u, float) - validate_vector(v, float)
        mapped = difference @ self.components.T
        value = np.dot(mapped, mapped)
        return float(value if squared else np.sqrt(value))


def validate_vector(u: ArrayLike, dtype: Any = None) -> Array:
    """Return one point as an array of one dimension.

    Parameters
    ----------
    u : array-like of shape (n_features,), (1, n_features) or (n_features, 1)
        The point.
    dtype : dtype, optional
        Type of its numbers.

    Returns
    -------
    ndarray of shape (n_features,)
        The point.

    Examples
    --------
    >>> from seraph.compat.metric_learn.base_metric import validate_vector
    >>> validate_vector([[1.0, 2.0]]).tolist()
    [1.0, 2.0]
    """
    vector = np.atleast_1d(np.squeeze(np.asarray(u, dtype=dtype)))
    if vector.ndim > 1:
        raise ValueError(f"The metric takes two points, of one dimension; got {vector.shape}.")
    return vector
