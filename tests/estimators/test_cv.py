"""SERAPHCV: weights chosen on held-out labeled pairs."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from seraph._estimators import _cv
from seraph._estimators._cv import _choose
from sklearn.datasets import load_breast_cancer, load_wine

import seraph
from seraph import SERAPHCV, Marks
from seraph._decide._folds import assign_folds
from seraph._marks import PairLabels
from seraph._utils._graph import neighbor_graph
from tests.helpers.oracle import log_likelihood
from tests.helpers.plain import SERAPH


@pytest.fixture(scope="module")
def some_wine():
    """Wine in z-scores, 30 of 100 points labeled."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    order = np.random.default_rng(0).permutation(len(X))[:100]
    return X[order], np.where(np.arange(100) < 30, y[order], -1), y[order]


def pairs_of(labels):
    """{(i, j): similar} with i < j, from the classes and the marked pairs."""
    rows = np.flatnonzero(labels.codes >= 0)
    known = {
        (i, j): labels.codes[i] == labels.codes[j]
        for n, i in enumerate(rows.tolist())
        for j in rows[n + 1 :].tolist()
    }
    known |= {tuple(p): s for p, s in zip(labels.pairs.tolist(), labels.similar, strict=True)}
    return known


# Folds


def test_classes_are_spread_over_the_folds_and_unlabeled_points_are_in_none():
    codes = np.r_[np.repeat([0, 1, 2], [20, 15, 11]), np.full(30, -1)]
    y = np.random.default_rng(0).permutation(codes)
    for rng in (None, np.random.RandomState(0)):
        fold = assign_folds(PairLabels.make(len(y), y), 5, rng)
        assert set(fold) == {-1, 0, 1, 2, 3, 4}
        np.testing.assert_array_equal(fold < 0, y < 0)
        for code in range(3):
            counts = np.bincount(fold[y == code], minlength=5)
            assert np.ptp(counts) <= 1
        assert np.ptp(np.bincount(fold[fold >= 0])) <= 1


@pytest.mark.filterwarnings("ignore")  # of few iterations
@pytest.mark.parametrize("weights", [{}, {"mu": 1e-3}, {"manifold": 1e-3}])
def test_folds_learn_from_some_of_many_unlabeled_points(monkeypatch, weights, rng):
    y = rng.permutation(np.r_[np.repeat([0, 1], 20), np.full(560, -1)])
    X = y[:, None] + rng.normal(size=(600, 2))
    seen = []

    def learn(points, labels, settings, *, is_trial=False, **rest):
        seen.append((is_trial, np.asarray(points.array), labels.codes))
        return found(points, labels, settings, is_trial=is_trial, **rest)

    found = _cv.learn
    monkeypatch.setattr(_cv, "learn", learn)
    SERAPHCV(SERAPH(max_iter=3, **weights), lam_factors=(1.0,), cv=4).fit(X, y)
    trials = [(points, codes) for is_trial, points, codes in seen if is_trial]
    assert len(trials) == 4
    for _, codes in trials:
        # A weight that the user chose counts by the number of points: then all stay.
        assert np.sum(codes < 0) == (560 if weights else 400)
        assert np.sum(codes >= 0) == 30
    # The same ones for every fold, at random, and the last fit sees all.
    rows = [{tuple(x) for x in points[codes < 0]} for points, codes in trials]
    assert all(row == rows[0] for row in rows)
    assert len(seen[-1][1]) == 600


def test_small_classes_mean_fewer_folds_so_that_similar_pairs_are_held_out():
    fold = assign_folds(PairLabels.make(9, [0, 0, 0, 0, 1, 1, 1, -1, -1]), 5)
    assert fold.max() == 1
    assert np.sum((fold == 0)[:4]) == 2


