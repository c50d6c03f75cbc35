"""RFD: a random forest decides about a pair of points by their difference and their place."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from .._forest import Forest, grow_pair_forest, landmark_similarities, similar_shares
from .._learner import MetricLearner, check_pairs
from .._marks import Marks, PairLabels, Rows, sample_rows
from .._points import header, to_memory
from .._utils._tiles import spaced
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_number, check_seed
from ..metrics._pairs import Gap
from ._points import row_order

# Pairs that class labels imply; more of them are sampled.
_MOST_PAIRS = 20_000


class RFD(MetricLearner):
    r"""Random forest distance (Xiong, Johnson, Xu, Corso, 2012): not a matrix, but a forest.

    Of T trees that are grown to tell similar pairs from dissimilar ones,

    .. math:: d(x, z) = \frac{1}{T} \sum_t f_t\big(\phi(x, z)\big), \qquad
              \phi(x, z) = \big(|x - z|,\; x + z\big),

    where :math:`f_t` is the share of dissimilar pairs in the leaf of a tree. A matrix weighs a
    difference alike wherever the points are. The sum :math:`x + z` tells the forest where they
    are, so it can learn that a difference counts in one region and not in another.

    There is no matrix, and no space in which this is the Euclidean distance; ``transform`` gives
    each point's similarities to some others instead. The distance of a point to itself is not 0.
    It needs more labels than a matrix, and is weak where many features matter a little, as in
    embeddings. A :class:`seraph.PairClassifier` weighs such a forest against a metric.

    Parameters
    ----------
    n_trees : int, default=100
        Number of trees.
    min_samples_leaf : int, default=2
        Least number of pairs in a leaf.
    n_landmarks : int, default=150
        Number of points that ``transform`` compares with.
    random_state : int, RandomState instance or None, default=0
        Seed of the trees.

    Attributes
    ----------
    forest_ : dict of ndarray
        Center and scale of the features, and the nodes of all trees, one after another.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Points that ``transform`` compares with: rows of X from the middle to the edge.

    Notes
    -----
    The paper takes the mean :math:`(x + z) / 2`, which gives the same trees. Both kinds of pairs
    count alike here, however many there are of each. Of the pairs that class labels imply, 20,000
    are sampled if there are more. A mark counts by its weight, and one of 0.7 as a similar
    pair of weight 0.7 and a dissimilar one of weight 0.3.

    References
    ----------
    C. Xiong, D. Johnson, R. Xu, J. J. Corso. Random forests for metric learning with implicit
    pairwise position dependence. KDD 2012.

    Examples
    --------
    The same difference counts on the right and not on the left:

    >>> import numpy as np
    >>> from seraph import Marks
    >>> from seraph.classic import RFD
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 2))
    >>> y = np.where(X[:, 0] < 0, 0, 1 + (X[:, 1] > 0))
    >>> pairs = np.array([rng.choice(200, 2, replace=False) for _ in range(600)])
    >>> marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    >>> near, far = RFD().fit(X, marks=marks).pair_distance(
    ...     [[[-0.5, -0.5], [-0.5, 0.5]], [[0.5, -0.5], [0.5, 0.5]]])
    >>> bool(near < 0.3), bool(far > 0.7)
    (True, True)
    """

    forest_: Forest
    landmarks_: Array

    def __init__(
        self,
        *,
        n_trees: int = 100,
        min_samples_leaf: int = 2,
        n_landmarks: int = 150,
        random_state: Any = 0,
    ) -> None:
        self.n_trees = n_trees
        self.min_samples_leaf = min_samples_leaf
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike | None = None, *, marks: Marks | None = None) -> Self:
        """Grow the forest from class labels, marked pairs, or both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points, labeled or not.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN or None where :ref:`unknown <unlabeled>`.
        marks : Marks, optional
            Pairs of rows that are known to be alike or not.
        """
        for name, low in {"n_trees": 1, "min_samples_leaf": 1, "n_landmarks": 2}.items():
            check_number(name, getattr(self, name), low=low, integer=True)
        check_seed(self.random_state)
        X, y, marks, _ = sample_rows(X, y, marks)
        points = self._check_points(X)
        labels = PairLabels.of(X, len(points), y, marks)
        if len(labels.triplets):
            raise ValueError(
                f"RFD does not learn from triplets, and marks has {len(labels.triplets)}: leave "
                "them out, or use SERAPH or SCML."
            )
        order = row_order(points, labels)  # the trees then do not depend on the order of the rows
        points, labels = points[order], labels.among(order)
        pairs, likeness, weights = labels.listed(_MOST_PAIRS)
        if not (weights @ likeness and weights @ (1.0 - likeness)):
            raise ValueError(
                f"RFD needs similar pairs and dissimilar ones; got {labels.n_similar} similar and "
                f"{labels.n_dissimilar} dissimilar pair(s). Label at least two rows of one class "
                "and one of another."
            )
        if np.all(points[pairs[:, 0]] == points[pairs[:, 1]]):
            raise ValueError(
                f"The two points of all {len(pairs)} labeled pairs coincide: there is nothing to "
                "tell them apart by. Pass points that differ."
            )
        forest = grow_pair_forest(
            points,
            pairs,
            likeness,
            weights,
            n_trees=self.n_trees,
            leaf=self.min_samples_leaf,
            seed=self.random_state,
        )
        validate_data(self, header(X), skip_check_array=True)  # n_features_in_, feature_names_in_
        self.forest_ = forest
        self.landmarks_ = points[spaced(len(points), self.n_landmarks)]
        return self

    def pair_proba(self, pairs: ArrayLike, X: Any = None) -> Array:
        """Compute the share of the trees, by their leaves, that take each pair for similar.

        It is a probability where as many pairs are similar as dissimilar.

        Parameters
        ----------
        pairs, X
            Pairs of points, or of rows of `X`, as in ``pair_distance``.

        Returns
        -------
        ndarray of shape (n_pairs,)
            From 0 to 1.
        """
        check_is_fitted(self)
        if X is not None:
            rows = Rows.of(X).require(pairs)
            return similar_shares(self.forest_, self._check_new_points(X), rows)
        with as_numbers("pairs", pairs):
            points = np.asarray(to_memory(pairs))
        check_pairs(points, self.n_features_in_)
        rows = np.arange(2 * len(points)).reshape(-1, 2)
        if not len(points):
            return np.empty(0)
        flat = self._check_new_points(points.reshape(-1, points.shape[2]))
        return similar_shares(self.forest_, flat, rows)

    def _distances(self, pairs: ArrayLike, X: Any) -> Array:
        return 1.0 - self.pair_proba(pairs, X)

    def transform(self, X: ArrayLike) -> Array:
        """Return the similarity of each point to each landmark: ``pair_proba`` of the two.

        Points that are alike to the same landmarks are near each other in this space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_samples, n_landmarks)
            Similarities, of the type of `X`.
        """
        points = self._check_new_points(X)
        return landmark_similarities(self.forest_, self.landmarks_, points)

    def _points_and_gap(self, X: ArrayLike) -> tuple[Array, Gap]:
        def gap(first: Array, second: Array) -> Array:
            rows = np.arange(2 * len(first)).reshape(2, -1).T
            return 1.0 - similar_shares(self.forest_, np.vstack([first, second]), rows)

        return self._check_new_points(X), gap

    @property
    def _n_features_out(self) -> int:
        return len(self.landmarks_)
