"""Which pairs and which rows to ask about next."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    Marks,
    MetricClassifier,
    PairClassifier,
    query_pairs,
    query_rows,
)
from seraph.classic import GMML, Euclidean


# Pairs
@pytest.mark.parametrize(
    "model",
    [
        SERAPH(),
        SERAPH(gamma=5.0),
        PairClassifier(GMML(), cv=2, forest=False),
        PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2, forest=False),
    ],
    ids=repr,
)
def test_the_pairs_are_those_that_the_model_is_least_sure_of(wine, model):
    X, y_partial, _ = wine
    if isinstance(model, PairClassifier):
        known = np.flatnonzero(y_partial >= 0)
        pairs = known[np.array(np.triu_indices(len(known), k=1)).T]
        same = y_partial[pairs[:, 0]] == y_partial[pairs[:, 1]]
        model.fit(X, marks=Marks(pairs, same, rows=X))
        doubts = lambda pairs: np.abs(model.pair_distance(pairs, X) - model.threshold_)  # noqa: E731
    else:
        model.fit(X, y_partial)
        doubts = lambda pairs: np.abs(model.pair_proba(pairs, X) - 0.5)  # noqa: E731
    pairs = query_pairs(model, X, 8)
    chosen = doubts(pairs)
    assert chosen[0] == pytest.approx(doubts(np.array(np.triu_indices(len(X), k=1)).T).min())
    assert np.all(np.diff(chosen) >= -1e-9)
    assert len(np.unique(pairs)) == 16
    assert np.all(pairs[:, 0] < pairs[:, 1])


def test_known_pairs_are_not_asked_for(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    first = query_pairs(learner, X, 6)
    again = query_pairs(learner, X, 6, marks=Marks(first[:, ::-1], [1] * 6, rows=X))
    assert not {*map(tuple, first)} & {*map(tuple, again)}
    rest = query_pairs(learner, X, 6, y=np.where(np.arange(len(X)) < 70, 0, -1))
    assert np.all((rest >= 70).any(axis=1))


@pytest.mark.filterwarnings("ignore:The learned distance does not tell")
def test_pairs_are_found_where_all_are_equally_doubtful_and_in_a_sample_of_many_rows(rng):
    points = rng.normal(size=(40, 2))
    marks = Marks(np.arange(40).reshape(-1, 2), [1, 1, -1, -1, -1] * 4, rows=40)
    model = PairClassifier(Euclidean(), cv=2, forest=False).fit(
        points * np.where(np.arange(40) % 10 < 4, 9, 1)[:, None], marks=marks
    )
    assert np.isinf(model.threshold_)
    assert len(np.unique(query_pairs(model, points, 5))) == 10
    y = np.where(np.arange(5000) < 20, np.arange(5000) % 2, -1)
    points = rng.normal(size=(5000, 2)) + np.arange(5000)[:, None] % 2
    learner = SERAPH(mu=0.0).fit(points, y)
    assert np.abs(learner.pair_proba(query_pairs(learner, points, 20), points) - 0.5).max() < 1e-3


def test_a_pipeline_is_asked_like_its_learner(wine):
    X, y_partial, _ = wine
    raw = 7.0 + X * np.arange(1, X.shape[1] + 1)
    model = make_pipeline(StandardScaler(), SERAPH()).fit(raw, y_partial)
    expected = query_pairs(model[-1], model[0].transform(raw), 5)
    np.testing.assert_array_equal(query_pairs(model, raw, 5), expected)


def test_a_distance_without_a_threshold_has_no_doubt(wine):
    X = wine[0]
    with pytest.raises(
        ValueError, match=r"Euclidean has no probabilities.*PairClassifier\(Euclidean\(\)\)"
    ):
        query_pairs(Euclidean().fit(X), X)
    for model in (SERAPH(), PairClassifier(), make_pipeline(StandardScaler(), SERAPH())):
        with pytest.raises(NotFittedError):
            query_pairs(model, X)


def test_fewer_pairs_than_asked_for_give_a_warning(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X.astype(np.float32), y_partial)
    with pytest.warns(UserWarning, match="Only 2 of 10 pairs are left to ask about") as record:
        assert len(query_pairs(learner, X[:5].astype(np.float32))) == 2
    assert [warning.filename for warning in record] == [__file__]
    with pytest.warns(UserWarning, match="Only 0 of"):
        assert query_pairs(learner, X, 1, y=np.zeros(80)).shape == (0, 2)


# Rows

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