def test_marked_points_stay_with_those_they_are_marked_with():
    pairs = np.arange(40).reshape(-1, 2)
    fold = assign_folds(PairLabels.make(50, None, Marks(pairs, np.ones(20), rows=50)), 5)
    assert np.all(fold[pairs[:, 0]] == fold[pairs[:, 1]])
    np.testing.assert_array_equal(np.bincount(fold[:40]), np.full(5, 8))
    assert np.all(fold[40:] == -1)


def test_a_chain_of_marked_pairs_is_broken_to_keep_the_folds_even():
    pairs = np.c_[np.arange(29), np.arange(1, 30)]
    fold = assign_folds(PairLabels.make(30, None, Marks(pairs, np.ones(29), rows=30)), 3)
    np.testing.assert_array_equal(np.bincount(fold), [15, 15])  # ten marks for each fold


def test_restriction_keeps_the_pairs_within_and_no_others(rng):
    y = np.r_[rng.integers(3, size=10), np.full(20, -1)]
    pairs = rng.permutation(np.array(np.triu_indices(30, 1)).T)[:60]
    pairs = pairs[~np.all(pairs < 10, axis=1)]
    labels = PairLabels.make(30, y, Marks(pairs, rng.uniform(size=len(pairs)) < 0.5, rows=30))
    rows = np.sort(rng.permutation(30)[:15])
    part = labels.among(rows)
    inside = {(rows[i], rows[j]): s for (i, j), s in pairs_of(part).items()}
    expected = {p: s for p, s in pairs_of(labels).items() if set(p) <= set(rows.tolist())}
    assert inside == expected
    assert labels.among(np.array([0])) is None


# Scores


def test_scores_are_the_mean_log_likelihood_of_pairs_within_the_fold(some_wine):
    X, y_partial, _ = some_wine
    strict = SERAPH(tol=1e-7, max_iter=1000)
    learner = SERAPHCV(strict, lam_factors=[0.5, 2.0], cv=3).fit(X, y_partial)
    fold = assign_folds(PairLabels.make(len(X), y_partial), 3)
    for number in range(3):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        auto = SERAPH().fit(X[outside], y_partial[outside])
        for k, factor in enumerate((0.5, 2.0)):
            strict.set_params(lam=factor * auto.lam_)
            fit = strict.fit(X[outside], y_partial[outside])
            A = fit.get_mahalanobis_matrix()
            known = pairs_of(PairLabels.make(len(inside), y_partial[inside]))
            scores = [
                log_likelihood(d @ A @ d, similar, 1.0)
                for (i, j), similar in known.items()
                for d in [X[inside[i]] - X[inside[j]]]
            ]
            score = learner.cv_results_[f"split{number}_test_score"][k]
            assert score == pytest.approx(np.mean(scores), rel=1e-5)
    table = np.array([learner.cv_results_[f"split{k}_test_score"] for k in range(3)])
    np.testing.assert_allclose(learner.cv_results_["mean_test_score"], table.mean(axis=0))


def test_the_full_model_is_scored_with_its_own_kappa(some_wine):
    X, y_partial, _ = some_wine
    strict = SERAPH(gamma=10.0, tol=1e-6)
    learner = SERAPHCV(strict, lam_factors=[1.0], cv=2).fit(X, y_partial)
    fold = assign_folds(PairLabels.make(len(X), y_partial), 2)
    inside, outside = np.flatnonzero(fold == 0), np.flatnonzero(fold != 0)
    fit = strict.fit(X[outside], y_partial[outside])
    i, j = np.triu_indices(len(inside), k=1)
    p = fit.pair_proba(X[inside][np.c_[i, j]])
    similar = y_partial[inside][i] == y_partial[inside][j]
    expected = np.mean(np.log(np.where(similar, p, 1 - p)))
    assert learner.cv_results_["split0_test_score"][0] == pytest.approx(expected, rel=1e-4)


# The choice


