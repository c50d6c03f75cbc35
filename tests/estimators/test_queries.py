"""Which pairs to ask next."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
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
from seraph._estimators._best_pairs import best_pairs
from seraph.classic import GMML, Euclidean
from seraph.metrics._tiles import SquaredDistances

NONE = np.empty((0, 2), dtype=int)


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


# The search


@pytest.mark.parametrize("tile", [1, 7, 64, 1000])
@pytest.mark.parametrize("n", [1, 5, 20])
def test_the_search_finds_what_the_whole_matrix_shows(rng, tile, n):
    scores = rng.normal(size=(60, 60))
    scores = scores + scores.T
    labeled = rng.uniform(size=60) < 0.4
    pairs = rng.permutation(60)[:20].reshape(-1, 2)
    found = best_pairs(lambda a, b: scores[np.ix_(a, b)], n, labeled, pairs, tile=tile)
    np.testing.assert_array_equal(found, plain_greedy(scores, n, labeled, pairs))


def test_the_search_goes_on_when_one_point_is_in_all_the_best_pairs(rng):
    n = 300
    scores = rng.uniform(size=(n, n))
    scores[7] += 100.0  # the best 299 pairs are all of point 7
    scores = np.maximum(scores, scores.T)
    labeled = np.zeros(n, dtype=bool)
    found = best_pairs(lambda a, b: scores[np.ix_(a, b)], 5, labeled, NONE, tile=50)
    np.testing.assert_array_equal(found, plain_greedy(scores, 5, labeled, NONE))


def test_squared_distances_by_tiles(rng):
    Z = rng.normal(size=(20, 3)) + 50.0
    a, b = rng.permutation(20)[:7], rng.permutation(20)[:5]
    np.testing.assert_allclose(
        SquaredDistances(Z)(a, b), cdist(Z[a], Z[b], "sqeuclidean"), atol=1e-9
    )


def test_no_array_of_all_pairs_is_stored(rng):
    n = 4000
    distances = SquaredDistances(rng.normal(size=(n, 2)))
    tracemalloc.start()
    best_pairs(lambda a, b: -distances(a, b), 10, np.zeros(n, dtype=bool), NONE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * n / 4


# The function


@pytest.mark.parametrize("make", [SERAPH, KernelSERAPH, lambda: SERAPH(gamma=5.0)])
def test_entropy_asks_for_the_pairs_that_are_nearest_to_one_half(wine, make):
    X, y_partial, _ = wine
    learner = make().fit(X, y_partial)
    found = query_pairs(learner, X, 8)
    i, j = np.triu_indices(len(X), k=1)
    doubt = np.abs(learner.pair_proba(X[np.c_[i, j]]) - 0.5)
    chosen = np.abs(learner.pair_proba(X[found]) - 0.5)
    assert chosen[0] == pytest.approx(doubt.min(), abs=1e-9)
    assert np.all(np.diff(chosen) >= -1e-9)
    assert len(np.unique(found)) == 16
    assert found.shape == (8, 2)
    assert np.all(found[:, 0] < found[:, 1])


@pytest.mark.slow
def test_gradient_asks_for_the_answers_that_would_change_most(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    found = query_pairs(learner, X, 5, strategy="gradient")

    def length(pair):  # mean length of the gradient of ln p(y) by the metric, over y
        p = learner.pair_proba(pair[np.newaxis])[0]
        d = pair[0] - pair[1]
        by_metric = np.linalg.norm(np.outer(d, d))
        return p * (1 - p) * by_metric + (1 - p) * p * by_metric

    i, j = np.triu_indices(len(X), k=1)
    lengths = np.array([length(X[[a, b]]) for a, b in zip(i, j, strict=True)])
    assert length(X[found[0]]) == pytest.approx(lengths.max())
    assert np.all(np.diff([length(X[pair]) for pair in found]) <= 0)


def test_known_pairs_are_not_asked_for(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    first = query_pairs(learner, X, 6)
    again = query_pairs(learner, X, 6, marks=Marks(first[:, ::-1], [1] * 6, rows=X))
    assert not {*map(tuple, first)} & {*map(tuple, again)}
    everything = np.where(np.arange(len(X)) < 70, 0, -1)
    rest = query_pairs(learner, X, 6, y=everything)
    assert np.all((rest >= 70).any(axis=1))


@pytest.mark.parametrize("learner", [GMML(), SERAPH()], ids=["GMML", "SERAPH"])
@pytest.mark.parametrize("scaled", [False, True])
def test_a_classifier_of_pairs_doubts_what_is_nearest_to_its_threshold(wine, learner, scaled):
    X, _, y = wine
    estimator = make_pipeline(StandardScaler(), learner) if scaled else learner
    model = PairClassifier(estimator, cv=2).fit(X, y)
    found = query_pairs(model, X, 6)
    i, j = np.triu_indices(len(X), k=1)
    distance = model.pair_distance(np.c_[i, j], X)
    nearest = np.abs(distance - model.threshold_).min()
    chosen = np.abs(model.pair_distance(found, X) - model.threshold_)
    assert chosen[0] == pytest.approx(nearest, abs=1e-9)
    assert np.all(np.diff(chosen) >= -1e-9)
    gradient = query_pairs(model, X, 2, strategy="gradient")
    p = model.predict_proba(gradient, X)[:, 1]
    assert np.all((p > 0.01) & (p < 0.99))


def test_a_pipeline_is_asked_like_its_learner(wine):
    X, y_partial, _ = wine
    raw = 7.0 + X * np.arange(1, X.shape[1] + 1)
    model = make_pipeline(StandardScaler(), SERAPH()).fit(raw, y_partial)
    scaled = model[0].transform(raw)
    for strategy in ("entropy", "gradient"):
        np.testing.assert_array_equal(
            query_pairs(model, raw, 5, strategy=strategy),
            query_pairs(model[-1], scaled, 5, strategy=strategy),
        )


def test_a_distance_without_a_threshold_has_no_doubt(wine):
    X = wine[0]
    with pytest.raises(ValueError, match=r"Euclidean cannot say.*PairClassifier\(Euclidean\(\)\)"):
        query_pairs(Euclidean().fit(X), X)
    for model in (SERAPH(), PairClassifier(), make_pipeline(StandardScaler(), SERAPH())):
        with pytest.raises(NotFittedError):
            query_pairs(model, X)


def test_a_model_can_be_asked_about_new_points_and_float32(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X[:50].astype(np.float32), y_partial[:50])
    assert query_pairs(learner, X[50:].astype(np.float32), 3).max() < 30


def test_fewer_pairs_than_asked_for_give_a_warning(wine):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    with pytest.warns(UserWarning, match="Only 2 of 10 pairs are left to ask about") as record:
        assert len(query_pairs(learner, X[:5])) == 2
    assert [warning.filename for warning in record] == [__file__]
    with pytest.warns(UserWarning, match="Only 0 of"):
        assert query_pairs(learner, X, 1, y=np.zeros(80)).shape == (0, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "n must be a finite whole number of at least 1; got 0"),
        ({"strategy": "luck"}, "strategy must be one of 'entropy', 'gradient'; got 'luck'"),
        ({"y": [0, 1]}, "y has 2 labels and X has 80 rows"),
        ({"marks": Marks([[0, 80]], [1], rows=81)}, "about 81 rows, but X has 80"),
    ],
    ids=str,
)
def test_bad_arguments(wine, arguments, message):
    X, y_partial, _ = wine
    learner = SERAPH().fit(X, y_partial)
    with pytest.raises(ValueError, match=message):
        query_pairs(learner, X, **arguments)


# What it is good for


def held_out_auc(learner, X, y):
    """How well distances of new points tell pairs of one class from others."""
    i, j = np.triu_indices(len(X), k=1)
    return roc_auc_score(y[i] == y[j], -pdist(learner.transform(X)))


def after_20_answers(X, y, n_labels, n_pool, n_test, seed):
    """Held-out AUC after 20 pairs more: random ones, and those of both strategies."""
    rng = np.random.default_rng(seed)
    pool, test = np.split(rng.permutation(len(X))[: n_pool + n_test], [n_pool])
    X_pool, y_pool = X[pool], y[pool]
    y_partial = np.where(np.arange(n_pool) < n_labels, y_pool, -1)
    learner = SERAPH().fit(X_pool, y_partial)
    i, j = np.triu_indices(n_pool, k=1)
    unknown = np.c_[i, j][j >= n_labels]
    questions = [
        rng.permutation(unknown)[:20],
        query_pairs(learner, X_pool, 20, y=y_partial),
        query_pairs(learner, X_pool, 20, strategy="gradient", y=y_partial),
    ]
    scores = []
    for pairs in questions:
        answers = y_pool[pairs[:, 0]] == y_pool[pairs[:, 1]]
        taught = SERAPH().fit(X_pool, y_partial, marks=Marks(pairs, answers, rows=X_pool))
        scores.append(held_out_auc(taught, X[test], y[test]))
    return scores


@pytest.mark.parametrize("n_tasks", [4, pytest.param(10, marks=pytest.mark.slow)])
def test_20_queries_beat_20_random_pairs_on_wine(n_tasks):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = [after_20_answers(X, y, 10, 100, 78, seed) for seed in range(n_tasks)]
    at_random, entropy, gradient = np.mean(scores, axis=0)
    assert entropy > at_random + 0.003
    assert gradient > at_random + 0.003


def test_unsure_rows_are_those_whose_class_is_least_probable(wine):
    X, y_partial, _ = wine
    classifier = MetricClassifier(SERAPH()).fit(X, y_partial)
    best = classifier.predict_proba(X).max(axis=1)
    rows = query_rows(classifier, X, 5, y=y_partial, strategy="unsure")
    assert (y_partial[rows] == -1).all()
    np.testing.assert_array_equal(rows, [r for r in best.argsort() if y_partial[r] < 0][:5])
    typical = query_rows(classifier, X, 5, y=y_partial, random_state=0)
    same = query_rows(classifier.estimator_, X, 5, y=y_partial, random_state=0)
    np.testing.assert_array_equal(typical, same)
    with pytest.raises(ValueError, match=r"needs class probabilities; got a SERAPH: fit a Metric"):
        query_rows(classifier.estimator_, X, 5, strategy="unsure")


@pytest.mark.parametrize("strategy", ["typical", "unsure"])
def test_a_scaler_before_a_classifier_asks_like_one_inside_it(wine, strategy):
    X, y_partial, _ = wine
    before = make_pipeline(StandardScaler(), MetricClassifier(SERAPH())).fit(X, y_partial)
    inside = MetricClassifier(make_pipeline(StandardScaler(), SERAPH())).fit(X, y_partial)
    options = {"y": y_partial, "strategy": strategy, "random_state": 0}
    asked = query_rows(inside, X, 5, **options)
    np.testing.assert_array_equal(query_rows(before, X, 5, **options), asked)
