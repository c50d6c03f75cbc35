"""What `one_blas_thread` promises, with the libraries of this machine."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from seraph._pairs import BlockPairs, NegativeEntropy, _blocks, sum_over_blocks
from seraph._utils import _threads as module
from seraph._utils._threads import one_blas_thread

SECONDS = 60


class Actor:
    """A thread that enters, leaves and looks when it is told to."""

    def __init__(self):
        self.entered = []
        self.pool = ThreadPoolExecutor(1)

    def does(self, act, *arguments):
        return self.pool.submit(act, *arguments).result(SECONDS)

    def enters(self):
        self.entered.append(one_blas_thread())
        self.does(self.entered[-1].__enter__)

    def leaves(self):
        self.does(self.entered.pop().__exit__, None, None, None)

    def sets(self, libraries, n):
        for library in libraries:
            self.does(library.set_num_threads, n)

    def sees(self, libraries):
        return self.does(lambda: [library.num_threads for library in libraries])


@contextmanager
def actors():
    first, second = Actor(), Actor()
    with first.pool, second.pool:
        yield first, second


def libraries_of(user_api):
    return ThreadpoolController().select(user_api=user_api).lib_controllers


@pytest.mark.parametrize("counts_for_all", [True, False])
def test_threads_have_one_inside_and_what_they_had_after(counts_for_all, monkeypatch):
    """Also with OpenMP, whose numbers count for each thread, as those of some BLAS do."""
    libraries = libraries_of("blas" if counts_for_all else "openmp")
    monkeypatch.setattr(module, "_find_libraries", lambda _: libraries)
    ones = [1] * len(libraries)
    with threadpool_limits(), actors() as (first, second):  # restores all numbers
        first.enters()  # while all numbers may be 1, which does not tell for whom they count
        first.leaves()
        first.sets(libraries, 2)
        second.sets(libraries, 3)
        before = first.sees(libraries), second.sees(libraries)
        second.enters()
        assert second.sees(libraries) == ones
        first.enters()
        assert (first.sees(libraries), second.sees(libraries)) == (ones, ones)
        second.leaves()
        assert first.sees(libraries) == ones
        first.leaves()
        assert (first.sees(libraries), second.sees(libraries)) == before


def test_a_limit_of_the_user_around_that_of_another_thread_holds_and_ends():
    libraries = libraries_of("blas")

    def seen():
        return {library.num_threads for library in libraries}

    with threadpool_limits(2, user_api="blas"), actors() as (other, _):
        with threadpool_limits(3, user_api="blas"):
            other.enters()
            assert set(other.sees(libraries)) == {1}
            other.leaves()
            assert seen() == {3}
        assert seen() == {2}


def test_every_thread_of_a_sum_has_one_thread_of_blas(rng, monkeypatch):
    seen, libraries = {}, libraries_of("blas")

    def watched(*arguments):
        numbers = seen.setdefault(threading.get_ident(), set())
        numbers.update(library.num_threads for library in libraries)
        return add_tasks(*arguments)

    add_tasks = _blocks._add_tasks
    monkeypatch.setattr(_blocks, "_add_tasks", watched)
    monkeypatch.setattr(_blocks, "_THREADED_PAIRS", 0)
    X = rng.normal(size=(200, 3))
    pairs = BlockPairs.make(np.full(200, -1), labeled=False, like=X, n_jobs=2)
    with threadpool_limits(4, user_api="blas"):
        with one_blas_thread():
            sum_over_blocks(X, X, pairs, NegativeEntropy(), 1.0)
        assert {library.num_threads for library in libraries} == {4}
    assert threading.get_ident() not in seen
    assert set.union(*seen.values()) == {1}