def test_the_metric_is_that_of_seraph_with_the_chosen_weights(some_wine):
    X, y_partial, _ = some_wine
    learner = SERAPHCV(mu_factors=(0.0, 1.0)).fit(X, y_partial)
    assert learner.best_params_ == {"lam": learner.lam_, "mu": learner.mu_}
    plain = SERAPH(**learner.best_params_).fit(X, y_partial)
    np.testing.assert_array_equal(learner.learned_components_, plain.components_)
    assert learner.n_splits_ == 5
    assert len(learner.cv_results_["mean_test_score"]) == 14
    assert learner.best_score_ in learner.cv_results_["mean_test_score"]
    auto = SERAPH().fit(X, y_partial)
    factors = learner.cv_results_["lam_factor"]
    assert np.any(np.isclose(learner.lam_, factors * auto.lam_))


def test_a_clearly_better_weight_is_chosen(some_wine):
    X, y_partial, _ = some_wine
    bad = SERAPH(lam=1e-3)  # overfits beyond doubt
    good = SERAPH().fit(X, y_partial).lam_
    learner = SERAPHCV(bad, lam_factors=[1.0, good / 1e-3], cv=3).fit(X, y_partial)
    assert learner.lam_ == pytest.approx(good)


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ([[-3.0, -1.0, -0.9], [-3.1, -1.0, -1.1], [-2.9, -1.0, -0.9]], 1),  # within the error
        ([[-3.0, -1.0, -0.9], [-3.1, -1.1, -1.0], [-2.9, -1.0, -0.9]], 2),  # better in every fold
        ([[-0.5, -1.0, -2.0], [-0.6, -1.0, -2.0], [-0.5, -1.0, -2.0]], 0),
        ([[-1.0, -1.0, -1.0], [-1.0, -1.0, -1.0]], 1),
    ],
)
def test_an_advantage_within_the_standard_error_does_not_move_the_choice(scores, chosen):
    grid = np.array([[0.1, 1.0], [1.0, 1.0], [10.0, 1.0]])
    assert _choose(grid, np.array(scores)) == chosen


@pytest.mark.slow
def test_held_out_likelihood_is_no_worse_than_with_automatic_weights():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    gains = []
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(X))
        train, test = order[:100], order[100:250]
        y_partial = np.where(np.arange(100) < 40, y[train], -1)
        i, j = np.triu_indices(len(test), k=1)
        similar, pairs = y[test][i] == y[test][j], X[test][np.c_[i, j]]
        scores = []
        for learner in (SERAPH(), SERAPHCV(SERAPH(), cv=3)):
            p = learner.fit(X[train], y_partial).pair_proba(pairs)
            p = np.clip(np.where(similar, p, 1 - p), 1e-300, 1)
            scores.append(np.mean(np.log(p)))
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 0.0


# Few labels


def test_too_few_labels_give_a_warning_and_leave_the_automatic_weights(some_wine):
    X, y_partial, _ = some_wine
    few = np.where(np.arange(len(X)) < 6, y_partial, -1)
    message = r"too few labels to choose lam.*Label more points"
    with pytest.warns(UserWarning, match=message) as record:
        learner = SERAPHCV().fit(X, few)
    assert [warning.filename for warning in record] == [__file__]
    np.testing.assert_allclose(
        learner.learned_components_, SERAPH().fit(X, few).components_, rtol=1e-6, atol=1e-9
    )
    assert learner.n_splits_ == 0
    assert np.isnan(learner.best_score_)
    assert learner.cv_results_ == {}
    assert learner.best_params_["lam"] == learner.lam_


# How it is used


def test_marked_pairs_are_enough_to_choose_by(some_wine):
    X, _, y = some_wine
    pairs = np.random.default_rng(0).permutation(100).reshape(-1, 2)
    marks = np.where(y[pairs[:, 0]] == y[pairs[:, 1]], 1, -1)
    learner = SERAPHCV(cv=4).fit(X, marks=Marks(pairs, marks, rows=X))
    assert learner.n_splits_ == 4
    assert np.isfinite(learner.cv_results_["mean_test_score"]).all()


