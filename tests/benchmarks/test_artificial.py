"""The artificial sets of figures 1 and 2, where a few labels mislead."""

from math import comb

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from benchmarks.paper._artificial import make_posterior_sparsity, make_projection_sparsity
from seraph import SERAPH

GENERATORS = [make_posterior_sparsity, make_projection_sparsity]
SEEDS = range(5)


def nn_error(X, y, y_partial, learner=None):
    """1-NN error on all points, with the four labeled ones as neighbors."""
    Z = X if learner is None else learner.transform(X)
    known = np.flatnonzero(y_partial >= 0)
    squared = ((Z[:, np.newaxis] - Z[known]) ** 2).sum(axis=-1)
    return np.mean(y[known][squared.argmin(axis=1)] != y)


@pytest.mark.parametrize("make", GENERATORS)
def test_an_artificial_set_depends_on_its_seed_alone_and_reveals_two_labels_of_each_class(make):
    X, y, y_partial = make(50, random_state=3)
    assert np.bincount(y_partial[y_partial >= 0]).tolist() == [2, 2]
    np.testing.assert_array_equal(y_partial[y_partial >= 0], y[y_partial >= 0])
    for one, two in zip((X, y, y_partial), make(50, random_state=3), strict=True):
        np.testing.assert_array_equal(one, two)
    assert not np.array_equal(X, make(50, random_state=4)[0])


@pytest.mark.parametrize("make", GENERATORS)
def test_the_horizontal_feature_separates_the_classes_of_an_artificial_set(make):
    X, y, _ = make(10_000, random_state=0)
    np.testing.assert_array_equal(y, X[:, 0] > 0)
    assert abs(np.corrcoef(X[:, 1], y)[0, 1]) < 0.05


@pytest.mark.slow
def test_posterior_sparsity_corrects_a_metric_that_looks_at_the_height():
    n_labeled = comb(4, 2)
    mu = 10 * n_labeled / (comb(200, 2) - n_labeled)
    errors = []
    for seed in SEEDS:
        X, y, y_partial = make_posterior_sparsity(random_state=seed)
        learners = [SERAPH(mu=m, lam=0.0, solver="projected-gradient") for m in (0.0, mu)]
        with pytest.warns(ConvergenceWarning):  # 200 steps, as in the paper, and lam = 0
            without, with_it = (learner.fit(X, y_partial) for learner in learners)
        horizontal, vertical = np.diag(without.get_mahalanobis_matrix())
        assert vertical > 10 * horizontal
        horizontal, vertical = np.diag(with_it.get_mahalanobis_matrix())
        assert horizontal > 10 * vertical
        errors.append([nn_error(X, y, y_partial, le) for le in (None, without, with_it)])
    euclidean, without, with_it = np.mean(errors, axis=0)
    assert with_it < 0.02
    assert min(euclidean, without) > 0.15


def test_projection_sparsity_drops_the_useless_feature():
    errors = []
    for seed in SEEDS:
        X, y, y_partial = make_projection_sparsity(random_state=seed)
        with_it = SERAPH(mu=0.0, lam=300.0).fit(X, y_partial)
        assert with_it.components_.shape[0] == 1
        assert abs(with_it.components_[0, 0]) > 5 * abs(with_it.components_[0, 1])
        without = SERAPH(mu=0.0, lam=0.0, solver="projected-gradient").fit(X, y_partial)
        errors.append([nn_error(X, y, y_partial, le) for le in (None, without, with_it)])
    euclidean, without, with_it = np.mean(errors, axis=0)
    assert with_it < 0.02
    assert min(euclidean, without) > 0.1
