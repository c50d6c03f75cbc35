"""How SERAPH is used: pairs, scores, warm starts, ranks."""

import pickle

import numpy as np
import pytest
import torch

from seraph import SERAPH, Marks
from seraph.metrics import pair_auc


@pytest.fixture(scope="module")
def learner(wine):
    return SERAPH().fit(*wine[:2])


def test_attributes_after_fit(wine, learner):
    rank = len(learner.components_)
    assert learner.components_.shape == (rank, 13)
    assert rank == np.linalg.matrix_rank(learner.get_mahalanobis_matrix()) < 13
    assert learner.converged_
    assert 0 <= learner.optimality_gap_ <= learner.tol
    assert learner.n_features_in_ == 13
    assert not hasattr(learner, "feature_names_in_")
    P = learner.components_
    lengths = np.linalg.norm(P, axis=1)
    assert np.all(np.diff(lengths) <= 0)
    np.testing.assert_allclose(P @ P.T, np.diag(lengths**2), atol=1e-9 * lengths[0] ** 2)
    assert np.all(P[np.arange(rank), np.abs(P).argmax(axis=1)] > 0)


def test_pair_methods_agree_on_the_distance(wine, learner):
    X = wine[0]
    rows = np.array([[0, 1], [5, 60], [3, 3]])
    Z = learner.transform(X)
    d = np.linalg.norm(Z[rows[:, 0]] - Z[rows[:, 1]], axis=1)
    np.testing.assert_allclose(learner.pair_distance(X[rows]), d)
    np.testing.assert_allclose(learner.pair_distance(rows, X), d)
    metric = pickle.loads(pickle.dumps(learner.get_metric()))
    np.testing.assert_allclose([metric(a, b) for a, b in X[rows]], d)
    apart = X[5] - X[60]
    assert apart @ learner.get_mahalanobis_matrix() @ apart == pytest.approx(d[1] ** 2)
    assert learner.pair_distance(np.empty((0, 2, 13))).shape == (0,)
    with pytest.raises(ValueError, match=r"\(n_pairs, 2, 13\).*got \(1, 2\)"):
        learner.pair_distance([[0, 1]])


def test_the_score_is_the_auc_of_the_labeled_pairs(wine, learner):
    X, y_partial, y = wine
    assert learner.score(X, y) == pytest.approx(pair_auc(learner.transform(X), y))
    assert learner.score(torch.as_tensor(X), y) == pytest.approx(learner.score(X, y))
    known = np.flatnonzero(y_partial >= 0)
    i, j = known[np.array(np.triu_indices(15, 1))]
    marks = Marks(np.c_[i, j], y[i] == y[j], rows=X)
    assert learner.score(X, marks=marks) == pytest.approx(learner.score(X, y_partial))


def test_warm_start_goes_on_from_the_last_metric(digits):
    X, y_partial, _ = digits
    cold = SERAPH(tol=1e-5).fit(X, y_partial)
    warm = SERAPH(tol=1e-5, warm_start=True).fit(X, y_partial)
    first = warm.n_iter_
    assert warm.fit(X, y_partial).n_iter_ < first / 3
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-6)
    warm.fit(X[:, :40], y_partial)  # another number of features: a new start
    assert warm.n_features_in_ == 40
