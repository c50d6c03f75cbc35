"""Rows to label next."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MetricClassifier, PairClassifier, query_rows
from seraph.classic import Euclidean

X, Y = load_digits(return_X_y=True)
X, Y = X[:500] / 16, Y[:500]


def test_rows_come_from_regions_without_a_label():
    rng = np.random.default_rng(0)
    where = np.repeat(np.eye(5) * 20, [30, 25, 20, 15, 10], axis=0)
    points = where + rng.normal(size=where.shape)
    region = np.repeat(np.arange(5), [30, 25, 20, 15, 10])
    y = np.full(100, -1)
    y[[0, 99]] = [0, 1]
    rows = query_rows(Euclidean().fit(points), points, 3, y=y)
    assert region[rows].tolist() == [1, 2, 3]


def test_labeled_rows_are_not_asked_and_none_twice():
    y = np.where(np.arange(500) < 20, Y, -1)
    learner = SERAPH().fit(X, y)
    rows = query_rows(learner, X, 40, y=y, random_state=0)
    assert len(set(rows)) == 40
    assert (y[rows] == -1).all()
    np.testing.assert_array_equal(query_rows(learner, X, 40, y=y, random_state=0), rows)


def test_pipelines_and_classifiers_are_asked_like_their_learner():
    y = np.where(np.arange(500) < 60, Y, -1)
    pipeline = make_pipeline(StandardScaler(), Euclidean()).fit(X, y)
    expected = query_rows(pipeline[-1], pipeline[0].transform(X), 5, y=y, random_state=0)
    np.testing.assert_array_equal(query_rows(pipeline, X, 5, y=y, random_state=0), expected)
    decider = PairClassifier(pipeline, cv="prefit").fit(X, y)
    np.testing.assert_array_equal(query_rows(decider, X, 5, y=y, random_state=0), expected)
    with pytest.raises(NotFittedError):
        query_rows(PairClassifier(), X, 5)


def test_points_that_coincide_are_filled_up():
    points = np.ones((10, 2))
    assert len(set(query_rows(Euclidean().fit(points), points, 4, y=[0] + [-1] * 9))) == 4


def test_fewer_rows_than_wanted_warn():
    learner = Euclidean().fit(X[:5])
    with pytest.warns(UserWarning, match="Only 2 of 3 rows are left"):
        assert len(query_rows(learner, X[:5], 3, y=[0, 1, 2, -1, -1])) == 2
    with pytest.warns(UserWarning, match="Only 0 of 3 rows are left"):
        assert len(query_rows(learner, X[:5], 3, y=[0, 1, 2, 1, 1])) == 0


def test_bad_questions_are_refused():
    learner = Euclidean().fit(X[:5])
    with pytest.raises(ValueError, match="n must be"):
        query_rows(learner, X[:5], 0)
    with pytest.raises(ValueError, match="y has 4 labels and X has 5 rows"):
        query_rows(learner, X[:5], 1, y=[0] * 4)
    with pytest.raises(ValueError, match="random_state"):
        query_rows(learner, X[:5], 1, random_state="now")


@pytest.mark.slow
def test_chosen_rows_teach_more_than_random_ones():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        start = rng.permutation(500)[:20]
        y = np.where(np.isin(np.arange(500), start), Y, -1)
        chosen = query_rows(SERAPH().fit(X, y), X, 20, y=y, random_state=0)
        free = rng.permutation(np.flatnonzero(y < 0))[:20]
        both = []
        for rows in (chosen, free):
            known = y.copy()
            known[rows] = Y[rows]
            model = MetricClassifier(SERAPH()).fit(X, known)
            both.append(np.mean(model.predict(X) != Y))
        errors.append(both)
    assert np.mean(errors, axis=0)[0] < np.mean(errors, axis=0)[1]
