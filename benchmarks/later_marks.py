"""What ten more marks cost: a fit that starts from the metric there is, against a fresh one.

``python -m benchmarks.later_marks [n] [samplings] [first seed]`` makes points like sentence
embeddings (384 features whose variances fall slowly, 40 classes, unit length), marks 100 pairs,
fits, marks ten more, and fits again: with ``warm_start=True``, and from the beginning, with the
default settings otherwise. Times are those of the processor, on one thread, so that other
programs do not disturb them much.
"""

import sys
import time

import numpy as np

from seraph import SERAPH, Marks

N, M, CLASSES = 5000, 384, 40
FIRST, MORE = 100, 10


def points(n, rng):
    """Return points, and their classes."""
    y = rng.integers(CLASSES, size=n)
    scale = np.arange(1, M + 1) ** -0.5
    X = (scale * rng.normal(size=(CLASSES, M)))[y] + scale[rng.permutation(M)] * rng.normal(
        size=(n, M)
    )
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def marks(y, size, rng):
    """Mark pairs of rows, similar and dissimilar ones in turn."""
    found = []
    while len(found) < size:
        i, j = rng.integers(len(y), size=2).tolist()
        if i != j and (y[i] == y[j]) == (len(found) % 2 == 0):
            found.append((i, j))
    pairs = np.array(found)
    return pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def timed(learner, X, pairs, alike):
    before = time.process_time()
    learner.fit(X, marks=Marks(pairs, alike, rows=X))
    return time.process_time() - before


def compare(n, seed):
    rng = np.random.default_rng(seed)
    X, y = points(n, rng)
    pairs, alike = marks(y, FIRST + MORE, rng)
    learner, fresh = SERAPH(warm_start=True), SERAPH()
    compiled()
    timed(learner, X, pairs[:FIRST], alike[:FIRST])
    seconds = timed(fresh, X, pairs, alike), timed(learner, X, pairs, alike)
    A, B = fresh.get_mahalanobis_matrix(), learner.get_mahalanobis_matrix()
    print(
        f"{seed:>4}{seconds[0]:>10.1f}{fresh.n_iter_:>12}{seconds[1]:>10.1f}"
        f"{learner.n_iter_:>12}{seconds[1] / seconds[0]:>9.2f}"
        f"{(learner.objective_ - fresh.objective_) / abs(fresh.objective_):>13.1e}"
        f"{np.linalg.norm(A - B) / np.linalg.norm(A):>11.1e}",
        flush=True,
    )


def compiled():
    """Load the compiled sweeps, which only the first fit would pay for."""
    SERAPH(max_iter=3).fit(points(1200, np.random.default_rng(0))[0], np.arange(1200) % 40)


def main(n, samplings, first):
    print(
        f"n = {n:,}, m = {M}, {FIRST} marks and {MORE} more; difference: (later - fresh) / |fresh|"
    )
    print("seed   fresh, s  iterations  later, s  iterations    ratio    objective     metric")
    for seed in range(first, first + samplings):
        compare(n, seed)


if __name__ == "__main__":
    given = [int(argument) for argument in sys.argv[1:]]
    main(*given, *(N, 3, 0)[len(given) :])
