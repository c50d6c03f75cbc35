"""Which rows to ask about next."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, MetricClassifier, PairClassifier, query_rows
from seraph.classic import Euclidean

DIGITS, Y = load_digits(return_X_y=True)
DIGITS, Y = DIGITS[:500] / 16, Y[:500]


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
    learner = Euclidean().fit(DIGITS, y)
    rows = query_rows(learner, DIGITS, 40, y=y, random_state=0)
    assert len(set(rows)) == 40
    assert (y[rows] == -1).all()
    np.testing.assert_array_equal(query_rows(learner, DIGITS, 40, y=y, random_state=0), rows)
    points = np.ones((10, 2))  # points that coincide are filled up
    assert len(set(query_rows(Euclidean().fit(points), points, 4, y=[0] + [-1] * 9))) == 4


def test_pipelines_and_classifiers_are_asked_like_their_learner():
    y = np.where(np.arange(500) < 60, Y, -1)
    pipeline = make_pipeline(StandardScaler(), Euclidean()).fit(DIGITS, y)
    scaled = pipeline[0].transform(DIGITS)
    expected = query_rows(pipeline[-1], scaled, 5, y=y, random_state=0)
    for model in (
        pipeline,
        PairClassifier(FrozenEstimator(pipeline)),
        MetricClassifier(pipeline),
        make_pipeline(StandardScaler(), MetricClassifier(Euclidean())),
    ):
        if model is not pipeline:
            model.fit(DIGITS, y)
        rows = query_rows(model, DIGITS, 5, y=y, random_state=0)
        np.testing.assert_array_equal(rows, expected)
    with pytest.raises(NotFittedError):
        query_rows(PairClassifier(), DIGITS, 5)


def test_fewer_rows_than_wanted_give_a_warning():
    learner = Euclidean().fit(DIGITS[:5])
    for y, n in (([0, 1, 2, -1, -1], 2), ([0, 1, 2, 1, 1], 0)):
        with pytest.warns(UserWarning, match=f"Only {n} of 3 rows are left"):
            assert len(query_rows(learner, DIGITS[:5], 3, y=y)) == n


@pytest.mark.slow
def test_chosen_rows_teach_more_than_random_ones():
    errors = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = np.where(np.isin(np.arange(500), rng.permutation(500)[:20]), Y, -1)
        chosen = query_rows(SERAPH().fit(DIGITS, y), DIGITS, 20, y=y, random_state=0)
        free = rng.permutation(np.flatnonzero(y < 0))[:20]
        for rows in (chosen, free):
            known = y.copy()
            known[rows] = Y[rows]
            model = MetricClassifier(SERAPH()).fit(DIGITS, known)
            errors.append(np.mean(model.predict(DIGITS) != Y))
    assert np.mean(errors[::2]) < np.mean(errors[1::2])
