"""The automatic lam against lam = 1 and the Euclidean distance, from 4 to 200 labels.

``python -m benchmarks.choosing_lam [samplings]`` prints the 1-NN error on scikit-learn's digits
([0, 1] pixels): neighbours are the labelled points, the test points are all those not trained on.
"""

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from seraph import SERAPH

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


def sample(classes, n_labels, n_points, seed):
    """Training points with their class, which of them are labelled, and test points."""
    rng = np.random.default_rng(seed)
    data = load_digits()
    train, labelled = [], []
    for digit in classes:
        rows = rng.permutation(np.flatnonzero(data.target == digit))[:n_points]
        train += list(rows)
        labelled += [True] * n_labels + [False] * (n_points - n_labels)
    rest = np.setdiff1d(np.flatnonzero(np.isin(data.target, classes)), train)
    X = data.data / 16.0
    return X[train], data.target[train], np.array(labelled), X[rest], data.target[rest]


def errors(task, seed):
    X, y, labelled, X_test, y_test = sample(*task, seed)
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
    print(f"1-NN error in %, mean and standard error of {samplings} samplings\n")
    print(
        f"{'classes':>8}{'labels':>8}{'n':>6}" + "".join(f"{c:>18}" for c in COLUMNS) + "   best"
    )
    for classes, n_labels, n_points in TASKS:
        rows = Parallel(n_jobs=-1)(
            delayed(errors)((classes, n_labels, n_points), seed) for seed in range(samplings)
        )
        mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0, ddof=1) / np.sqrt(samplings)
        cells = "".join(f"{m:>11.2f} ± {s:.2f}" for m, s in zip(mean, spread, strict=True))
        size = f"{len(classes):>8}{n_labels * len(classes):>8}{n_points * len(classes):>6}"
        print(f"{size}{cells}   {COLUMNS[int(np.argmin(mean))]}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30)
