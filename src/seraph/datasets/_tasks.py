"""Load the twelve tasks of the paper's table 1 from the data that the package ships."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from .._utils._typing import Array
from .._utils._validation import shown
from ._files import read_arrays


@dataclass(frozen=True, eq=False)
class Task:
    """A data set and its row in table 1 of Niu et al. (2012).

    Parameters
    ----------
    name : str
        Name in `load_task`.
    title : str
        Name in the paper.
    X : ndarray of shape (n_samples, n_features)
        All points to sample from. Pixels are in [0, 1]; other features are not scaled.
    y : ndarray of int of shape (n_samples,)
        Classes: the digits, or 0, 1, ... for other data.
    feature_names : tuple of str
        Names of the features.
    target_names : tuple of str
        Names of the classes, in the order of ``numpy.unique(y)``.
    n_classes, n_features : int
        Number of classes and of features.
    n_train, n_test : int
        Number of training and of test points in a sampling.
    n_labels : int
        Number of training points that are labeled.
    balanced : bool
        Whether a sampling takes equal numbers of points and labels from each class.
    n_similar, n_dissimilar : float
        Numbers of similar and dissimilar pairs of labeled points: exact if `balanced`,
        otherwise the paper's means over its 50 samplings.
    n_unlabeled : int
        Number of the other pairs of training points.

    Examples
    --------
    >>> from seraph.datasets import load_task
    >>> load_task("wine")
    Task('wine': 178 points, 13 features, 3 classes)
    """

    name: str
    title: str
    X: Array
    y: Array
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    n_labels: int
    balanced: bool
    n_similar: float
    n_dissimilar: float
    n_unlabeled: int

    def __repr__(self) -> str:
        return (
            f"Task({self.name!r}: {len(self.X)} points, {self.n_features} features, "
            f"{self.n_classes} classes)"
        )


class Row(NamedTuple):
    """A row of table 1, and the source of its points."""

    title: str
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    n_labels: int
    n_similar: float
    n_dissimilar: float
    n_unlabeled: int
    source: str
    digits: tuple[int, ...] = ()


_TEN = (1, 2, 3, 4, 5, 6, 7, 8, 9, 0)  # the order of the original USPS file
ROWS = {
    "iris": Row("iris", 3, 4, 100, 38, 10, 15.10, 29.90, 4905, "iris"),
    "wine": Row("wine", 3, 13, 100, 78, 10, 13.98, 31.02, 4905, "wine"),
    "ionosphere": Row("ionosphere", 2, 34, 100, 251, 20, 97.50, 92.50, 4760, "ionosphere"),
    "balance": Row("balance", 3, 4, 100, 465, 10, 20.38, 24.62, 4905, "balance"),
    "breast-cancer": Row(
        "breast cancer", 2, 30, 100, 469, 10, 23.54, 21.46, 4905, "breast-cancer"
    ),
    "diabetes": Row("diabetes", 2, 8, 100, 668, 10, 23.02, 21.98, 4905, "diabetes"),
    "usps-1-5-20": Row("USPS 1-5, 20", 5, 64, 100, 2500, 10, 5, 40, 4905, "usps", _TEN[:5]),
    "usps-1-5-40": Row("USPS 1-5, 40", 5, 64, 200, 2500, 20, 30, 160, 19710, "usps", _TEN[:5]),
    "usps-1-10-20": Row("USPS 1-10, 20", 10, 64, 200, 2500, 20, 10, 180, 19710, "usps", _TEN),
    "usps-1-10-40": Row("USPS 1-10, 40", 10, 64, 400, 2500, 40, 60, 720, 79020, "usps", _TEN),
    "mnist-1-7": Row("MNIST 1, 7", 2, 196, 100, 1000, 4, 2, 4, 4944, "mnist", (1, 7)),
    "mnist-3-5-8": Row("MNIST 3, 5, 8", 3, 196, 150, 1500, 9, 9, 27, 11139, "mnist", (3, 5, 8)),
}
TASKS = tuple(ROWS)

Points = tuple[Array, Array, tuple[str, ...], tuple[str, ...]]


def load_task(name: str) -> Task:
    """Load one of the paper's twelve tasks, offline.

    Parameters
    ----------
    name : str
        One of `TASKS`.

    Returns
    -------
    Task
        All points that the package ships, and the row of table 1.

    Raises
    ------
    ValueError
        If there is no such task, or its data file is damaged.

    Examples
    --------
    >>> from seraph.datasets import load_task
    >>> task = load_task("usps-1-5-20")
    >>> task.X.shape, task.n_train, task.n_labels
    ((5500, 64), 100, 10)
    """
    row = find_row(name)
    if row.digits:
        return make_task(name, _digits(row))
    return make_task(name, _LOADERS[row.source]())


def find_row(name: str) -> Row:
    """Return a row of table 1, or raise an error that lists the names."""
    if not isinstance(name, str) or name not in ROWS:
        raise ValueError(f"There is no task {shown(name)}; the tasks are {', '.join(TASKS)}.")
    return ROWS[name]


def make_task(name: str, points: Points) -> Task:
    """Combine points with their row of table 1."""
    X, y, feature_names, target_names = points
    sizes = ROWS[name]._asdict()
    del sizes["source"]
    return Task(
        name=name,
        X=np.asarray(X, dtype=np.float64),
        y=np.asarray(y, dtype=np.int64),
        feature_names=feature_names,
        target_names=target_names,
        balanced=bool(sizes.pop("digits")),
        **sizes,
    )


def _from_sklearn(load: Callable[[], Any]) -> Points:
    data = load()
    return data.data, data.target, tuple(data.feature_names), tuple(map(str, data.target_names))


def _from_file(name: str) -> Points:
    arrays = read_arrays(name)
    features, targets = (
        tuple(map(str, arrays[f"{kind}_names"])) for kind in ("feature", "target")
    )
    return arrays["X"], arrays["y"], features, targets


def _balance() -> Points:
    """Generate the balance scale: all weights and distances from 1 to 5; which side goes down."""
    X = np.array(list(product(range(1, 6), repeat=4)))
    torque = X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]
    y = np.select([torque > 0, torque == 0], [0, 1], default=2)
    features = ("left weight", "left distance", "right weight", "right distance")
    return X, y, features, ("left", "balanced", "right")


def _digits(row: Row) -> Points:
    arrays = read_arrays(f"{row.source}.npz")
    chosen = np.isin(arrays["digits"], row.digits)
    X = arrays["sums"][chosen] / 1020.0  # sums of four bytes
    return X, arrays["digits"][chosen], *digit_names(row)


def digit_names(row: Row) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the features and of the classes of a digit task."""
    side = range(isqrt(row.n_features))
    pixels = tuple(f"pixel_{i}_{j}" for i, j in product(side, side))
    return pixels, tuple(map(str, sorted(row.digits)))


_LOADERS: dict[str, Callable[[], Points]] = {
    "iris": lambda: _from_sklearn(load_iris),
    "wine": lambda: _from_sklearn(load_wine),
    "breast-cancer": lambda: _from_sklearn(load_breast_cancer),
    "balance": _balance,
    "diabetes": lambda: _from_file("diabetes.npz"),
    "ionosphere": lambda: _from_file("ionosphere.npz"),
}
