r"""MetricClassifier: class probabilities under a learned metric, from few labels.

Of n labeled rows :math:`z_i` with classes :math:`c_i`, the vote gives a row z

.. math:: p(c) = (1 - \delta) \sum_{i: c_i = c} w_i \Big/ \sum_i w_i + \delta / k, \qquad
          w_i = \exp(-\|z - z_i\|^2 / \tau), \quad \delta = 1 / (n + 1),

with k classes: few labels allow no certainty. The width :math:`\tau` is a multiple of the median
squared distance from a row to the nearest labeled one; of a few multiples, the one under which
the others predict each labeled row best. The linear rule is logistic regression with a
squared penalty, in the same space with a mean variance of one.

All voices together are the mean of these two, and a random forest on the features before learning,
whose share is less, the more features there are (`prior_share`).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import LabelEncoder
from sklearn.utils import check_consistent_length, gen_batches, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, validate_data

from .._forest import class_shares, grow_forest, prior_share
from .._marks import Marks, plain, read_classes, warn_of_signs
from .._points import is_chunked
from .._utils._public import publish
from .._utils._tiles import spaced
from .._utils._typing import Array
from .._utils._validation import check_choice
from ._models import MapOfLearner, fit_model, forest_points, from_device, transformed

RULES = ("all", "mean", "vote", "linear", "nearest")

# Multiples of the median to try as the width, and C of the logistic regression: chosen by error
# and Brier score on the sets of benchmarks/evidence that are for choosing.
WIDTHS = (0.3, 0.5, 1.0, 2.0, 4.0)
C = 1.0
# Largest numbers of rows for the median, and of labeled rows for choosing the multiple. They tell
# five widths apart, and take little time beside the fit of a metric.
_ROWS, _LABELED = 2000, 200
# Distances held at a time.
_AT_ONCE = 1 << 20


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
    linear_coef_: Any
    forest_: Any
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
        Z = transformed(fitted, X).astype(np.float64)
        center = Z.mean(axis=0)
        scale = float(np.sqrt(np.mean((Z - center) ** 2))) or 1.0
        Z = (Z - center) / scale
        forest, share, coef, intercept = None, 0.0, None, None
        if self.rule in ("mean", "linear", "all"):
            coef, intercept = _logistic_regression(Z[known], codes)
        F = forest_points(fitted, X) if self.rule == "all" and len(classes) > 1 else None
        if F is not None:
            forest = grow_forest(F[known], codes, n_trees=self._n_trees)
            share = prior_share(F.shape[1])
        width = _width(Z, known, codes)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.estimator_, self.classes_ = fitted, classes
        self.points_, self.codes_, self.width_ = Z[known], codes, width
        self.center_, self.scale_ = center, scale
        self.linear_coef_, self.linear_intercept_ = coef, intercept
        self.forest_, self.forest_share_ = forest, share
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
        Z = (np.asarray(self.transform(X), dtype=np.float64) - self.center_) / self.scale_
        if self.rule == "linear":
            return self._linear(Z)
        shares = self._votes(Z)
        if self.rule in ("vote", "nearest"):
            return shares
        shares = (shares + self._linear(Z)) / 2.0
        F = forest_points(self.estimator_, from_device(X)) if self.forest_ else None
        if F is not None:
            shares += self.forest_share_ * (class_shares(self.forest_, F) - shares)
        return shares

    def _linear(self, Z: Array) -> Array:
        return np.asarray(softmax(Z @ self.linear_coef_.T + self.linear_intercept_, axis=1))

    def _votes(self, Z: Array) -> Array:
        """Return the share of each class in the votes of all labeled rows, or of the nearest."""
        members = np.eye(len(self.classes_))[self.codes_]
        shares: Array = np.empty((len(Z), len(self.classes_)))
        for rows in gen_batches(len(Z), max(1, _AT_ONCE // len(members))):
            d2 = euclidean_distances(Z[rows], self.points_, squared=True)
            if self.rule == "nearest":
                shares[rows] = members[d2.argmin(axis=1)]
            else:
                shares[rows] = _shares(d2, members, self.width_)
        return shares

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


def _logistic_regression(points: Array, codes: Array) -> tuple[Array, Array]:
    """Return coefficients and intercepts, one row for each class; zeros if there is one class."""
    k = int(codes.max()) + 1
    if k == 1:
        return np.zeros((1, points.shape[1])), np.zeros(1)
    fitted = LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(points, codes)
    if k == 2:  # one row: the log-odds of the second class
        halves = np.array([[-0.5], [0.5]])
        return halves * fitted.coef_, halves[:, 0] * fitted.intercept_
    return fitted.coef_, fitted.intercept_


def _shares(d2: Array, members: Array, width: float) -> Array:
    """Return the share of each class in the votes of the labeled rows at squared distances d2."""
    n, k = members.shape
    doubt = 1.0 / (n + 1.0)
    weights = np.exp((d2.min(axis=1, keepdims=True) - d2) / width)
    votes: Array = weights @ members / weights.sum(axis=1, keepdims=True)
    return (1.0 - doubt) * votes + doubt / k


def _width(Z: Array, known: Array, codes: Array) -> float:
    """Choose the width of the vote."""
    labeled, free = Z[known], Z[~known]
    rows = free if len(free) else labeled
    nearby = NearestNeighbors(n_neighbors=min(len(labeled), 1 if len(free) else 2)).fit(labeled)
    nearest = nearby.kneighbors(rows[spaced(len(rows), _ROWS)])[0][:, -1] ** 2
    nearest = nearest[nearest > 0.0]
    typical = float(np.median(nearest)) if len(nearest) else 1.0
    members = np.eye(int(codes.max()) + 1)[codes]
    gains = np.zeros(len(WIDTHS))
    if len(labeled) > 1:
        places = np.arange(len(labeled))[spaced(len(labeled), _LABELED)]
        d2 = euclidean_distances(labeled[places], labeled, squared=True)
        d2[np.arange(len(places)), places] = np.inf  # a row does not vote for itself
        is_class = members[places].astype(bool)
        gains += [np.log(_shares(d2, members, w * typical)[is_class]).sum() for w in WIDTHS]
    best = np.argmax(gains >= gains.max() - 1e-9)  # rounding must not choose
    return WIDTHS[int(best)] * typical


publish(globals(), "seraph", ["MetricClassifier"])
