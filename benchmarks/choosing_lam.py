"""Compare lam="auto" with lam=1 and the Euclidean distance, from 4 to 200 labels.

``python -m benchmarks.choosing_lam [samplings]`` prints 1-NN errors on two sets of handwritten
digits, USPS and scikit-learn's, with pixels in [0, 1]. The neighbors are the labeled points; the
test points are those not used for training, up to 2500.
"""

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from seraph import SERAPH, MetricClassifier
from seraph.classic import Euclidean
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
    """Sample training points with labels, -1 where unlabeled, and test points with classes."""
    rng = np.random.default_rng(seed)
    X, y = points(name)
    train, y_partial = [], []
    for digit in classes:
        train += list(rng.permutation(np.flatnonzero(y == digit))[:n_points])
        y_partial += [digit] * n_labels + [-1] * (n_points - n_labels)
    rest = rng.permutation(np.setdiff1d(np.flatnonzero(np.isin(y, classes)), train))[:2500]
    return X[train], np.array(y_partial), X[rest], y[rest]


def errors(name, task, seed):
    X, y_partial, X_test, y_test = sample(name, *task, seed)
    found = []
    for learner in (Euclidean(), SERAPH(lam=1.0), SERAPH()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier = MetricClassifier(learner, rule="nearest").fit(X, y_partial)
        found.append(100 * (1 - classifier.score(X_test, y_test)))
    return found


def main(samplings):
    print(f"1-NN error in %, mean and standard error; {samplings} samplings, more for small tasks")
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
        # Small tasks are noisy but cheap: use the same total number of training points.
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
