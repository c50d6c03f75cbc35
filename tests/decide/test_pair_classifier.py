"""PairClassifier: one call from marks to decisions, chosen and judged out of fold."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    SERAPH,
    Marks,
    MarksKFold,
    MeanMetric,
    MetricClassifier,
    PairClassifier,
)
from seraph.classic import GMML, Euclidean
from tests.helpers.quick import few

WINE, Y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)
RNG = np.random.default_rng(0)
ORDER = RNG.permutation(len(X))
TRAIN, TEST = ORDER[:120], ORDER[120:]
PAIRS = np.unique(np.sort([RNG.choice(120, 2, replace=False) for _ in range(110)], axis=1), axis=0)
ALIKE = Y[TRAIN][PAIRS[:, 0]] == Y[TRAIN][PAIRS[:, 1]]
POINTS = X[TRAIN]
MARKS = Marks(PAIRS, ALIKE, rows=POINTS)
ALL = np.array(np.triu_indices(len(TEST), k=1)).T
SAME = Y[TEST][ALL[:, 0]] == Y[TEST][ALL[:, 1]]
SOME = np.where(np.arange(len(TRAIN)) < 40, Y[TRAIN], -1)
FAST = SERAPH(tol=0.01, mu=0.0)


def test_one_call_with_defaults_decides_about_new_points():
    model = PairClassifier().fit(POINTS, marks=MARKS)
    assert isinstance(model.estimator_, MeanMetric)
    predicted = model.predict(ALL, X[TEST])
    assert set(predicted) == {-1, 1}
    np.testing.assert_array_equal(model.classes_, [-1, 1])
    d = model.pair_distance(ALL, X[TEST])
    np.testing.assert_array_equal(predicted == 1, d <= model.threshold_)
    p = model.predict_proba(ALL, X[TEST])
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    expected = model.intercept_ + model.slope_ * np.log(d)
    np.testing.assert_allclose(np.log(p[:, 1] / p[:, 0]), expected, rtol=1e-6, atol=1e-9)
    assert model.slope_ < 0
    low, high = model.report_["accuracy"][1:]
    assert low <= np.mean((predicted == 1) == SAME) <= high
    np.testing.assert_array_equal(model.predict(X[TEST][ALL[:9]]), predicted[:9])
    np.testing.assert_allclose(model.predict_proba(X[TEST][ALL[:9]]), p[:9])
    for y, rows, pairs, alike in ((MARKS, POINTS, PAIRS, ALIKE), (Y[TEST], X[TEST], ALL, SAME)):
        expected = roc_auc_score(alike, -model.pair_distance(pairs, rows))
        assert model.score(rows, y) == pytest.approx(expected)


def test_no_classifier_scales_unasked_and_units_are_warned_of():
    for Classifier, y in ((PairClassifier, MARKS), (MetricClassifier, SOME)):
        for points in (POINTS, POINTS / np.linalg.norm(POINTS, axis=1, keepdims=True)):
            learner = Classifier().fit(points, y).estimator_
            np.testing.assert_array_equal(
                learner.transform(points), MeanMetric().fit(points, y).transform(points)
            )
        with pytest.warns(UserWarning, match="will dominate the metric. Scale columns"):
            Classifier().fit(WINE[TRAIN], y)


def test_masked_entries_are_refused():
    """The steps of a pipeline would take what is under the mask."""
    masked = np.ma.masked_greater(POINTS, 2.0)
    pairs = PairClassifier(GMML(), cv=2).fit(POINTS, marks=MARKS)
    classes = MetricClassifier(GMML()).fit(POINTS, SOME)
    for ask in (
        lambda: PairClassifier().fit(masked, marks=MARKS),
        lambda: MetricClassifier().fit(masked, SOME),
        lambda: pairs.predict([[0, 1]], masked),
        lambda: pairs.predict(np.ma.masked_greater(POINTS[PAIRS], 2.0)),
        lambda: classes.predict(masked),
    ):
        with pytest.raises(ValueError, match="masked entries"):
            ask()


def test_from_classes_alone_class_probabilities_decide():
    model = PairClassifier(FAST).fit(POINTS, SOME)
    classifier = MetricClassifier(FAST).fit(POINTS, SOME)
    assert isinstance(model.estimator_, MetricClassifier)
    chances = classifier.predict_proba(X[TEST])
    differ = 1.0 - (chances @ chances.T)[ALL[:, 0], ALL[:, 1]]
    d = model.pair_distance(ALL, X[TEST])
    np.testing.assert_allclose(d, differ, atol=1e-12)
    np.testing.assert_allclose(model.pair_distance(X[TEST][ALL[:9]]), d[:9], atol=1e-12)
    np.testing.assert_array_equal(model.predict(ALL, X[TEST]) == 1, d <= model.threshold_)
    auc = model.score(X[TEST], Y[TEST])
    assert auc == pytest.approx(roc_auc_score(SAME, -d), abs=1e-9)
    by_distance = PairClassifier(FAST).fit(POINTS, SOME, marks=MARKS)
    assert auc > by_distance.score(X[TEST], Y[TEST])
    assert isinstance(by_distance.estimator_, SERAPH)
    assert np.mean((model.predict(ALL, X[TEST]) == 1) == SAME) > 0.85
    nearest = PairClassifier(MetricClassifier(FAST, rule="nearest")).fit(POINTS, SOME)
    assert set(nearest.pair_distance(ALL, X[TEST])) <= {0.0, 1.0}


def labeled_points(seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    points = rng.normal(size=(60, 3)) + 1.5 * np.eye(3)[y]
    return points, y, rng.permutation(60).reshape(-1, 2)


@pytest.mark.filterwarnings("ignore:predict calls no pair alike", "ignore:The learned distance")
@pytest.mark.parametrize("base_rate", few([None, 0.001, 0.1, 0.8], (None, 0.001).__contains__))
@pytest.mark.parametrize("known", few(["marks", "classes", *range(6)], ("marks", 0).__contains__))
def test_decisions_agree_with_probabilities_and_identical_points_are_alike(known, base_rate):
    points, y, pairs = labeled_points()
    model = PairClassifier(SERAPH(), cv=3, base_rate=base_rate)
    if known == "classes":
        model.fit(points, np.where(np.arange(60) < 40, y, -1))
    else:
        chance = np.random.default_rng(known).random(30) < 0.4 if known != "marks" else None
        alike = y[pairs[:, 0]] == y[pairs[:, 1]] if known == "marks" else chance
        model.fit(points, marks=Marks(pairs, alike, rows=60))
    every = np.array(np.triu_indices(60)).T  # with themselves, too
    p, called = model.predict_proba(points[every])[:, 1], model.predict(points[every])
    clear = np.abs(p - 0.5) > 1e-12
    np.testing.assert_array_equal(called[clear], np.where(p > 0.5, 1, -1)[clear])
    if model.slope_ < 0.0:
        assert (called[every[:, 0] == every[:, 1]] == 1).all()


def test_what_cannot_be_decided_is_said():
    points, y, pairs = labeled_points()
    model = PairClassifier(Euclidean(), cv=3, forest=False)
    for seed in range(3):  # random marks
        marks = Marks(pairs, np.random.default_rng(seed).permutation(np.arange(30) < 10), rows=60)
        with pytest.warns(UserWarning, match=r"better than chance would.* AUC is 0\.\d"):
            model.fit(points, marks=marks)
    marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=60)
    with pytest.warns(UserWarning, match="no pair alike but identical points.*larger base_rate"):
        model.set_params(base_rate=1e-4).fit(points, marks=marks)


@pytest.mark.parametrize(
    "known", few(["marks by name", "marks by number", "classes"], "marks by name".__eq__)
)
def test_a_shuffled_table_gives_the_same_decisions(known):
    names = np.array([f"bottle {k}" for k in range(120)])
    frame = pd.DataFrame(POINTS, index=names)
    some = np.where(np.arange(120) < 60, Y[TRAIN], -1)
    fits = []
    for order in (np.arange(120), np.random.default_rng(1).permutation(120)):
        arguments = {
            "marks by name": {"marks": Marks(names[PAIRS], ALIKE, rows=frame)},
            "marks by number": {"marks": MARKS[order]},
            "classes": {"y": some[order]},
        }[known]
        fits.append(PairClassifier(cv=3).fit(frame.iloc[order], **arguments))
    one, other = fits
    assert one.threshold_ == pytest.approx(other.threshold_, rel=1e-6)
    assert one.report_["accuracy"] == pytest.approx(other.report_["accuracy"])
    np.testing.assert_array_equal(one.predict(ALL, X[TEST]), other.predict(ALL, X[TEST]))


# Out of fold


class Rote(BaseEstimator):
    """A learner that knows by heart what it has seen, and nothing else."""

    def fit(self, X, y=None, *, marks=None):
        self.n_features_in_ = np.shape(X)[1]
        points = np.asarray(X)
        group = np.arange(len(points))
        for i, j in marks.pairs[marks.similar]:
            group[group == group[j]] = group[i]
        keys = map(bytes, points)
        self.place_ = {key: 100.0 * g for key, g in zip(keys, group, strict=True)}
        return self

    def transform(self, X):
        rng = np.random.default_rng(0)
        return np.array([[self.place_.get(bytes(row), rng.normal())] for row in np.asarray(X)])


@pytest.mark.filterwarnings("ignore:The learned distance does not tell")
def test_a_learner_by_rote_is_not_taken_at_its_word():
    """In sample it is always right; the report says what it is worth on other points."""
    rng = np.random.default_rng(0)
    pairs = rng.permutation(240).reshape(-1, 2)
    alike = np.arange(120) % 2 == 0
    points = rng.normal(size=(240, 2))
    model = PairClassifier(Rote()).fit(points, marks=Marks(pairs, alike, rows=240))
    d = model.pair_distance(pairs, points)
    assert d[alike].max() < d[~alike].min()
    low, high = model.report_["accuracy"][1:]
    assert low < 0.5 < high < 0.7
    assert model.report_["brier_score"] > 0.2


def decided(marks):
    """What a classifier of these marks says of itself."""
    model = PairClassifier(FAST, cv=3).fit(POINTS, marks=marks)
    said = [model.threshold_, model.slope_, model.intercept_, model.report_["brier_score"]]
    return np.array([*said, *model.report_["accuracy"], *model.report_["recall"]])


def test_a_weight_of_two_is_a_mark_given_twice_and_only_ratios_matter():
    weights = np.ones(len(PAIRS))
    weights[:30], weights[-5:] = 2.0, 0.0
    order = np.repeat(np.arange(len(PAIRS)), weights.astype(int))
    twice = decided(Marks(PAIRS[order], ALIKE[order], rows=120))
    weighted, again = (
        decided(Marks(PAIRS, ALIKE, weights=factor * weights, rows=120)) for factor in (1, 4)
    )
    np.testing.assert_allclose(weighted, twice, rtol=1e-9)
    np.testing.assert_allclose(again, weighted, rtol=1e-4)
    assert not np.allclose(decided(MARKS), twice, rtol=1e-3)


def test_an_unsure_mark_is_a_similar_and_a_dissimilar_one_in_parts():
    likeness = np.where(ALIKE, 0.8, 0.1)
    nearly = np.repeat([1.0 - 1e-12, 1e-12], len(PAIRS))
    weights = np.concatenate([likeness, 1.0 - likeness])
    parts = Marks(np.vstack([PAIRS, PAIRS]), nearly, weights=weights, rows=120)
    np.testing.assert_allclose(
        decided(Marks(PAIRS, likeness, rows=120)), decided(parts), rtol=1e-6
    )


# Raw points, frames, searches


def test_a_pipeline_takes_raw_points():
    raw = WINE[TRAIN]
    model = PairClassifier(make_pipeline(StandardScaler(), FAST), cv=3, forest=False)
    model.fit(raw, marks=MARKS)
    np.testing.assert_allclose(
        model.pair_distance(raw[PAIRS[:5]]), model.pair_distance(PAIRS[:5], raw)
    )
    scaled = StandardScaler().fit_transform(raw)
    expected = clone(FAST).fit(scaled, marks=MARKS).pair_distance(PAIRS, scaled)
    np.testing.assert_allclose(model.pair_distance(PAIRS, raw), expected)
    assert model.pair_distance(np.empty((0, 2, X.shape[1]))).shape == (0,)
    spoiled = raw.copy()
    spoiled[::7, 3] = np.nan
    imputed = PairClassifier(make_pipeline(SimpleImputer(), StandardScaler(), GMML()), cv=2)
    assert np.isfinite(imputed.fit(spoiled, marks=MARKS).pair_distance(PAIRS, spoiled)).all()


def test_a_frame_is_asked_by_the_names_of_its_rows():
    names = np.array([f"bottle {k:03}" for k in range(120)])
    frame = pd.DataFrame(WINE[TRAIN], index=names).add_prefix("feature ")
    named = Marks(names[PAIRS], ALIKE, rows=frame)
    model = PairClassifier(make_pipeline(StandardScaler(), GMML()), cv=3)
    model.fit(frame, marks=named)
    expected = clone(model).fit(WINE[TRAIN], marks=MARKS)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.threshold_ == pytest.approx(expected.threshold_)
    for ask in ("predict", "predict_proba", "pair_distance"):
        np.testing.assert_allclose(
            getattr(model, ask)(names[PAIRS], frame.iloc[::-1]),
            getattr(expected, ask)(PAIRS, WINE[TRAIN]),
        )
    np.testing.assert_array_equal(
        model.predict(WINE[TRAIN][PAIRS]), model.predict(names[PAIRS], frame)
    )
    assert model.score(frame.iloc[::-1], marks=named) == pytest.approx(
        expected.score(WINE[TRAIN], marks=MARKS)
    )


@pytest.mark.slow
@pytest.mark.parametrize("routing", [False, True])
def test_a_search_over_the_learner(routing):
    model = PairClassifier(SERAPH(tol=0.05), cv=2)
    search = GridSearchCV(model, {"estimator__lam": [1.0, "auto"]}, cv=MarksKFold(2))
    search.set_params(error_score="raise")
    with sklearn.config_context(enable_metadata_routing=routing):
        search.fit(POINTS, **{"marks" if routing else "y": MARKS})
    assert search.best_params_["estimator__lam"] in (1.0, "auto")
    assert search.best_estimator_.report_["accuracy"][0] > 0.5
    assert search.best_estimator_.predict(ALL[:3], X[TEST]).shape == (3,)


def test_a_fitted_learner_is_taken_as_it_is():
    learner = GMML().fit(X[TEST], Y[TEST])
    before = learner.components_.copy()
    model = PairClassifier(FrozenEstimator(learner), forest=False).fit(POINTS, marks=MARKS)
    assert model.estimator_.estimator is learner
    np.testing.assert_array_equal(learner.components_, before)
    d, called = learner.pair_distance(PAIRS, POINTS), model.predict(PAIRS, POINTS) == 1
    best = max(np.mean((d <= t) == ALIKE) for t in np.append(d, 0.0))
    assert best - 0.05 < np.mean(called == ALIKE) <= best
    with pytest.raises(NotFittedError):
        PairClassifier(FrozenEstimator(GMML())).fit(POINTS, marks=MARKS)


# Bad input


def test_a_fit_that_fails_leaves_the_last_one():
    model = PairClassifier(GMML(), cv=2).fit(POINTS, marks=MARKS)
    before = dict(vars(model))
    triplets = Marks(triplets=[[0, 1, 2], [3, 4, 5]], rows=120)
    for marks, message in (
        (Marks(PAIRS[ALIKE], ALIKE[ALIKE], rows=120), f"of {ALIKE.sum()} and 0 labeled"),
        (Marks(PAIRS[:1], [1], rows=120), "held-out pairs of each kind|both kinds|labeled"),
        (triplets, "GMML|at least 2 held-out pairs of each kind"),
        (MARKS[:50], "about 50 rows, but X has 120"),
        (None, "nothing to learn from"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(POINTS, marks=marks)
        assert vars(model) == before
