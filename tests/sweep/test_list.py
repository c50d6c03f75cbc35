"""Lists of pairs in little memory."""

import numpy as np
import pytest

from seraph._sweep import (
    NumpySweep,
    PairList,
    PairTerms,
    Posterior,
    Sample,
    _numpy,
    _torch,
    index_type,
)

PAIRS = np.array([[0, 3], [0, 1], [2, 9], [2, 4], [2, 0], [7, 8], [9, 1]])


def test_a_list_has_the_pairs_it_was_made_of():
    listed = PairList.of(PAIRS)
    assert len(listed) == len(PAIRS)
    for start in range(len(PAIRS) + 1):
        for stop in range(start, len(PAIRS) + 2):
            np.testing.assert_array_equal(listed[start:stop], PAIRS[start:stop])


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
def test_every_so_many_pairs_are_a_list_too(step):
    some = PairList.of(PAIRS).every(step)
    np.testing.assert_array_equal(some[:], PAIRS[::step])
    np.testing.assert_array_equal(some[1:3], PAIRS[::step][1:3])


def test_no_pairs_are_a_list():
    nothing = PairList.of(np.empty((0, 2), dtype=int))
    assert len(nothing) == 0
    assert nothing[:].shape == (0, 2)


def test_a_row_takes_the_smallest_type_that_numbers_all():
    assert [index_type(n) for n in (1 << 16, (1 << 16) + 1, (1 << 32) + 1)] == [
        np.uint16,
        np.uint32,
        np.int64,
    ]


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_sum_over_a_list_does_not_depend_on_its_chunks(rng, monkeypatch, wrt, n_jobs):
    X, P = rng.normal(size=(50, 4)), rng.normal(size=(2, 4))
    pairs = np.argwhere(rng.uniform(size=(50, 50)) < 0.3)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    sample = Sample(PairList.of(pairs), 2.0)
    terms = PairTerms(np.empty(0, dtype=int), mu=0.1, sample=sample)
    value, gradient = NumpySweep(X)(P, terms, wrt)
    monkeypatch.setattr(_numpy, "_SPARSE_PAIRS", 17)
    monkeypatch.setattr(_numpy, "_SPARSE_PER_ROW", 0)
    monkeypatch.setattr(_numpy, "_SPARSE_SHAPE", (2, 3))
    other, same = NumpySweep(X, n_jobs=n_jobs)(P, terms, wrt)
    assert other == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(same, gradient, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("wrt", ["metric", "factor", "threshold"])
@pytest.mark.parametrize("q", [None, Posterior(), Posterior(np.eye(3, 4))], ids=str)
def test_a_device_gathers_the_pairs_that_numpy_sums_by_a_sparse_matrix(rng, monkeypatch, wrt, q):
    monkeypatch.setattr(_torch, "_LISTS_BY_NUMPY", ())  # as on a GPU
    monkeypatch.setattr(_torch._TorchPass, "gathered_numbers", 50)
    X, P = rng.normal(size=(50, 4)), rng.normal(size=(2, 4))
    pairs = np.argwhere(np.triu(rng.uniform(size=(50, 50)) < 0.3, 1))
    sample = Sample(PairList.of(pairs[::2]), 2.0)
    similar, weights = rng.uniform(size=(2, len(pairs[1::2])))
    terms = PairTerms(
        np.empty(0, dtype=int), pairs[1::2], similar, 1.0, 0.1, q, sample, weights=weights
    )
    value, gradient = NumpySweep(X)(P, terms, wrt)
    other, same = _torch.TorchSweep(X, "cpu")(P, terms, wrt)
    assert other == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(same, gradient, rtol=1e-11, atol=1e-12)
