"""Every estimator, the points and labels that all are tried on, and fits to copy."""

import copy
import inspect
from functools import cache

import numpy as np
import pytest
from sklearn.base import BaseEstimator, is_classifier

import seraph
from seraph import SERAPH, ForestSpace, MetricClassifier, PairClassifier, TablePreparer, classic
from seraph.classic import ITML, LSML, RFD, SCML, Covariance, Euclidean
from tests.helpers.quick import few

ESTIMATORS = [
    value
    for package in (seraph, classic)
    for value in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(value)
    and issubclass(value, BaseEstimator)
    # It learns no distance, from tables and not from points: see tests/tables.
    and value not in (TablePreparer, seraph.MahalanobisLearner)
]
# Arguments that a constructor requires, or that make a fit quick or repeatable.
ARGUMENTS = {
    ForestSpace: {"estimator": SERAPH()},
    LSML: {"random_state": 0},
    SCML: {"random_state": 0},
    MetricClassifier: {"estimator": SERAPH()},
    PairClassifier: {"estimator": SERAPH(mu=0.0, tol=0.01), "cv": 2, "forest": False},
    RFD: {"n_trees": 20},
}
# Those that learn nothing from labels.
UNSUPERVISED = {Covariance, Euclidean}
EVERY = pytest.mark.parametrize("Estimator", ESTIMATORS, ids=lambda Estimator: Estimator.__name__)
# Where much of the code is shared by all, two of them are enough for `make test`.
SAMPLE = {SERAPH, ITML}
SOME = pytest.mark.parametrize(
    "Estimator",
    few(ESTIMATORS, SAMPLE.__contains__),
    ids=lambda Estimator: Estimator.__name__,
)

N, M = 40, 4
Y_ALL = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, M)) + 1.5 * np.eye(3, M)[Y_ALL]
Y = np.where(np.arange(N) < 24, Y_ALL, -1)
NEW = np.random.default_rng(1).normal(size=(7, M))


def make(Estimator, **parameters):
    return Estimator(**ARGUMENTS.get(Estimator, {}) | parameters)


@cache
def fitted_once(Estimator):
    return make(Estimator).fit(X, Y)


def fitted(Estimator, points=X, y=Y):
    if points is X and y is Y:
        return copy.deepcopy(fitted_once(Estimator))
    return make(Estimator).fit(points, y)


def outcome(estimator, points):
    """What the estimator says of some points."""
    if isinstance(estimator, PairClassifier):
        return estimator.predict_proba(np.arange(6).reshape(3, 2), points)
    return (estimator.predict_proba if is_classifier(estimator) else estimator.transform)(points)


@cache
def expected_outcome(Estimator):
    """Of the new points, after a fit of the plain ones."""
    return outcome(fitted(Estimator), NEW)


def assert_untouched(estimator, before):
    """Every attribute is the very object that it was."""
    after = vars(estimator)
    assert set(after) == set(before)
    assert not [name for name in after if after[name] is not before[name]]
