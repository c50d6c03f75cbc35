"""Which pairs and which rows to ask about next."""

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    KernelSERAPH,
    Marks,
    MetricClassifier,
    PairClassifier,
    query_pairs,
    query_rows,
)
from seraph._decide._queries import best_pairs
from seraph.classic import GMML, Euclidean
from seraph.metrics._tiles import SquaredDistances

NONE = np.empty((0, 2), dtype=int)


# The search


def plain_greedy(scores, n, labeled, pairs):
    """The greedy rule on the whole matrix of scores."""
    scores = np.array(scores, dtype=float)
    scores[np.tril_indices(len(scores))] = -np.inf
    scores[np.outer(labeled, labeled)] = -np.inf
    for i, j in np.sort(pairs, axis=1):
        scores[i, j] = -np.inf
    chosen = []
    while len(chosen) < n and np.isfinite(scores).any():
        i, j = np.unravel_index(np.argmax(scores), scores.shape)
        chosen.append((i, j))
        scores[[i, j]] = -np.inf
        scores[:, [i, j]] = -np.inf
    return np.array(chosen).reshape(-1, 2)


@pytest.mark.parametrize(("tile", "n"), [(1, 5), (7, 1), (7, 20), (64, 5), (1000, 20)])
def test_the_search_finds_what_the_whole_matrix_shows(rng, tile, n):
    scores = rng.normal(size=(60, 60))
    scores = scores + scores.T
    labeled = rng.uniform(size=60) < 0.4
    pairs = rng.permutation(60)[:20].reshape(-1, 2)
    chosen = best_pairs(lambda a, b: scores[np.ix_(a, b)], n, labeled, pairs, tile=tile)
    np.testing.assert_array_equal(chosen, plain_greedy(scores, n, labeled, pairs))


def test_the_search_goes_on_when_one_point_is_in_all_the_best_pairs(rng):
    n = 300
    scores = rng.uniform(size=(n, n))
    scores[7] += 100.0  # the best 299 pairs are all of point 7
    scores = np.maximum(scores, scores.T)
    labeled = np.zeros(n, dtype=bool)
    chosen = best_pairs(lambda a, b: scores[np.ix_(a, b)], 5, labeled, NONE, tile=50)
    np.testing.assert_array_equal(chosen, plain_greedy(scores, 5, labeled, NONE))


def test_pairs_of_equal_scores_are_found_in_few_searches():
    calls = []

    def equal(a, b):
        calls.append(len(a))
        return np.zeros((len(a), len(b)))

    assert len(np.unique(best_pairs(equal, 100, np.zeros(400, dtype=bool), NONE))) == 200
    assert len(calls) <= 3


def test_no_array_of_all_pairs_is_stored(rng):
    n = 4000
    distances = SquaredDistances(rng.normal(size=(n, 2)))
    tracemalloc.start()
    best_pairs(lambda a, b: -distances(a, b), 10, np.zeros(n, dtype=bool), NONE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 4


# Pairs


@pytest.mark.parametrize(
    "model",
    [
        SERAPH(),
        KernelSERAPH(),
        SERAPH(gamma=5.0),
        PairClassifier(GMML(), cv=2),
        PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2),
    ],
    ids=repr,
)
def test_the_pairs_are_those_that_the_model_is_least_sure_of(wine, model):
    X, y_partial, _ = wine
    if isinstance(model, PairClassifier):
        model.fit(X, marks=Marks.from_classes(y_partial, rows=X))
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


def test_a_pipeline_is_asked_like_its_learner(wine):
    X, y_partial, _ = wine
    raw = 7.0 + X * np.arange(1, X.shape[1] + 1)
    model = make_pipeline(StandardScaler(), SERAPH()).fit(raw, y_partial)
    expected = query_pairs(model[-1], model[0].transform(raw), 5)
    np.testing.assert_array_equal(query_pairs(model, raw, 5), expected)


def test_a_distance_without_a_threshold_has_no_doubt(wine):
    X = wine[0]
    with pytest.raises(ValueError, match=r"Euclidean cannot say.*PairClassifier\(Euclidean\(\)\)"):
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
        PairClassifier(pipeline, cv="prefit"),
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


@pytest.mark.parametrize(
    ("ask", "arguments", "message"),
    [
        (query_pairs, {"n": 0}, "n must be a finite whole number of at least 1; got 0"),
        (query_pairs, {"y": [0, 1]}, "y has 2 labels and X has 80 rows"),
        (query_pairs, {"marks": Marks([[0, 80]], [1], rows=81)}, "about 81 rows, but X has 80"),
        (query_rows, {"n": 0}, "n must be"),
        (query_rows, {"y": [0] * 4}, "y has 4 labels and X has 80 rows"),
        (query_rows, {"random_state": "now"}, "random_state"),
    ],
)
def test_bad_questions_are_refused(wine, ask, arguments, message):
    learner = SERAPH(mu=0.0).fit(*wine[:2])
    with pytest.raises(ValueError, match=message):
        ask(learner, wine[0], **arguments)


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
