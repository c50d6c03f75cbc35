"""The splits: which rows of a set are labeled, and which judge the learner."""

from dataclasses import dataclass

import numpy as np

from benchmarks.evidence import _data

ROWS = (40, 150, 400)  # labeled rows
JUDGED = 1000  # rows that judge a learner, at most
TIMED = 5  # samplings whose fits are timed; the others are for the errors, and fit once
# metric-learn's LMNN refuses a class with fewer rows than this.
SMALLEST_CLASS = 4


@dataclass(frozen=True, eq=False)
class Task:
    """Labeled rows to learn from, and others to classify."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray

    def error(self, transform):
        """Return the share of the other rows whose nearest labeled row has another class, in %."""
        A, B = np.asarray(transform(self.X_test)), np.asarray(transform(self.X))
        squared = (B * B).sum(axis=1) - 2.0 * A @ B.T
        return 100.0 * float(np.mean(self.y[squared.argmin(axis=1)] != self.y_test))


def sample(name, rows, seed):
    """Sample a task from a set; None if the set is too small for that many labeled rows.

    Every class gets its share of the labeled rows, and at least `SMALLEST_CLASS`. At least half
    of the set remains for judging.
    """
    X, y, _ = _data.load(name)
    sizes = np.bincount(y)
    if rows > len(y) // 2 or rows < SMALLEST_CLASS * len(sizes):
        return None
    rng = np.random.default_rng([seed, rows, len(y)])
    order = rng.permutation(len(y))
    place = np.empty(len(y), dtype=int)  # of each row among those of its class
    for code in range(len(sizes)):
        members = order[y[order] == code]
        place[members] = np.arange(len(members))
    # The first rows of each class come first, then all classes in step with their sizes.
    rank = np.where(place < SMALLEST_CLASS, -1.0, (place + 0.5) / sizes[y])
    order = order[np.argsort(rank[order], kind="stable")]
    labeled, judged = order[:rows], order[rows:]
    judged = judged[np.argsort(rng.random(len(judged)))][:JUDGED]
    return Task(X[labeled], y[labeled], X[judged], y[judged])
