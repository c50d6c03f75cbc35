"""Fits of the classic learners keep to one thread: small matrices gain nothing from more."""

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from seraph import classic
from seraph.classic import MFDA, _mfda
from seraph.classic._learner import ClassicLearner

LEARNERS = [
    learner
    for learner in map(vars(classic).get, classic.__all__)
    if isinstance(learner, type) and issubclass(learner, ClassicLearner)
]


def n_threads(user_api):
    """Return the numbers of threads that the loaded libraries would use now."""
    found = ThreadpoolController().select(user_api=user_api).info()
    assert found
    return {library["num_threads"] for library in found}


@pytest.fixture(autouse=True)
def two_threads():
    """Let every library use two threads, whatever the machine and its variables say."""
    with threadpool_limits(2):
        yield


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.__name__)
def test_a_fit_uses_one_thread_of_blas_and_restores_the_others(rng, monkeypatch, learner):
    seen = []

    def counting(self, *arguments, learn=learner._learn):
        seen.append(n_threads("blas"))
        return learn(self, *arguments)

    monkeypatch.setattr(learner, "_learn", counting)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    assert n_threads("blas") == {2}
    learner().fit(X + y[:, np.newaxis], y)
    assert seen == [{1}]
    assert n_threads("blas") == {2}


def test_a_fit_that_fails_restores_the_threads(rng, monkeypatch):
    def fails(*arguments):
        raise RuntimeError(n_threads("blas"))

    monkeypatch.setattr(MFDA, "_learn", fails)
    with pytest.raises(RuntimeError, match=r"^\{1\}$"):
        MFDA().fit(rng.normal(size=(10, 2)), np.arange(10) % 2)
    assert n_threads("blas") == {2}


@pytest.mark.parametrize(("few", "expected"), [(100, 1), (20, 2)])
def test_few_points_look_for_their_neighbors_in_one_thread(rng, monkeypatch, few, expected):
    seen = []

    class Counting(_mfda.NearestNeighbors):
        def kneighbors(self, *arguments, **named):
            seen.append(n_threads("openmp"))
            return super().kneighbors(*arguments, **named)

    monkeypatch.setattr(_mfda, "NearestNeighbors", Counting)
    monkeypatch.setattr(_mfda, "_POINTS_FOR_THREADS", few)
    MFDA().fit(rng.normal(size=(40, 3)), np.arange(40) % 2)
    assert seen == [{expected}]
    assert n_threads("openmp") == {2}