def test_a_shuffle_is_another_split_and_the_same_seed_the_same_one(some_wine):
    X, y_partial, _ = some_wine
    scores = [
        SERAPHCV(random_state=seed, lam_factors=[1.0]).fit(X, y_partial).best_score_
        for seed in (None, 0, 0, 1)
    ]
    assert scores[1] == scores[2]
    assert len(set(scores)) == 3


def test_a_graph_is_cut_with_the_points(some_wine):
    X, y_partial, _ = some_wine
    graph = neighbor_graph(X, 5)
    learner = SERAPHCV(SERAPH(manifold=0.02), lam_factors=[1.0], cv=2)
    with_graph = learner.fit(X, y_partial, graph=graph).best_score_
    empty = learner.fit(X, y_partial, graph=sparse.csr_array((100, 100))).best_score_
    assert with_graph != empty


def test_bad_parameters_of_the_learner_are_refused(some_wine):
    with pytest.raises(ValueError, match="mu must be"):
        SERAPHCV(SERAPH(mu=-1)).fit(*some_wine[:2])


def test_fits_within_the_folds_do_not_warn(some_wine):
    X, y_partial, _ = some_wine
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SERAPHCV(lam_factors=[1.0, 1e4], cv=2).fit(X, y_partial)  # 1e4 gives rank 0


# What is handed out


def test_with_one_factor_it_is_seraph():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    some = np.full(len(y), -1)
    some[::15] = y[::15]
    plain = seraph.SERAPH().fit(X, some)
    search = SERAPHCV(lam_factors=(1.0,)).fit(X, some)
    np.testing.assert_array_equal(search.components_, plain.components_)
    assert search.shrinkage_ == plain.shrinkage_


def test_the_average_is_around_the_chosen_weight(some_wine):
    X, y_partial, _ = some_wine
    known = np.flatnonzero(y_partial != -1)
    pairs = np.c_[known, np.roll(known, 1)]
    marks = Marks(pairs, y_partial[pairs[:, 0]] == y_partial[pairs[:, 1]], rows=X)
    strict = {"tol": 1e-6, "max_iter": 2000}
    learner = SERAPHCV(seraph.SERAPH(shrinkage_target=None, **strict), lam_factors=(4.0,), cv=2)
    learner.fit(X, marks=marks)
    metrics = []
    for factor in (10.0, 1.0, 0.1):
        one = SERAPH(lam=factor * learner.lam_, **strict).fit(X, marks=marks)
        A = one.get_mahalanobis_matrix()
        metrics.append(A / np.trace(A @ np.cov(X.T)))
    C = np.cov(X.T)
    trust = len(known) / (len(known) + np.trace(C) ** 2 / np.sum(C * C))
    mean = np.average(metrics, axis=0, weights=[1.0, 1.0, trust])
    rho = learner.shrinkage_
    expected = (1 - rho) * mean + rho * np.eye(len(mean)) / np.trace(np.cov(X.T))
    found = learner.get_mahalanobis_matrix()
    found = found / np.trace(found @ np.cov(X.T))
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_shrinkage_is_a_parameter_and_the_learners_own_unless_it_is_set(some_wine):
    X, y_partial, _ = some_wine
    assert SERAPHCV().get_params()["shrinkage"] is None
    learner = seraph.SERAPH(shrinkage=0.5)
    search = {"lam_factors": (1.0,), "cv": 2}
    assert SERAPHCV(learner, **search).fit(X, y_partial).shrinkage_ == 0.5
    assert SERAPHCV(learner, shrinkage=0.2, **search).fit(X, y_partial).shrinkage_ == 0.2
    assert learner.shrinkage == 0.5
    plain = SERAPHCV(learner, shrinkage=0, **search).fit(X, y_partial)
    np.testing.assert_array_equal(plain.components_, plain.learned_components_)
    with pytest.raises(ValueError, match="shrinkage must be"):
        SERAPHCV(shrinkage=2.0).fit(X, y_partial)
