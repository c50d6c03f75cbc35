"""ForestSpace: learned coordinates, and beside them what a forest knows about each row."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _num_samples, validate_data

from .._forest import landmark_similarities
from .._marks import Marks
from .._utils._public import publish
from .._utils._tiles import spaced
from .._utils._typing import Array
from .._utils._validation import check_number
from ._classifier import MetricClassifier
from ._folds import order_by_name
from ._models import MapOfLearner, forest_points, transformed
from ._pair_classifier import PairClassifier

# Lengths beside coordinates of length one: similarities by the share of the forest, and roots of
# class probabilities. Chosen on sets that are not among those for judging.
_BY_SHARE, _OF_CLASSES = 3.0, 1.0
# Rows that tell the spread of the similarities.
_SPREAD = 400


class ForestSpace(MapOfLearner):
    r"""A space for neighbors, maps, clusters and indexes, where a learned metric is not enough.

    Columns are the learned coordinates Z and, beside them, what a random forest knows about a row,

    .. math:: \big[\, Z / \sigma_Z, \;\; \ell\, S / \sigma_S \,\big],

    where :math:`\sigma^2` is the total variance. A metric weighs a difference alike wherever it
    is; a forest learns where it counts.

    - **From marks**, S are the similarities to some rows, the landmarks, by the forest of a
      :class:`seraph.PairClassifier`. Its share in that classifier, which pairs of unseen rows
      choose, sets the length, ``3 * forest_share_``: with embeddings, it is near 0.
    - **From classes alone**, S are the square roots of the class probabilities of a
      :class:`seraph.MetricClassifier`, so that its distance is Hellinger's; and the length is 1.
      Rows of other classes than the labeled ones may come to lie together: then fit with marks.

    Parameters
    ----------
    estimator : estimator, optional
        Learner of a metric, such as :class:`seraph.SERAPH`, or a pipeline that ends in one. It is
        cloned. None means ``MeanMetric()``, for features that are scaled already; for others, pass
        ``make_pipeline(StandardScaler(), MeanMetric())``.
    n_landmarks : int, default=150
        Largest number of landmarks, evenly spaced rows of X. Each is a column.

    Attributes
    ----------
    classifier_ : PairClassifier or MetricClassifier
        The fitted learner and forest, from marks or from classes alone.
    lengths_ : tuple of two floats
        What coordinates and similarities are multiplied by.
    landmarks_ : ndarray of shape (n_landmarks, n_features), or None
        The landmarks, as the learner at the end of a pipeline sees them.
    n_coordinates_ : int
        Number of learned coordinates, the first columns.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, if X has them.

    Examples
    --------
    The second feature counts where the first is positive, and does not elsewhere:

    >>> import numpy as np
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from seraph import ForestSpace, MeanMetric
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(600, 2))
    >>> y = np.where(X[:, 0] < 0, 0, 1 + (X[:, 1] > 0))
    >>> spaces = [make_pipeline(m, KNeighborsClassifier()) for m in (MeanMetric(), ForestSpace())]
    >>> metric, forest = (s.fit(X[:60], y[:60]).score(X[60:], y[60:]) for s in spaces)
    >>> bool(metric < forest)
    True

    100,000 rows of 30 columns take 50 to 100 s of CPU. For more, search by the metric, and sort
    the first hundred by the forest. On three tables of 4,000 rows this found 98 to 100 % of the
    ten rows that the forest ranks first, the metric alone 57 to 88 %, in 5 ms a query:

    >>> from sklearn.neighbors import NearestNeighbors
    >>> from seraph import Marks, PairClassifier
    >>> pairs = np.arange(600).reshape(-1, 2)
    >>> marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    >>> model = PairClassifier().fit(X, marks=marks)
    >>> Z = model.estimator_.transform(X)
    >>> near = NearestNeighbors(n_neighbors=100).fit(Z).kneighbors(Z[:1])[1][0]
    >>> alike = model.predict_proba(np.column_stack([near * 0, near]), X)[:, 1]
    >>> best = near[np.argsort(-alike)][:10]
    """

    classifier_: Any
    landmarks_: Array | None
    lengths_: tuple[float, float]
    n_coordinates_: int

    def __init__(self, estimator: Any = None, *, n_landmarks: int = 150) -> None:
        self.estimator = estimator
        self.n_landmarks = n_landmarks

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None) -> Self:
        """Learn the metric and the forest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labeled or not. Of a dask collection, a sample is read.
        y : array-like of shape (n_samples,), optional
            Class labels; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Pairs of rows that you know to be alike or not.
        """
        check_number("n_landmarks", self.n_landmarks, low=2, integer=True)
        _, X, y, marks = self._begin_fit(X, y, marks)
        kind: Any = MetricClassifier if marks is None else PairClassifier
        classifier = kind(self.estimator).fit(X, y, marks=marks)
        length, landmarks, some = _OF_CLASSES, None, X
        if marks is not None:
            length = _BY_SHARE * classifier.forest_share_
            points = forest_points(classifier.estimator_, X) if length else None
            if points is not None:
                n = len(points)
                landmarks = points[order_by_name(X, n)][spaced(n, self.n_landmarks)]
                some = points[spaced(n, _SPREAD)]
        coordinates = transformed(classifier.estimator_, X)
        S = _similarities(classifier, landmarks, some)
        lengths = 1.0 / _deviation(coordinates), length / _deviation(S)
        validate_data(self, X, skip_check_array=True)  # n_features_in_, feature_names_in_
        self.classifier_, self.landmarks_, self.lengths_ = classifier, landmarks, lengths
        self.n_coordinates_ = coordinates.shape[1]
        return self

    def _map(self, X: Any) -> Array:
        Z = transformed(self.classifier_.estimator_, X)
        some = X if self.landmarks_ is None else forest_points(self.classifier_.estimator_, X)
        S = _similarities(self.classifier_, self.landmarks_, some)
        first, second = self.lengths_
        return np.hstack([first * Z, (second * S).astype(Z.dtype)])

    @property
    def _n_features_out(self) -> int:
        if isinstance(self.classifier_, MetricClassifier):
            return self.n_coordinates_ + len(self.classifier_.classes_)
        return self.n_coordinates_ + (0 if self.landmarks_ is None else len(self.landmarks_))


def _similarities(classifier: Any, landmarks: Array | None, X: Any) -> Array:
    """Return what the forest of a fitted classifier knows about each row."""
    if isinstance(classifier, MetricClassifier):
        return np.asarray(np.sqrt(classifier.predict_proba(X)))
    if landmarks is None:
        return np.empty((_num_samples(X), 0))
    return landmark_similarities(classifier.forest_, landmarks, X)


def _deviation(columns: Array) -> float:
    """Return the root of the total variance, or 1."""
    return float(np.sqrt(columns.astype(np.float64).var(axis=0).sum())) or 1.0


publish(globals(), "seraph", ["ForestSpace"])
