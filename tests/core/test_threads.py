"""Fits in several threads at once: the same bits as one after the other, and nothing is left."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from seraph import SERAPH
from seraph._pairs import _blocks
from tests.helpers.quick import few

SECONDS = 120


def problem(seed):
    """Three Gaussian classes, a tenth of the points labeled; more than one tile."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(3, size=300)
    X = rng.normal(size=(300, 6)) + 2.0 * rng.normal(size=(3, 6))[classes]
    return X, np.where(np.arange(300) < 30, classes, -1)


def at_once(act, arguments):
    with ThreadPoolExecutor(len(arguments)) as pool:
        futures = [pool.submit(act, argument) for argument in arguments]
        return [future.result(timeout=SECONDS) for future in futures]


def blas_threads():
    """Return the number of threads that each library has in this thread."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {pool["filepath"]: pool["num_threads"] for pool in pools}


@pytest.fixture(autouse=True)
def two_blas_threads():
    """A limit that differs from ours, one thread."""
    with threadpool_limits(2, user_api="blas"):
        yield


@pytest.mark.parametrize("n_jobs", few([1, 2], lambda n_jobs: n_jobs == 2))
@pytest.mark.parametrize("library", few(["numpy", "numba"], "numpy".__eq__))
def test_fits_at_once_give_the_bits_of_fits_in_turn(n_jobs, library, monkeypatch):
    monkeypatch.setattr(_blocks, "_THREADED_PAIRS", 0)
    monkeypatch.setattr(_blocks, "_COMPILED_PAIRS", 0 if library == "numba" else np.inf)

    def components(seed):
        return SERAPH(n_jobs=n_jobs).fit(*problem(seed)).components_

    before, seeds = blas_threads(), [0, 0, 0, 1]
    in_turn = [components(seed) for seed in seeds]
    for one, other in zip(in_turn, at_once(components, seeds), strict=True):
        np.testing.assert_array_equal(one, other)
    assert blas_threads().items() >= before.items()  # the first fit may load another library


def test_blas_has_one_thread_while_any_fit_runs():
    seen = []
    learner = SERAPH(callback=lambda state: seen.append(set(blas_threads().values())), tol=0.1)
    at_once(lambda seed: clone(learner).fit(*problem(seed)), range(3))
    assert seen
    assert all(threads == {1} for threads in seen)


@pytest.mark.parametrize("fails", [False, True])
def test_a_fit_leaves_no_thread(fails, monkeypatch):
    monkeypatch.setattr(_blocks, "_THREADED_PAIRS", 0)

    def callback(state):
        if fails:
            raise KeyError

    before = set(threading.enumerate())
    with suppress(KeyError):
        SERAPH(n_jobs=2, callback=callback).fit(*problem(0))
    assert set(threading.enumerate()) == before
