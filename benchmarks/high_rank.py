"""Fit points most of whose features are noise: the metric then needs many rows.

``python -m benchmarks.high_rank [max_iter]`` marks 100 pairs of points of ten classes that differ
in 12 features only, and prints the iterations and the CPU seconds of fits with the automatic
weight of the trace and with a tenth of it.
"""

import sys
import time

import numpy as np

from seraph import Marks
from seraph._engine import Settings, learn
from seraph._marks import PairLabels
from seraph._sweep import PointsInMemory


def task(n, m, seed):
    """Return points, and labels of 50 similar pairs and 50 dissimilar ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(10, size=n)
    X = rng.normal(size=(n, m))
    X[:, :12] += rng.normal(size=(10, 12))[y]
    i, j = rng.integers(n, size=(2, 4000))
    i, j = i[i != j], j[i != j]
    alike = y[i] == y[j]
    some = np.concatenate([np.flatnonzero(alike == kind)[:50] for kind in (True, False)])
    return X, PairLabels.make(n, None, Marks(np.column_stack([i, j])[some], alike[some], rows=n))


def main(max_iter):
    print("     n    m     type   lam  seed  iterations  converged  rank      gap   CPU, s")
    for n, m, dtype in ((200, 256, np.float32), (1000, 200, np.float32), (1000, 200, np.float64)):
        for factor in (1.0, 0.1):
            for seed in range(2):
                X, labels = task(n, m, seed)
                settings = Settings(backend="numba", lam_factor=factor, max_iter=max_iter)
                start = time.process_time()
                fit = learn(PointsInMemory(X.astype(dtype)), labels, settings)
                print(
                    f"{n:>6}{m:>5}{dtype.__name__:>9}{factor:>6}{seed:>6}{fit.n_iter:>12}"
                    f"{fit.converged!s:>11}{len(fit.components):>6}{fit.optimality_gap:>9.1e}"
                    f"{time.process_time() - start:>9.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
