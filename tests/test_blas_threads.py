"""What `one_blas_thread` promises, for libraries that count for all threads or for each."""

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from seraph._pairs import BlockPairs, _blocks, sum_over_blocks
from seraph._utils import _threads as module
from seraph._utils._threads import SharedSetting, one_blas_thread
from seraph._utils._typing import computed_once
from tests.helpers.forks import forks, succeeds_in_a_child

SECONDS = 60
LIMITS = {"blas": one_blas_thread, "openmp": partial(module._one_thread, "openmp")}
PATHS = (f"library {number}" for number in itertools.count())
# Where a library keeps its number of threads.
SCOPES = {"thread": threading.local, "process": SimpleNamespace}


class Library:
    """A library, as threadpoolctl would find it."""

    def __init__(self, scope, n_threads=4, user_api="blas"):
        self.filepath = next(PATHS)
        self.user_api = user_api
        self.n_threads = n_threads  # until another number is set
        self.kept = SCOPES[scope]()
        self.n_set = 0

    @property
    def num_threads(self):
        return getattr(self.kept, "n", self.n_threads)

    def set_num_threads(self, n):
        self.n_set += 1
        self.kept.n = n


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


@pytest.fixture
def loaded(monkeypatch):
    """The libraries that the process has loaded: none yet."""
    libraries = []
    monkeypatch.setattr(module, "_find_libraries", lambda _: list(libraries))
    return libraries


def check_two_threads(libraries, limit):
    with actors(limit) as (first, second):
        first.enters()  # while all numbers may be 1, which does not tell for whom they count
        first.leaves()
        first.sets(libraries, 2)
        second.sets(libraries, 3)
        before = first.sees(libraries), second.sees(libraries)
        ones = [1] * len(libraries)
        second.enters()
        assert second.sees(libraries) == ones
        first.enters()
        assert (first.sees(libraries), second.sees(libraries)) == (ones, ones)
        second.leaves()
        assert first.sees(libraries) == ones
        first.leaves()
        assert (first.sees(libraries), second.sees(libraries)) == before


@pytest.mark.parametrize("user_api", LIMITS)
@pytest.mark.parametrize("n_threads", [1, 4])
@pytest.mark.parametrize("scopes", [["thread"], ["process"], ["process", "thread", "process"]])
def test_threads_have_one_inside_and_what_they_had_after(loaded, scopes, n_threads, user_api):
    loaded += [Library(scope, n_threads, user_api) for scope in scopes]
    check_two_threads(loaded, LIMITS[user_api])


@pytest.mark.parametrize("user_api", LIMITS)
def test_so_it_is_with_the_libraries_of_this_machine(user_api):
    # OpenMP, which scikit-learn has, mostly counts for each thread, and numpy's OpenBLAS for all.
    libraries = ThreadpoolController().select(user_api=user_api).lib_controllers
    with threadpool_limits():  # which restores all numbers
        check_two_threads(libraries, LIMITS[user_api])


def test_who_leaves_first_is_free_at_once_unless_all_threads_have_one_number(loaded):
    loaded += [Library("thread"), Library("process")]
    with actors() as (first, second):
        first.enters()
        second.enters()
        first.leaves()
        assert first.sees(loaded) == [4, 1]
        second.leaves()
        assert first.sees(loaded) == second.sees(loaded) == [4, 4]


@pytest.mark.parametrize("scope", SCOPES)
def test_a_library_that_is_loaded_inside_is_limited_from_the_next_time_on(loaded, scope):
    with one_blas_thread():
        library = Library(scope)
        loaded.append(library)
        assert library.num_threads == 4
        with one_blas_thread():
            assert library.num_threads == 1
        assert library.num_threads == 4
    assert library.num_threads == 4


@pytest.mark.parametrize("scope", SCOPES)
def test_a_library_that_has_one_thread_is_left_alone(loaded, scope):
    loaded.append(Library(scope, n_threads=1))
    with one_blas_thread(), one_blas_thread():
        assert loaded[0].num_threads == 1
    assert loaded[0].n_set == 0


def test_the_user_can_set_limits_in_any_thread_afterwards():
    # From version 3.8 on, threadpoolctl has a guard that one thread holds.
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    with threadpool_limits(), actors() as (first, second):
        first.sets(libraries, 2)
        first.enters()
        first.leaves()
        second.sets(libraries, 3)
        assert set(second.sees(libraries)) == {3}


def test_a_limit_of_the_user_around_that_of_another_thread_holds_and_ends():
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers

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
@pytest.mark.parametrize("scope", SCOPES)
def test_a_child_has_the_limit_of_the_thread_that_forked_and_no_other(loaded, scope):
    loaded.append(Library(scope))

    def limits_and_restores():
        numbers = [loaded[0].num_threads]
        with one_blas_thread():
            numbers.append(loaded[0].num_threads)
        return [*numbers, loaded[0].num_threads] == [4, 1, 4]

    with actors() as (other, _):
        other.enters()
        assert succeeds_in_a_child(limits_and_restores)
        with one_blas_thread():
            assert succeeds_in_a_child(lambda: loaded[0].num_threads == 1)
        other.leaves()
    assert loaded[0].num_threads == 4


@pytest.mark.parametrize("scope", SCOPES)
def test_every_thread_of_a_sum_has_one_thread_of_blas(rng, loaded, monkeypatch, scope):
    loaded.append(Library(scope))
    seen = {}

    def watched(*arguments):
        seen.setdefault(threading.get_ident(), set()).add(loaded[0].num_threads)
        return add_tasks(*arguments)

    add_tasks = _blocks._add_tasks
    monkeypatch.setattr(_blocks, "_add_tasks", watched)
    monkeypatch.setattr(_blocks, "_THREADED_PAIRS", 0)
    X = rng.normal(size=(200, 3))
    pairs = BlockPairs.make(np.full(200, -1), "entropy", None, like=X, n_jobs=2)
    with one_blas_thread():
        sum_over_blocks(X, X, pairs, 1.0)
    assert threading.get_ident() not in seen
    assert set.union(*seen.values()) == {1}
    assert loaded[0].num_threads == 4


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
