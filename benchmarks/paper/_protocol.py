"""Follow the protocol of section 5.1: sample each task, scale its features, measure the error.

Where the paper leaves a choice open, the docstrings below say what we chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler, minmax_scale

from seraph import MetricClassifier
from seraph._utils._typing import Array

from ._data import Row, Task

Scaling = Literal["zscore", "unit", "symmetric", "raw"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)


@dataclass(frozen=True)
class Sampling:
    """One random sampling of a task: training points, and test points."""

    X: Array
    y: Array
    labeled: Array  # which training points have a label
    X_test: Array
    y_test: Array

    @property
    def y_partial(self) -> Array:
        """Classes of the labeled points, -1 elsewhere."""
        return np.where(self.labeled, self.y, -1)

    def nearest_neighbor_error(self, learner: Any) -> float:
        """Classify the test points by their nearest labeled point; return the error in %."""
        classifier = MetricClassifier(FrozenEstimator(learner), rule="nearest")
        classifier.fit(self.X, self.y_partial)
        return 100.0 * float(np.mean(classifier.predict(self.X_test) != self.y_test))


def scaled(X: Array, scaling: Scaling) -> Array:
    """Scale the features of a UCI data set, using all of its points.

    The paper does not say how it scaled the features. "zscore" divides z-scores by ``sqrt(m)``
    for m features, so that the mean squared distance between two points is 2; "unit" and
    "symmetric" map each feature to [0, 1] and [-1, 1]; "raw" changes nothing.
    """
    if scaling == "raw":
        return X
    if scaling == "zscore":
        return np.asarray(StandardScaler().fit_transform(X) / np.sqrt(X.shape[1]))
    low = 0.0 if scaling == "unit" else -1.0
    return np.asarray(minmax_scale(X, (low, 1.0)))


def sample_task(task: Task, seed: int, number: int, scaling: Scaling = "zscore") -> Sampling:
    """Sample training and test points; only the task, seed, number and scaling matter.

    UCI sets: shuffle the points, train on the first `n_train`, label the first `n_labels` of
    these, and test on the next `n_test`. If the labels are all of one class, or all of
    different ones, there is no dissimilar or no similar pair, and we sample again. USPS and
    MNIST: take equal numbers of training points, labels and test points from each class.
    """
    _, y = np.unique(task.y, return_inverse=True)
    row = task.row
    X = task.X if row.balanced else scaled(task.X, scaling)
    name = int.from_bytes(task.name.encode(), "little")
    rng = np.random.default_rng([seed, number, name % 2**64])
    while True:
        order = rng.permutation(len(X))
        if row.balanced:
            order = _by_class(order, y, row)
        train, test = order[: row.n_train], order[row.n_train :][: row.n_test]
        sizes = np.bincount(y[train[: row.n_labels]])
        if 1 < sizes.max() < row.n_labels:
            break
    labeled = np.arange(row.n_train) < row.n_labels
    return Sampling(X[train], y[train], labeled, X[test], y[test])


def _by_class(order: Array, y: Array, row: Row) -> Array:
    """Reorder the points so that labels, other training points and test points are balanced."""
    place = np.empty(len(order), dtype=int)  # of a point among those of its class
    for label in np.unique(y):
        rows = order[y[order] == label]
        place[rows] = np.arange(len(rows))
    counts = np.array([row.n_labels, row.n_train, row.n_train + row.n_test]) // row.n_classes
    group = np.searchsorted(counts, place[order], side="right")
    return order[np.argsort(group, kind="stable")]
