import tracemalloc

import numpy as np
import pytest

from seraph._engine import _sampling
from seraph._engine._sampling import sample_pairs


def in_order(pairs):
    """Return an array of the pairs, the smaller row first, sorted."""
    found = np.sort(pairs[:], axis=1)
    return found[np.lexsort([found[:, 1], found[:, 0]])]


def first_new(low, high, known, size, rng):
    """Draw in batches until so many numbers are new, and return those: a plain oracle."""
    found = []
    while len(found) < size:
        for number in rng.randint(low, high, size=size + size // 4 + 8, dtype=np.int64).tolist():
            if number not in found and number not in known:
                found.append(number)
    return sorted(found[:size])


# Of few numbers, most draws repeat one, and the draws of one batch are not enough.
@pytest.mark.parametrize(("high", "size"), [(40, 30), (400, 60), (10**15, 50)])
@pytest.mark.parametrize("room", [1, 20, 1000])
@pytest.mark.parametrize("chunk", [7, 100])  # draws are repeated, or kept
def test_a_sample_has_the_first_new_numbers_drawn(monkeypatch, high, size, room, chunk):
    monkeypatch.setattr(_sampling, "_CHUNK", chunk)
    known = np.array([7, 11, 12])
    one, other = np.random.RandomState(1), np.random.RandomState(1)
    found = np.concatenate([*_sampling._distinct(5, high, known, size, one, room)])
    assert found.tolist() == first_new(5, high, known, size, other)
    assert one.random_sample() == other.random_sample()  # it drew as many numbers


def test_samples_of_another_kind_of_random_numbers():
    rng = np.random.RandomState(np.random.PCG64(3))
    one, other = (sample_pairs(60, 9, np.empty((0, 2), int), 50, rng) for _ in range(2))
    assert len(one) == len(other) == 50
    assert not np.array_equal(one[:], other[:])


@pytest.mark.parametrize("size", [1, 20, 200, 1500])
def test_a_draw_holds_unlabeled_pairs_each_once(rng, size):
    listed = np.array([[50, 3], [40, 41]])
    pairs = in_order(sample_pairs(60, 9, listed, size, np.random.RandomState(0)))
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
    for seed in range(1000):
        found = sample_pairs(12, 4, np.array([[5, 9]]), size, np.random.RandomState(seed))
        i, j = in_order(found).T
        counts[i, j] += 1
    free = np.triu(np.ones((12, 12)), k=1)
    free[:4, :4] = free[5, 9] = 0.0
    expected = 1000 * size / free.sum()
    assert np.all(counts[free == 0] == 0)
    # Four standard deviations of a binomial count.
    assert np.max(np.abs(counts[free == 1] - expected)) < 4.0 * np.sqrt(expected)


# Numbers are drawn for a share of less than 0.2, and coins tossed for a larger one.
SLOW_SHARES = [pytest.param(share, marks=pytest.mark.slow) for share in (0.2, 0.999)]


@pytest.mark.parametrize("share", [0.1, 0.5, *SLOW_SHARES])
def test_a_sample_takes_little_more_memory_than_its_list(share):
    n = 3000
    size = int(share * (n * (n - 1) // 2 - 100 * 99 // 2))
    tracemalloc.start()
    try:
        found = sample_pairs(n, 100, np.array([[7, 2000]]), size, np.random.RandomState(0))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.columns.nbytes == 2 * size
    # What is sorted at a time, and which of the draws were repeats: 10 % at most, 8 bytes each.
    assert peak < 2 * size + 3.5e6 + 0.8 * size * (share < 0.2)
    pairs = in_order(found)
    numbers = pairs @ [n, 1]
    assert len(pairs) == size
    assert np.all(np.diff(numbers) > 0)  # sorted, each once
    assert np.all(pairs[:, 0] < pairs[:, 1])
    assert pairs[:, 1].min() >= 100
    assert not np.any(numbers == 7 * n + 2000)


def test_pairs_of_a_billion_rows_are_numbered_exactly():
    n = 10**9
    found = sample_pairs(n, 1000, np.empty((0, 2), dtype=int), 1000, np.random.RandomState(0))
    pairs = in_order(found)
    assert np.all((pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (pairs[:, 1] < n))
    assert pairs[:, 1].max() > 0.9 * n
