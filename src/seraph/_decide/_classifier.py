"""MetricClassifier: class probabilities under a learned metric, from few labels."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, clone
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, validate_data

from .._marks import Marks, plain, read_classes, warn_of_signs
from .._points import is_chunked
from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import check_choice
from ._models import MapOfLearner, fit_model, forest_points, from_device, transformed
from ._rules import RULES, class_probabilities, fit_rules


class MetricClassifier(ClassifierMixin, MapOfLearner):
    """Classifier by a learned metric, with probabilities; for few labels and many rows.

    The metric is learned from all rows, labeled or not. In the learned space the labeled rows
    decide by a kernel-weighted vote and by logistic regression, and before learning by a random
    forest; the class probabilities are a mean of the three.

    Rows whose label is -1, NaN or None are unlabeled, as for all of seraph (:ref:`unlabeled`).

    Parameters
    ----------
    estimator : estimator, optional
        Learner of a metric, such as :class:`seraph.SERAPH`, or a pipeline that ends in one.
        It is cloned, and gets the classes as 0, 1, ... and -1 for the unlabeled rows. None means
        ``MeanMetric()``, for features that are scaled already: pixels, embeddings, and what a
        TablePreparer returns. For others, pass ``make_pipeline(StandardScaler(), MeanMetric())``.
    rule : {"all", "mean", "vote", "linear", "nearest"}, default="all"
        Which voices decide. "vote": each labeled row votes for its class, with the
        weight ``exp(-d**2 / width_)``; the width maximizes the leave-one-out likelihood. "linear":
        logistic regression, with a mean variance of the rows of one. "mean": the mean of these two
        probabilities. "all": the mean and, as a further voice, a random forest on the features
        before learning, better on most tables. (It has no part with sparse features or kernel
        values.) "nearest": the class of the nearest labeled row.

    Attributes
    ----------
    estimator_ : estimator
        The fitted learner or pipeline.
    classes_ : ndarray of shape (n_classes,)
        The classes, as in y.
    points_, codes_ : ndarray of shapes (n_labeled, n_dimensions) and (n_labeled,)
        The labeled rows in the learned space, less `center_`, over `scale_`; and their classes, as
        places in `classes_`.
    center_, scale_ : ndarray of shape (n_dimensions,), and float
        Mean of all rows in the learned space, and root of their mean variance there.
    width_ : float
        Width of the vote.
    linear_coef_, linear_intercept_ : ndarray of shapes (n_classes, n_dimensions) and (n_classes,)
        The linear rule; None with the rules "vote" and "nearest". Its coefficients are those of
        the learned space, not of the features, so they are not called ``coef_``, by which other
        tools rank features.
    forest_, forest_share_ : dict of ndarray or None, and float
        The forest of the rule "all", and its share in the probabilities: less, the more features.
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
    >>> from seraph import MeanMetric, MetricClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> y[np.arange(len(y)) % 6 > 0] = -1  # 30 labels, 148 unlabeled rows
    >>> classifier = MetricClassifier(make_pipeline(StandardScaler(), MeanMetric())).fit(X, y)
    >>> classifier.predict(X[[1, 80, -2]])
    array([0, 1, 2])
    >>> bool(classifier.predict_proba(X[[1]])[0, 0] > 0.8)
    True
    """

    classes_: Array
    points_: Array
    _n_trees: ClassVar = 200  # of the forest; fewer where only errors are counted

    def __init__(
        self,
        estimator: Any = None,
        *,
        rule: Literal["all", "mean", "vote", "linear", "nearest"] = "all",
    ) -> None:
        self.estimator = estimator
        self.rule = rule

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None) -> Self:
        """Learn the metric from all rows, and the rule from the labeled ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labeled or not. Of a dask collection, a sample of 20,000 rows and the
            labeled ones are read; its rows are then mapped and classified chunk by chunk.
        y : array-like of shape (n_samples,)
            Class labels; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Marks of the rows, for the learner.
        """
        check_choice("rule", self.rule, RULES)
        blank, X, y, marks = self._begin_fit(X, y, marks)
        if y is None:
            raise ValueError(
                "MetricClassifier requires y to be passed, but the target y is None: "
                "labeled rows decide about the others. With marks alone, PairClassifier decides."
            )
        if get_tags(blank).regressor_tags is not None:
            raise ValueError(
                f"{type(blank).__name__} learns from numbers, not from classes: use it "
                "before KNeighborsRegressor, or take another learner."
            )
        labels, known = read_classes(y, _num_samples(X))
        warn_of_signs(labels, known)
        if not known.any():
            raise ValueError(
                f"None of n_samples = {len(labels)} has a label (-1, NaN and None mean "
                "unlabeled): label rows of each class."
            )
        classes, codes = _number_classes(labels[known], y)
        all_codes = np.full(len(labels), -1)
        all_codes[known] = codes
        fitted = fit_model(clone(blank), X, all_codes, marks)
        F = forest_points(fitted, X) if self.rule == "all" else None
        rules = fit_rules(transformed(fitted, X), F, known, codes, self.rule, self._n_trees)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.__dict__.update(estimator_=fitted, classes_=classes, **rules)
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the class of each point: the most probable one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Classes, as in `classes_`.
        """
        codes: Any = self.predict_proba(X).argmax(axis=1)
        if is_chunked(codes):
            return codes.map_blocks(self.classes_.__getitem__, dtype=self.classes_.dtype)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: ArrayLike) -> Array:
        """Compute the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`; with ``rule="nearest"``, ones and zeros.
        """
        if is_chunked(X):
            return self._by_chunks("predict_proba", X, len(self.classes_))
        Z = np.asarray(self.transform(X))
        F = forest_points(self.estimator_, from_device(X)) if self.forest_ else None
        return class_probabilities(self, Z, F)

    def _map(self, X: Any) -> Array:
        return transformed(self.estimator_, X)

    @property
    def _n_features_out(self) -> int:
        return int(self.points_.shape[1])

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the accuracy on the labeled rows; rows without a label do not count.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Class labels; -1, NaN or None where :ref:`unknown <unlabeled>`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        float
            Share of the labeled rows that are predicted correctly.
        """
        predicted = np.asarray(self.predict(X))
        labels, known = read_classes(y, len(predicted))
        if not known.any():
            raise ValueError(
                f"None of the {len(labels)} rows has a label (-1, NaN and None mean unlabeled): "
                "there is nothing to score. For cross-validation, pass cv=seraph.MarksKFold(), "
                "whose test sets have labeled rows."
            )
        check_consistent_length(labels, sample_weight)
        weights = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(np.average(predicted[known] == labels[known], weights=weights))


def _number_classes(labels: Array, y: ArrayLike) -> tuple[Array, Array]:
    """Return the classes of the known `labels` of `y`, and the class number of each."""
    if labels.dtype.kind == "O" and type(y) is not np.ndarray:
        labels = plain(labels)  # perhaps of dtype object only because others are missing
    if labels.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):  # where a label is infinite
            check_classification_targets(labels)
    encoder = LabelEncoder()
    codes = encoder.fit_transform(labels)
    return encoder.classes_, codes


publish(globals(), "seraph", ["MetricClassifier"])
