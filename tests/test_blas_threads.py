"""What `one_blas_thread` promises, with the libraries of this machine.

OpenMP, which scikit-learn has, mostly counts for each thread, and numpy's OpenBLAS for all.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from seraph._pairs import BlockPairs, NegativeEntropy, _blocks, sum_over_blocks
from seraph._utils import _threads as module
from seraph._utils._threads import SharedSetting, one_blas_thread
from seraph._utils._typing import computed_once
from tests.helpers.forks import forks, succeeds_in_a_child

SECONDS = 60
LIMITS = {"blas": one_blas_thread, "openmp": partial(module._one_thread, "openmp")}


class Actor:
    """A thread that enters, leaves and looks when it is told to."""

    def __init__(self, limit):
        self.limit = limit
        self.entered = []
        self.pool = ThreadPoolExecutor(1)

    def does(self, act, *arguments):
        return self.pool.submit(act, *arguments).result(SECONDS)

    def enters(self):
        self.entered.append(self.limit())
        self.does(self.entered[-1].__enter__)

    def leaves(self):
        self.does(self.entered.pop().__exit__, None, None, None)

    def sets(self, libraries, n):
        for library in libraries:
            self.does(library.set_num_threads, n)

    def sees(self, libraries):
        return self.does(lambda: [library.num_threads for library in libraries])


@contextmanager
def actors(limit=one_blas_thread):
    first, second = Actor(limit), Actor(limit)
    with first.pool, second.pool:
        yield first, second


def libraries_of(user_api):
    return ThreadpoolController().select(user_api=user_api).lib_controllers


@pytest.mark.parametrize("user_api", LIMITS)
def test_threads_have_one_inside_and_what_they_had_after(user_api):
    libraries = libraries_of(user_api)
    ones = [1] * len(libraries)
    with threadpool_limits(), actors(LIMITS[user_api]) as (first, second):  # restores all numbers
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


@forks
def test_a_child_has_the_limit_of_the_thread_that_forked_and_no_other():
    libraries = libraries_of("blas")

    def numbers():
        return {library.num_threads for library in libraries}

    def limits_and_restores():
        before = numbers()
        with one_blas_thread():
            inside = numbers()
        return (before, inside, numbers()) == ({4}, {1}, {4})

    with threadpool_limits(4, user_api="blas"), actors() as (other, _):
        other.enters()
        assert succeeds_in_a_child(limits_and_restores)
        with one_blas_thread():
            assert succeeds_in_a_child(lambda: numbers() == {1})
        other.leaves()
        assert numbers() == {4}


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


# Forks while another thread holds a lock, or computes a property


@forks
def test_a_child_does_not_inherit_a_lock_that_another_thread_holds():
    changing, go_on = threading.Event(), threading.Event()

    def change():
        changing.set()
        go_on.wait(SECONDS)
        return lambda: None

    setting = SharedSetting(change)

    def enter():
        with setting:
            return True

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(enter)
        assert changing.wait(SECONDS)  # now the other thread has the lock
        threading.Timer(0.1, go_on.set).start()
        assert succeeds_in_a_child(enter)
        assert other.result(SECONDS)


@forks
def test_a_property_that_another_thread_computes_keeps_no_child_waiting():
    computing, go_on = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, wait):
            self.wait = wait

        @computed_once
        def value(self):
            computing.set()
            return go_on.wait(SECONDS) if self.wait else True

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(lambda: Slow(wait=True).value)
        assert computing.wait(SECONDS)
        try:
            assert Slow(wait=False).value  # nor another thread
            assert succeeds_in_a_child(lambda: Slow(wait=False).value)
        finally:
            go_on.set()
        assert other.result(SECONDS)
