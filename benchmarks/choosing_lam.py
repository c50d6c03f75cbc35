"""The automatic lam against lam = 1 and the Euclidean distance, from 4 to 200 labels.

``python -m benchmarks.choosing_lam [samplings]`` prints 1-NN errors on two sets of handwritten
digits, pixels in [0, 1]: USPS, and scikit-learn's own. Neighbours are the labelled points; all
points that were not trained on are tested, up to 2500.
"""

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from seraph import SERAPH
from seraph.datasets import load_task

# classes, labels per class, points per class
TASKS = [
    ((1, 7), 2, 50),
    ((1, 2, 3, 4, 5), 2, 20),
    ((1, 2, 3, 4, 5), 4, 40),
    (tuple(range(10)), 2, 20),
    (tuple(range(10)), 4, 40),
    (tuple(range(10)), 10, 40),
    (tuple(range(10)), 20, 40),
]
COLUMNS = ("Euclidean", "lam = 1", 'lam = "auto"')


def points(name):
    if name == "USPS":
        task = load_task("usps-1-10-40")
        return task.X, task.y
    data = load_digits()
    return data.data / 16.0, data.target


def sample(name, classes, n_labels, n_points, seed):
    """Training points with their class, which of them are labelled, and test points."""
    rng = np.random.default_rng(seed)
    X, y = points(name)
    train, labelled = [], []
    for digit in classes:
        rows = rng.permutation(np.flatnonzero(y == digit))[:n_points]
        train += list(rows)
        labelled += [True] * n_labels + [False] * (n_points - n_labels)
    rest = rng.permutation(np.setdiff1d(np.flatnonzero(np.isin(y, classes)), train))[:2500]
    return X[train], y[train], np.array(labelled), X[rest], y[rest]


def errors(name, task, seed):
    X, y, labelled, X_test, y_test = sample(name, *task, seed)
    y_partial = np.where(labelled, y, -1)

    def error(transform):
        nearest = KNeighborsClassifier(1).fit(transform(X[labelled]), y[labelled])
        return 100 * (1 - nearest.score(transform(X_test), y_test))

    found = [error(lambda Z: Z)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for lam in (1.0, "auto"):
            found.append(error(SERAPH(lam=lam).fit(X, y_partial).transform))
    return found


def main(samplings):
    print(
        f"1-NN error in %, mean and standard error; {samplings} samplings, or more of small tasks"
    )
    for name in ("USPS", "scikit-learn's digits"):
        print(f"\n{name}\n")
        compare(name, samplings)


def compare(name, samplings):
    print(
        f"{'classes':>8}{'labels':>8}{'n':>6}{'samplings':>11}"
        + "".join(f"{c:>18}" for c in COLUMNS)
        + "   best"
    )
    for classes, n_labels, n_points in TASKS:
        # Small tasks are noisy, and cheap: as many training points in all of each task.
        count = samplings * max(1, 800 // (n_points * len(classes)))
        rows = Parallel(n_jobs=-1)(
            delayed(errors)(name, (classes, n_labels, n_points), seed) for seed in range(count)
        )
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(count)
        cells = "".join(f"{m:>11.2f} ± {s:.2f}" for m, s in zip(mean, spread, strict=True))
        size = (
            f"{len(classes):>8}{n_labels * len(classes):>8}{n_points * len(classes):>6}{count:>11}"
        )
        print(f"{size}{cells}   {COLUMNS[int(np.argmin(mean))]}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
