"""Fits take a share of the memory that their points take."""

import tracemalloc

import numpy as np
import pytest

from seraph import SERAPH, MeanMetric


@pytest.mark.slow
@pytest.mark.parametrize("learner", [SERAPH(), MeanMetric()], ids=repr)
def test_a_file_is_not_copied(learner, tmp_path):
    n, m = 1_000_000, 64
    X = np.memmap(tmp_path / "points", dtype=np.float64, mode="w+", shape=(n, m))
    rng = np.random.default_rng(0)
    for start in range(0, n, 50_000):
        X[start : start + 50_000] = rng.normal(size=(50_000, m))
    y = np.full(n, -1)
    y[:200] = rng.integers(5, size=200)
    learner.fit(X[:500], y[:500])  # imports
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.3 * 8 * n * m
