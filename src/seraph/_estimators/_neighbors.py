"""Nearest neighbors under a learned metric, where unlabeled rows have no vote."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from .._marks import Marks, as_labels, is_missing
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_choice, check_n_jobs, check_number
from ._models import check_directions, check_estimator, fit_model

_NUMBERS = (int, float, np.number)
# The learner checks the entries of X.
_SHAPE_ONLY: dict[str, Any] = {"dtype": None, "accept_sparse": True, "ensure_all_finite": False}


class MetricNeighborsClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Nearest-neighbor classifier under the metric of a learner.

    The learner is fitted on all rows, labeled or not. Neighbors are searched among the labeled
    rows only, by :class:`sklearn.neighbors.KNeighborsClassifier` after the learner's
    ``transform``.

    Rows whose label is -1, NaN, None or pandas.NA are unlabeled, with one exception: if all
    labels are -1 or +1, they are two classes.

    Parameters
    ----------
    learner : estimator
        Learner of a metric, such as :class:`seraph.SERAPH`, or a pipeline that ends in one.
        It is cloned, and gets the classes as 0, 1, ... and -1 for the unlabeled rows.
    n_neighbors : int, default=1
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether their votes count equally, or by the inverse of their distance.
    n_jobs : int, optional
        Number of threads for the neighbor search.

    Attributes
    ----------
    learner_ : estimator
        The fitted learner.
    neighbors_ : KNeighborsClassifier
        The labeled rows, mapped by the learner.
    classes_ : ndarray of shape (n_classes,)
        The classes, as in y.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph import SERAPH, MetricNeighborsClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> some = np.full(len(y), -1)
    >>> some[::6] = y[::6]
    >>> classifier = MetricNeighborsClassifier(make_pipeline(StandardScaler(), SERAPH()))
    >>> classifier = classifier.fit(X, some)
    >>> classifier.predict(X[[1, 80, -2]])
    array([0, 1, 2])
    >>> bool(classifier.score(X, y) > 0.9)
    True
    """

    # With metadata routing, marks go to the learner without being asked for.
    __metadata_request__fit: ClassVar = {"marks": True}

    def __init__(
        self,
        learner: Any,
        *,
        n_neighbors: int = 1,
        weights: Literal["uniform", "distance"] = "uniform",
        n_jobs: int | None = None,
    ) -> None:
        self.learner = learner
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_jobs = n_jobs

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
    ) -> Self:
        """Fit the learner on all rows, and keep the labeled rows as neighbors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labeled or not.
        y : array-like of shape (n_samples,)
            Class labels; -1, NaN, None, pandas.NA or masked where unknown.
        marks : Marks, optional
            Marks of the rows, for the learner.

        Returns
        -------
        MetricNeighborsClassifier
            The fitted classifier.
        """
        self._check_parameters()
        if y is None:
            raise ValueError(
                "MetricNeighborsClassifier requires y to be passed, but the target y is None: "
                "the neighbors of a point need a class to vote for."
            )
        if get_tags(self.learner).regressor_tags is not None:
            raise ValueError(
                f"{type(self.learner).__name__} learns from numbers, not from classes: use it "
                "before KNeighborsRegressor, or take another learner."
            )
        labels = as_labels(y)
        check_consistent_length(X, labels)
        known = _is_labeled(labels, minus_one_is_class=_are_signs(labels))
        if self.n_neighbors > known.sum():
            raise ValueError(
                f"There are no n_neighbors={self.n_neighbors} labeled rows: {known.sum()} of "
                f"n_samples = {len(labels)} have a label (-1, NaN and None mean unlabeled). "
                "Lower n_neighbors, or label more rows."
            )
        classes, codes = _classes(labels[known], y)
        all_codes = np.full(len(labels), -1)
        all_codes[known] = codes
        learner = fit_model(clone(self.learner), X, all_codes, marks)
        neighbors = KNeighborsClassifier(
            n_neighbors=self.n_neighbors, weights=self.weights, n_jobs=self.n_jobs
        ).fit(_mapped(learner, X)[known], codes)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.learner_ = learner
        self.neighbors_ = neighbors
        self.classes_ = classes
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the class of each point.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, as in `classes_`.
        """
        mapped = self._map(X)
        return self.classes_[self.neighbors_.predict(mapped)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Compute the share of each class in the votes of the neighbors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Shares, in the order of `classes_`.
        """
        mapped = self._map(X)
        return self.neighbors_.predict_proba(mapped)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the accuracy on the labeled rows; rows without a label do not count.

        So cross-validation works on partly labeled data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Class labels; -1, NaN, None or pandas.NA where unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share of the labeled rows that are predicted correctly.
        """
        predicted = self.predict(X)
        labels = as_labels(y)
        check_consistent_length(predicted, labels, sample_weight)
        minus_one_is_class = bool(_is_minus_one(self.classes_).any())
        known = _is_labeled(labels, minus_one_is_class=minus_one_is_class)
        if not known.any():
            raise ValueError(
                f"None of the {len(labels)} rows has a label (-1, NaN and None mean unlabeled): "
                "there is nothing to score."
            )
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(np.average(predicted[known] == labels[known], weights=weights))

    def _map(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        with as_numbers("X"):
            validate_data(self, X, reset=False, **_SHAPE_ONLY)
        return _mapped(self.learner_, X)

    def _check_parameters(self) -> None:
        check_estimator("learner", self.learner)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_choice("weights", self.weights, ("uniform", "distance"))
        check_n_jobs(self.n_jobs)


def _mapped(learner: Any, X: ArrayLike) -> Array:
    """Map points by the learner; a metric of rank 0 gives one column of zeros."""
    check_directions(learner, X)
    with as_numbers("X"):
        mapped = np.asarray(learner.transform(X))
    return mapped if mapped.shape[1] else np.zeros((len(mapped), 1))


def _classes(known: Array, y: ArrayLike) -> tuple[Array, Array]:
    """Return the classes of the `known` labels of `y`, and the class number of each."""
    masked, some_missing = isinstance(y, np.ma.MaskedArray), len(known) < _num_samples(y)
    if known.dtype.kind == "O" and (masked or not isinstance(y, np.ndarray) or some_missing):
        # A list or a column may hold objects only because some labels are missing.
        kinds = {float if isinstance(label, _NUMBERS) else type(label) for label in known}
        if kinds == {float} or (kinds == {str} and (masked or isinstance(y, list | tuple))):
            plain = np.array(known.tolist())
            known = plain if plain.tolist() == known.tolist() else known  # no number is rounded
    try:
        classes, codes = np.unique(known, return_inverse=True)
    except TypeError:
        types = ", ".join(sorted({type(label).__name__ for label in known}))
        raise ValueError(
            f"The labels in y have several types ({types}), which cannot be sorted: make them "
            "all numbers or all text."
        ) from None
    if classes.dtype.kind == "f" and np.isinf(classes).any():
        raise ValueError("Input y contains infinity, which cannot be a class.")
    if not (known.dtype.kind == "O" and all(isinstance(label, Integral) for label in known)):
        check_classification_targets(known)  # it does not know whole numbers beyond 64 bits
    return classes, codes


def _is_minus_one(labels: Array) -> Array:
    if labels.dtype.kind in "if":
        return labels == -1
    return np.array([isinstance(label, _NUMBERS) and label == -1 for label in labels], dtype=bool)


def _are_signs(labels: Array) -> bool:
    """Whether the labels are only -1 and +1, as people write two classes."""
    minus = _is_minus_one(labels)
    others = labels[~minus & ~is_missing(labels)].tolist()
    return bool(minus.any() and others) and all(
        isinstance(label, _NUMBERS) and label == 1 for label in others
    )


def _is_labeled(labels: Array, *, minus_one_is_class: bool) -> Array:
    known = ~is_missing(labels)
    return known | _is_minus_one(labels) if minus_one_is_class else known
