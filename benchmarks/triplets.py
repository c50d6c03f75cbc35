"""Which of three is the odd one out: SERAPH on triplets, LSML, the Euclidean distance.

``python -m benchmarks.triplets [samplings]`` asks about threes of training points, two of one
class and one of another, and is told which is the odd one. Each answer makes two triplets. The
metric is judged by threes of other points: the two nearest to each other should be the two of one
class. Chance is 33 %. LSML has no rule for the weight of its loss: beside its default we
report the best of five on the test points.
"""

import sys
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks
from seraph.classic import LSML

N_TRAIN, N_TEST = 400, 5000
ANSWERS = (50, 100)
GAMMAS = (10.0, 1.0, 100.0, 1000.0, 10000.0)  # the default first
METHODS = ("Euclidean", "LSML", "LSML, best", "SERAPH, mu = 0", "SERAPH")
OPTIONS = {"SERAPH, mu = 0": {"mu": 0.0}, "SERAPH": {}}
SETS = {"wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


def threes(y, size, rng):
    """Sample threes of rows: two of one class, then one of another."""
    found = []
    while len(found) < size:
        rows = rng.integers(len(y), size=(4 * size, 3))
        a, b, odd = y[rows].T
        found += rows[(a == b) & (a != odd) & (rows[:, 0] != rows[:, 1])].tolist()
    return np.array(found[:size])


def accuracy(P, X, rows):
    """Share of threes, in %, whose first two are the nearest."""
    a, b, odd = np.moveaxis((X @ P.T)[rows], 1, 0)
    pair, first, second = (np.linalg.norm(u - v, axis=1) for u, v in ((a, b), (a, odd), (b, odd)))
    return 100 * np.mean((pair < first) & (pair < second))


def compare(name, n_answers, seed):
    """Accuracy of each method on one sampling."""
    rng = np.random.default_rng(seed)
    X, y = SETS[name](return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = rng.permutation(len(X))
    n_train = min(N_TRAIN, len(X) // 2)
    train, test = order[:n_train], order[n_train:]
    X_train, X_test = X[train], X[test]
    asked = threes(y[train], n_answers, rng)
    triplets = np.vstack([asked, asked[:, [1, 0, 2]]])
    marks = Marks(triplets=triplets, rows=X_train)
    judged = threes(y[test], N_TEST, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = {
            "Euclidean": np.eye(X.shape[1]),
            **{f"LSML {gamma:g}": compared(X_train, triplets, gamma) for gamma in GAMMAS},
            **{
                name: SERAPH(**options).fit(X_train, marks=marks).components_
                for name, options in OPTIONS.items()
            },
        }
    return {method: accuracy(P, X_test, judged) for method, P in found.items()}


def compared(X, triplets, gamma):
    """Return the map that LSML learns: a and b are closer than a and c."""
    return LSML(gamma=gamma).fit(X, quadruplets=triplets[:, [0, 1, 0, 2]]).components_


def main(samplings):
    print(f"odd-one-out accuracy in %, mean and standard error over {samplings} samplings\n")
    print(f"{'':14}{'answers':>7}" + "".join(f"{method:>18}" for method in METHODS))
    for name in SETS:
        for n_answers in ANSWERS:
            rows = [compare(name, n_answers, seed) for seed in range(samplings)]
            found = {method: np.array([row[method] for row in rows]) for method in rows[0]}
            tried = [found.pop(f"LSML {gamma:g}") for gamma in GAMMAS]
            found["LSML"], found["LSML, best"] = tried[0], max(tried, key=np.mean)
            line = f"{name:14}{n_answers:>7}"
            for method in METHODS:
                error = found[method].std(ddof=1) / np.sqrt(samplings)
                line += f"{found[method].mean():>12.1f} ± {error:.1f}"
            print(line, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
