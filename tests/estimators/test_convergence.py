"""`converged_` is true if and only if the certificate holds; small problems always get there."""

import warnings

import numpy as np
import pytest

from seraph import seraph_path
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._pairs import PairLabels
from seraph._solvers import optimality_gap
from seraph._sweep import PointsInMemory
from tests.helpers.plain import SERAPH

TOL = 1e-3  # of SERAPH


def small_problem(seed):
    """Make a few points of one to four features in random units, some with random labels."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(8, 30)), int(rng.integers(1, 5))
    X = rng.normal(size=(n, m)) * rng.choice([0.3, 1, 3], size=m)
    n_labeled, y = int(rng.integers(4, n)), np.full(n, -1)
    y[:n_labeled] = rng.integers(0, 3, size=n_labeled)
    return X, y, float(rng.choice([0.1, 1.0, 3.0]))


# In each of these some rows of the best factor are much shorter than others.
@pytest.mark.parametrize("seed", [1, 31, 80, 192, 220, 226, 271, 276, 493])
def test_a_metric_of_full_rank_counts_as_converged_only_where_the_gap_is_small(seed):
    X, y, lam = small_problem(seed)
    learner = SERAPH(lam=lam).fit(X, y)
    assert learner.converged_
    assert learner.optimality_gap_ <= TOL


@pytest.mark.parametrize("seed", range(300, 340))
def test_small_problems_converge(seed):
    X, y, lam = small_problem(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of labels of one kind, and of rank 0
        learner = SERAPH(lam=lam).fit(X, y)
    assert learner.converged_
    assert learner.optimality_gap_ <= TOL


@pytest.mark.parametrize("seed", range(8))
def test_the_metric_vanishes_where_lam_says_it_does(seed):
    rng = np.random.default_rng(1000 + seed)
    X, y = rng.normal(size=(30, 4)), np.r_[rng.integers(0, 2, size=10), np.full(20, -1)]
    lam_max = seraph_path(X, y, mu=0.0, n_lams=2).lam_max
    for factor in (1.001, 1.005, 1.01):
        with pytest.warns(UserWarning, match="rank 0"):
            learner = SERAPH(lam=factor * lam_max, mu=0.0).fit(X, y)
        assert learner.converged_
        assert len(learner.components_) == 0
    learner = SERAPH(lam=0.99 * lam_max, mu=0.0).fit(X, y)
    assert learner.converged_
    assert len(learner.components_) == 1


@pytest.mark.filterwarnings("ignore:.*rank 0")
def test_one_feature_with_a_weak_signal_converges():
    for seed in range(5000, 5150):
        rng = np.random.default_rng(seed)
        y = np.r_[rng.integers(0, 2, size=12), np.full(8, -1)]
        X = rng.normal(size=(20, 1)) + 0.3 * (y == 1)[:, np.newaxis]
        learner = SERAPH().fit(X, y)
        assert learner.converged_, seed
        assert learner.optimality_gap_ <= TOL


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e5, 4.5e5])
def test_in_single_precision_the_gap_is_true_far_from_the_origin(rng, offset):
    X = rng.normal(size=(100, 5))
    y = np.where(np.arange(100) < 20, X[:, 0] > 0, -1)
    X = (X + offset).astype(np.float32)
    learner = SERAPH().fit(X, y)
    points = PointsInMemory(X.astype(np.float64))
    problem = Problem.make(points, PairLabels.make(100, y), Settings(backend="numpy"))
    F = problem.objective("auto")
    P = problem.coordinates.from_features(learner.components_.astype(np.float64))
    assert optimality_gap(P, F.by_metric(P)[1], F.scale) <= 1.1 * TOL
