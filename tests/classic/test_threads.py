"""Fits keep to one thread of BLAS: small matrices gain nothing from more."""

import inspect

import numpy as np
import pytest
import scipy.linalg
from sklearn.neighbors import _nca
from threadpoolctl import ThreadpoolController, threadpool_limits

import seraph
from seraph import classic, records
from seraph.classic import NCA, _lbfgs
from seraph.records import _model


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


def everything_with_fit():
    """Return all public classes that have a `fit`, by name; but Euclidean, which only counts."""
    classes = [
        value
        for module in (seraph, classic, records)
        for value in (getattr(module, name) for name in module.__all__)
        if inspect.isclass(value)
        and hasattr(value, "fit")
        and value not in (classic.Euclidean, seraph.TablePreparer)  # they learn nothing
    ]
    return {one.__name__: one for one in classes}


# What learners take eigenvectors, solve and minimize with.
SPIED = [
    *((np.linalg, name) for name in ("eigh", "eigvalsh", "svd", "qr", "solve", "inv")),
    *((np.linalg, name) for name in ("cholesky", "slogdet")),
    *((scipy.linalg, name) for name in ("eigh", "solve", "svd", "qr")),
    (_lbfgs, "minimize"),
    (_nca, "minimize"),
    (_model, "minimize"),
]


def fitted(name, kind):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 4)) + y[:, np.newaxis]
    if name == "DuplicateFinder":
        names = ["".join(letters) for letters in rng.choice(list("abcdefghij"), size=(30, 8))]
        pairs = np.array([(i, i + 30) for i in range(10)] + [(i, i + 31) for i in range(10)])
        records = {"name": names + names, "size": rng.normal(size=60)}
        kind().fit(records).find(pairs, np.arange(20) < 10, precision=0.5)
    elif name in ("MetricClassifier", "PairClassifier"):
        kind(NCA()).fit(X, y)
    else:
        kind().fit(X, X[:, 0] ** 2 if name == "MLKR" else y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", everything_with_fit())
def test_all_that_a_fit_computes_has_one_thread_of_blas(monkeypatch, name):
    libraries = ThreadpoolController().select(user_api="blas")
    seen = {}

    def spy(module, called):
        function = getattr(module, called)

        def counting(*arguments, **named):
            key = f"{module.__name__}.{called}"
            seen.setdefault(key, set()).update(one["num_threads"] for one in libraries.info())
            return function(*arguments, **named)

        monkeypatch.setattr(module, called, counting)

    for module, called in SPIED:
        spy(module, called)
    fitted(name, everything_with_fit()[name])
    assert seen, "this fit computes something else: add it to SPIED"
    assert set.union(*seen.values()) == {1}, seen
    assert n_threads("blas") == {2}
