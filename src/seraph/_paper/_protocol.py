"""The protocol of section 5.1: how a sampling is drawn, and how features are scaled.

Where the paper is silent, the choice made here is said where it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..datasets import Task

Scaling = Literal["zscore", "unit", "symmetric", "raw"]
SCALINGS: tuple[Scaling, ...] = get_args(Scaling)


@dataclass(frozen=True)
class Sampling:
    """One random sampling of a task.

    Parameters
    ----------
    X, y : ndarray of shape (n_train, n_features) and (n_train,)
        Training points and their classes.
    labelled : ndarray of bool of shape (n_train,)
        Which classes are revealed.
    X_test, y_test : ndarray of shape (n_test, n_features) and (n_test,)
        Test points and their classes.
    """

    X: NDArray
    y: NDArray
    labelled: NDArray
    X_test: NDArray
    y_test: NDArray

    @property
    def y_partial(self) -> NDArray:
        """Classes where they are revealed, -1 elsewhere."""
        return np.where(self.labelled, self.y, -1)


def scaled(X: NDArray, scaling: Scaling) -> NDArray:
    """Scale the features of a UCI set, over the whole set.

    The paper does not say how its features were scaled. "zscore" divides z-scores by
    ``sqrt(m)``, so that the mean squared distance of two points is 2 whatever m is; "unit"
    and "symmetric" map each feature to [0, 1] and [-1, 1]; "raw" leaves them.

    Examples
    --------
    >>> import numpy as np
    >>> scaled(np.array([[1.0], [3.0], [2.0]]), "symmetric").ravel()
    array([-1.,  1.,  0.])
    """
    if scaling == "raw":
        return X
    if scaling == "zscore":
        spread = X.std(axis=0)
        return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0) / np.sqrt(X.shape[1])
    low, high = X.min(axis=0), X.max(axis=0)
    unit = (X - low) / np.where(high > low, high - low, 1.0)
    return unit if scaling == "unit" else 2.0 * unit - 1.0


def draw(task: Task, seed: int, number: int, scaling: Scaling = "zscore") -> Sampling:
    """Draw one sampling; it depends on the task, the seed and its number alone.

    UCI sets: a random order, the first `n_train` points for training, the first `n_labels`
    of these labelled, the next `n_test` for testing. A draw whose labels are all of one
    class (or all of different ones) defines no dissimilar (similar) pair and is redrawn.
    USPS and MNIST: as many training points, labels and test points of each class.

    Examples
    --------
    >>> from seraph.datasets import load_task
    >>> sampling = draw(load_task("iris"), seed=0, number=0)
    >>> sampling.X.shape, int(sampling.labelled.sum()), sampling.X_test.shape
    ((100, 4), 10, (38, 4))
    """
    _, y = np.unique(task.y, return_inverse=True)
    X = task.X if task.balanced else scaled(task.X, scaling)
    name = int.from_bytes(task.name.encode(), "little")
    rng = np.random.default_rng([seed, number, name % 2**64])
    while True:
        order = rng.permutation(len(X))
        if task.balanced:
            order = _by_class(order, y, task)
        train, test = order[: task.n_train], order[task.n_train :][: task.n_test]
        sizes = np.bincount(y[train[: task.n_labels]])
        if 1 < sizes.max() < task.n_labels:
            break
    labelled = np.arange(task.n_train) < task.n_labels
    return Sampling(X[train], y[train], labelled, X[test], y[test])


def _by_class(order: NDArray, y: NDArray, task: Task) -> NDArray:
    """Reorder so that labels, other training points and test points are balanced."""
    place = np.empty(len(order), dtype=int)  # of a point among those of its class
    for code in range(task.n_classes):
        rows = order[y[order] == code]
        place[rows] = np.arange(len(rows))
    counts = np.array([task.n_labels, task.n_train, task.n_train + task.n_test]) // task.n_classes
    group = np.searchsorted(counts, place[order], side="right")
    return order[np.argsort(group, kind="stable")]
