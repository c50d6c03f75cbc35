"""Sample the tasks: pairs marked at random or among near neighbors, or labels of each class.

Of at most `ROWS` rows of a set, half are seen and half judge. Marks are only about rows that are
seen, so no judged pair was marked. The same seed gives the same task to every method.
"""

from functools import cache

import numpy as np

from benchmarks.evidence import _data
from benchmarks.evidence._tasks import Task, squared_distances
from benchmarks.evidence._tasks import _pairs as at_random

SETS = (
    "definitions-minilm",
    "reuters52-minilm",
    "newsgroups-test-minilm",
    "newsgroups-wordllama",
    "faces",
)
MARKS = (40, 100, 300, 1000)
LABELS = (1, 3, 10)
WAYS = {"pairs": MARKS, "near": MARKS, "classes": LABELS}
SETTINGS = tuple(f"{way}-{count}" for way, counts in WAYS.items() for count in counts)
OURS = "seraph-mean"
METHODS = {
    "pairs": ("euclidean", "pca", "matrix", "rca", "itml", "gmml", "seraph", OURS),
    "near": ("euclidean", "pca", "matrix", "rca", "itml", "gmml", "seraph", OURS),
    "classes": (
        "euclidean",
        "pca",
        "rca",
        "itml",
        "gmml",
        "lda",
        "lda-classifier",
        "logistic",
        "seraph",
        OURS,
    ),
}
ROWS = 1000
NEIGHBORS = 10  # a pair is near if one row is among so many nearest of the other


@cache
def load(name):
    """Return X and y of a set: at most `ROWS` rows, of classes with 10 rows or more.

    Raises
    ------
    Unavailable
        If a tool or a package is missing.
    ValueError
        If a vector is zero or not finite.
    """
    X, y, _ = _data.load(name)
    rows = np.sort(np.random.default_rng(1).permutation(len(y))[:ROWS])
    classes, counts = np.unique(y[rows], return_counts=True)
    rows = rows[np.isin(y[rows], classes[counts >= _data.SMALLEST_CLASS])]
    return _data.unit(X[rows]), np.unique(y[rows], return_inverse=True)[1]


def sample(X, y, setting, seed):
    """Sample a task; None if the set is too small for the setting."""
    rng = np.random.default_rng([seed, len(y)])
    order = rng.permutation(len(y))
    seen, judged = order[: len(y) // 2], order[len(y) // 2 :]
    way, count = setting.split("-")
    if way == "classes":
        marks = _of_each_class(y[seen], int(count))
    elif way == "near":
        marks = _near(X[seen], y[seen], int(count), rng)
    else:
        marks = at_random(y[seen], int(count), rng)
    if marks is None:
        return None
    return Task("embedding", seed, X[seen], y[seen], *marks, X[judged], y[judged])


def _of_each_class(y, count):
    """Label the first rows of each class; the rows come in random order.

    None where a class of four has fewer rows: then almost all rows would be labeled.
    """
    place = np.array([np.sum(y[:row] == y[row]) for row in range(len(y))])
    classes, sizes = np.unique(y, return_counts=True)
    if np.mean(sizes > count) < 0.25 or len(classes) < 2:
        return None
    return np.where(place < count, y, -1), None, None


def _near(X, y, count, rng):
    """Mark pairs of near neighbors, as many alike as there happen to be.

    An active query asks about such pairs: those that the model is unsure of.
    """
    distances = squared_distances(X, X)
    np.fill_diagonal(distances, np.inf)
    near = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBORS]
    pairs = np.column_stack([np.repeat(np.arange(len(X)), near.shape[1]), near.ravel()])
    pairs = np.unique(np.sort(pairs, axis=1), axis=0)
    if len(pairs) < count:
        return None
    pairs = pairs[np.sort(rng.choice(len(pairs), count, replace=False))]
    alike = y[pairs[:, 0]] == y[pairs[:, 1]]
    if alike.all() or not alike.any():
        return None
    return None, pairs, np.where(alike, 1, -1)
