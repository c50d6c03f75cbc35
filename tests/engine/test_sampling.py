import tracemalloc

import numpy as np
import pytest

from seraph._engine._sampling import sample_pairs


@pytest.mark.parametrize("size", [1, 20, 200, 1500])
def test_a_draw_holds_unlabeled_pairs_each_once(rng, size):
    listed = np.array([[50, 3], [40, 41]])
    pairs = sample_pairs(60, 9, listed, size, np.random.RandomState(0))
    assert pairs.shape == (size, 2)
    assert len(np.unique(pairs, axis=0)) == size
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert np.all(pairs[:, 1] >= 9)
    assert pairs.max() < 60
    assert not {(3, 50), (40, 41)} & {tuple(pair) for pair in pairs.tolist()}
    assert np.all(np.diff(pairs[:, 0]) >= 0)


@pytest.mark.parametrize("size", [6, 30, 55])
def test_every_pair_is_as_likely_as_any_other(size):
    counts = np.zeros((12, 12))
    for seed in range(3000):
        i, j = sample_pairs(12, 4, np.array([[5, 9]]), size, np.random.RandomState(seed)).T
        counts[i, j] += 1
    free = np.triu(np.ones((12, 12)), k=1)
    free[:4, :4] = free[5, 9] = 0.0
    expected = 3000 * size / free.sum()
    assert np.all(counts[free == 0] == 0)
    # Four standard deviations of a binomial count.
    assert np.max(np.abs(counts[free == 1] - expected)) < 4.0 * np.sqrt(expected)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.999])
def test_a_large_share_takes_little_more_memory_than_its_pairs(share):
    n = 3000
    size = int(share * (n * (n - 1) // 2 - 100 * 99 // 2))
    tracemalloc.start()
    try:
        pairs = sample_pairs(n, 100, np.array([[7, 2000]]), size, np.random.RandomState(0))
        assert tracemalloc.get_traced_memory()[1] < pairs.nbytes + 2**25
    finally:
        tracemalloc.stop()
    numbers = pairs @ [n, 1]
    assert len(pairs) == size
    assert np.all(np.diff(numbers) > 0)  # sorted, each once
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert pairs[:, 1].min() >= 100
    assert not np.any(numbers == 7 * n + 2000)


def test_pairs_of_a_billion_rows_are_numbered_exactly():
    n = 10**9
    pairs = sample_pairs(n, 1000, np.empty((0, 2), dtype=int), 1000, np.random.RandomState(0))
    assert np.all((pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < n))
    assert pairs[:, 1].max() > 0.9 * n
