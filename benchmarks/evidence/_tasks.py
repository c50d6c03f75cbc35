"""Sample the tasks, and judge a learner on rows that it has not seen.

Half of the rows are held out. From the others the learner sees `SEEN` at most: some with a class
label, or some pairs marked as alike or different, the rest as they are. The same seed gives the
same task to every method.

A setting is ``labels-100`` or ``pairs-100``, or one with a change: ``-wrong-10`` (10 % of the
marks are wrong), ``-same-1`` (1 % of the pairs are alike, not half), ``-rows-20000`` (so many rows
are seen), ``-classes-5`` or ``-classes-half`` (only so many classes have marked pairs; rows of the
others are judged apart).
"""

from dataclasses import dataclass, replace

import numpy as np

from seraph import Marks, TablePreparer

SETTINGS = ("labels-20", "labels-100", "pairs-100")
NEW_CLASSES = "pairs-100-classes-half"
UNTIDY = ("labels-60",)  # of untidy tables
SEEN, JUDGED = 2000, 500  # rows that a learner sees, and rows that judge it, at most


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner sees (`X`, with `y`, or `pairs` and `pair_labels`), and the held-out rows.

    `y` is -1 where unlabeled, and None if pairs are marked. `classes` are the true classes of
    the rows seen, for nothing but the sampling. `seed` is for methods that use chance.
    """

    kind: str
    seed: int
    X: np.ndarray
    classes: np.ndarray
    y: np.ndarray | None
    pairs: np.ndarray | None
    pair_labels: np.ndarray | None
    X_test: np.ndarray
    y_test: np.ndarray
    marked: np.ndarray | None = None  # which held-out rows are of a class with marks

    @property
    def parts(self):
        """Return the tasks to judge by: all held-out rows, or those of marked and new classes."""
        if self.marked is None:
            return {"": self}
        return {
            end: replace(self, X_test=self.X_test[rows], y_test=self.y_test[rows])
            for end, rows in (("", self.marked), ("/new", ~self.marked))
        }

    @property
    def supervision(self):
        """Return the arguments of ``fit`` after X."""
        if self.y is not None:
            return {"y": self.y}
        return {"marks": Marks(self.pairs, self.pair_labels, rows=self.X)}

    @property
    def labeled(self):
        """Return the rows with a label."""
        return np.flatnonzero(self.y >= 0)


def sample(X, y, kind, setting, seed, seen=SEEN, judged=JUDGED):
    """Sample a task with at most so many rows; None if the set is too small for the setting.

    Too small means: as many labels as rows, fewer labels than classes, or too few pairs of one
    kind. A data frame becomes numbers, as `TablePreparer` has learned from the rows seen.
    """
    rng = np.random.default_rng([seed, len(y)])
    order = rng.permutation(len(y))
    what, count, *change = setting.split("-")
    options = dict(zip(change[::2], change[1::2], strict=True))
    seen = order[: len(y) // 2][: int(options.get("rows", seen))]
    judged = order[len(y) // 2 :][:judged]
    chosen = _choose_classes(y, options.get("classes"), rng)
    rows_marked = np.flatnonzero(np.isin(y[seen], chosen))
    if what == "labels":
        marks = _labels(y[seen], int(count), rng)
    else:
        share = float(options.get("same", 50)) / 100
        marks = _pairs(y[seen][rows_marked], int(count), rng, share)
    if marks is None or (what == "labels" and int(count) < len(np.unique(y))):
        return None
    labels, pairs, alike = marks
    wrong = float(options.get("wrong", 0)) / 100
    if labels is not None:
        errors = (labels >= 0) & (rng.random(len(labels)) < wrong)
        labels = np.where(errors, rng.permutation(y[seen]), labels)
    else:
        pairs, alike = rows_marked[pairs], np.where(rng.random(len(alike)) < wrong, -alike, alike)
    marked = np.isin(y[judged], chosen) if "classes" in options else None
    if kind == "untidy":
        preparer = TablePreparer().fit(X.iloc[seen])
        rows, others = (preparer.transform(X.iloc[part]) for part in (seen, judged))
    else:
        rows, others = X[seen], X[judged]
    return Task(kind, seed, rows, y[seen], labels, pairs, alike, others, y[judged], marked)


def _choose_classes(y, count, rng):
    """Return the classes that may have marks: all, or so many."""
    classes = np.unique(y)
    if count is None:
        return classes
    return rng.permutation(classes)[: len(classes) // 2 if count == "half" else int(count)]


def _labels(y, count, rng):
    """Label some rows, so that two classes and one pair of equal class are among them."""
    if count >= len(y):
        return None
    while True:
        rows = rng.permutation(len(y))[:count]
        if 1 < len(np.unique(y[rows])) < count:
            return np.where(np.isin(np.arange(len(y)), rows), y, -1), None, None


def _pairs(y, count, rng, share):
    """Mark some pairs, a share of them alike, all different."""
    i, j = np.triu_indices(len(y), 1)
    alike = y[i] == y[j]
    chosen = []
    same = max(1, int(count * share))
    for kind, number in ((True, same), (False, count - same)):
        of_kind = np.flatnonzero(alike == kind)
        if len(of_kind) < number:
            return None
        chosen.append(rng.choice(of_kind, number, replace=False))
    chosen = np.concatenate(chosen)
    pairs, marks = np.column_stack([i, j])[chosen], np.where(alike[chosen], 1, -1)
    return None, pairs, marks


# Judging


def squared_distances(A, B):
    """Return the squared distances between rows of A and rows of B."""
    gram = A @ B.T
    return np.maximum((A * A).sum(1)[:, None] + (B * B).sum(1) - 2 * gram, 0)


def judge(distances, y, errors=None):
    """Return 1-NN error, pair AUC and MAP@R in %, from the distances of all held-out rows.

    Parameters
    ----------
    distances : ndarray of shape (n, n)
        Any dissimilarity.
    y : ndarray of shape (n,)
        Classes.
    errors : ndarray of bool, optional
        Which rows are classified wrongly; default: by the nearest other row.
    """
    alike = y[:, np.newaxis] == y
    if errors is None:
        own = distances.copy()
        np.fill_diagonal(own, np.inf)
        errors = ~alike[np.arange(len(y)), own.argmin(axis=1)]
    return {
        "error": 100 * float(np.mean(errors)),
        "auc": 100 * pair_auc(distances, alike),
        "map": 100 * map_at_r(distances, alike),
    }


def pair_auc(distances, alike):
    """Return the chance that a pair of equal class is nearer than one of different class."""
    above = np.triu_indices(len(distances), 1)
    values, alike = distances[above], alike[above]
    near, far = values[alike], np.sort(values[~alike])
    before = np.searchsorted(far, near, "left") + np.searchsorted(far, near, "right")
    return float(1 - before.mean() / (2 * len(far)))


def map_at_r(distances, alike):
    """Return the mean average precision at R (Musgrave et al. 2020).

    R is the number of other rows of the query's class. The precision at k counts for each of the
    nearest R rows that is of the class. Queries without such a row are left out.
    """
    n = len(distances)
    distances = distances.copy()
    np.fill_diagonal(distances, np.inf)  # the query itself comes last
    R = alike.sum(axis=1) - 1
    most = int(R.max())
    near = np.argpartition(distances, most - 1, axis=1)[:, :most]
    rows = np.arange(n)[:, np.newaxis]
    near = near[rows, np.argsort(distances[rows, near], axis=1, kind="stable")]
    hit = alike[rows, near] & (np.arange(most) < R[:, np.newaxis])
    precision = np.cumsum(hit, axis=1) / np.arange(1, most + 1)
    asked = R > 0
    return float(np.mean((hit * precision).sum(axis=1)[asked] / R[asked]))
