"""Every warning points to the line of the user's code that led to it."""

import contextlib
import inspect
import types
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from seraph._utils._warnings import warn
from seraph.classic import LMNN

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 2


def next_line() -> int:
    return inspect.currentframe().f_back.f_lineno + 1


def stopped_early() -> LMNN:
    """A learner that warns when it is fitted."""
    return LMNN(max_iter=1, tol=0.0)


def as_if_in_seraph(function):
    """The same function, defined in a module of seraph."""
    module = {"__name__": "seraph._somewhere", "__builtins__": __builtins__, "warn": warn}
    return types.FunctionType(function.__code__, module)


@pytest.fixture
def caught():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def assert_all_point_to(line, caught, n_warnings=1):
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)] * n_warnings


def test_through_a_grid_search(caught):
    search = GridSearchCV(
        make_pipeline(stopped_early(), KNeighborsClassifier()), {"lmnn__n_neighbors": [1, 2]}, cv=2
    )
    line = next_line()
    search.fit(X, Y)
    assert_all_point_to(line, caught, n_warnings=5)  # two settings in two folds, and the best


def test_through_a_with_block(caught):
    def block():
        yield
        warn("at the end")

    managed = contextlib.contextmanager(as_if_in_seraph(block))
    line = next_line()
    with managed():
        pass
    assert_all_point_to(line, caught)


def test_through_a_loop_of_scipy(caught):
    def parabola(x):
        warn("inside")
        return float(x @ x)

    function = as_if_in_seraph(parabola)
    line = next_line()
    minimize(function, np.zeros(1))
    assert caught
    assert_all_point_to(line, caught, n_warnings=len(caught))
