"""A metric pipeline is the learner on prepared points; a trap of plain pipelines is loud."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from seraph import SERAPH, KernelSERAPH, MetricNeighborsClassifier, MetricPipeline, load, save
from seraph.classic import ITML, LMNN

X, TRUE = load_wine(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
Y = np.where(np.arange(len(X)) % 6 == 0, TRUE, -1)
NAMES = [f"wine {k}" for k in range(len(X))]
ROWS = np.array([[0, 1], [3, 100], [60, 61], [5, 170]])
MARKS = [1, -1, 1, -1]


@pytest.mark.parametrize("learner", [SERAPH(), KernelSERAPH(), ITML()])
def test_it_says_what_the_learner_says_of_prepared_points(learner):
    plain = clone(learner).fit(SCALED, Y, pairs=ROWS, pair_labels=MARKS)
    model = MetricPipeline(StandardScaler(), learner)
    model.fit(X, Y, pairs=ROWS, pair_labels=MARKS)
    np.testing.assert_array_equal(model.components_, plain.components_)
    np.testing.assert_array_equal(model.transform(X), plain.transform(SCALED))
    methods = ["pair_distance", "pair_score"] + ["pair_proba"] * hasattr(plain, "pair_proba")
    for name in methods:
        ask, expected = getattr(model, name), getattr(plain, name)(ROWS, SCALED)
        np.testing.assert_array_equal(ask(ROWS, X), expected)
        np.testing.assert_allclose(ask(X[ROWS]), expected)
        assert ask(np.empty((0, 2, X.shape[1]))).shape == (0,)
    assert model.get_metric()(X[0], X[1]) == pytest.approx(plain.pair_distance(ROWS, SCALED)[0])
    np.testing.assert_array_equal(model.query_rows(X, 5, y=Y), plain.query_rows(SCALED, 5, y=Y))
    assert model.score(X, TRUE) == plain.score(SCALED, TRUE)
    if hasattr(plain, "query_pairs"):
        np.testing.assert_array_equal(
            model.query_pairs(X, 3, y=Y, pairs=ROWS), plain.query_pairs(SCALED, 3, y=Y, pairs=ROWS)
        )
    if not isinstance(learner, KernelSERAPH):
        np.testing.assert_array_equal(
            model.get_mahalanobis_matrix(), plain.get_mahalanobis_matrix()
        )
    model.calibrate_threshold(X, Y, pairs=ROWS, pair_labels=MARKS, cv=3)
    plain.calibrate_threshold(SCALED, Y, pairs=ROWS, pair_labels=MARKS, cv=3)
    assert model.threshold_ == pytest.approx(plain.threshold_, rel=0.3)
    assert set(model.pair_predict(ROWS, X)) == {-1, 1}


def test_it_has_no_method_that_its_learner_lacks():
    model = MetricPipeline(StandardScaler(), ITML()).fit(X, Y)
    assert not hasattr(model, "pair_proba")
    assert not hasattr(model, "query_pairs")
    assert hasattr(MetricPipeline(StandardScaler(), SERAPH()), "pair_proba")


def test_names_are_read_before_the_features_are_prepared():
    frame = pd.DataFrame(X, index=NAMES).add_prefix("f")
    pairs = np.array(NAMES)[ROWS]
    model = MetricPipeline(StandardScaler(), SERAPH())
    model.fit(frame, pairs=pairs, pair_labels=MARKS)
    expected = SERAPH().fit(SCALED, pairs=ROWS, pair_labels=MARKS)
    np.testing.assert_allclose(
        model.pair_distance(pairs, frame), expected.pair_distance(ROWS, SCALED)
    )
    np.testing.assert_allclose(model.pair_distance(X[ROWS]), expected.pair_distance(ROWS, SCALED))
    chosen = model.query_pairs(frame, 3, pairs=pairs)
    assert set(chosen.ravel()) <= set(NAMES)
    assert set(model.query_rows(frame, 3)) <= set(NAMES)


def test_it_takes_rows_with_missing_values_if_they_are_imputed():
    spoiled = X.copy()
    spoiled[::7, 3] = np.nan
    prepare = make_pipeline(SimpleImputer(), StandardScaler())
    model = MetricPipeline(prepare, SERAPH()).fit(spoiled, Y)
    assert np.isfinite(model.pair_distance(ROWS, spoiled)).all()
    classifier = MetricNeighborsClassifier(MetricPipeline(prepare, SERAPH()))
    assert cross_val_score(classifier, X, Y, cv=3).mean() > 0.7


def test_it_can_be_saved_with_what_it_decides(tmp_path):
    model = MetricPipeline(StandardScaler(), SERAPH()).fit(X, Y)
    model.calibrate_threshold(X, Y, cv=2).calibrate_proba(X, Y, method="isotonic", cv=2)
    again = load(save(model, tmp_path / "model.skops"))
    for method in ("pair_distance", "pair_predict", "calibrated_pair_proba"):
        np.testing.assert_array_equal(
            getattr(again, method)(ROWS, X), getattr(model, method)(ROWS, X)
        )
    assert again.threshold_report_ == model.threshold_report_


def test_pairs_of_another_shape_are_refused():
    model = MetricPipeline(StandardScaler(), SERAPH()).fit(X, Y)
    with pytest.raises(ValueError, match=r"\(n_pairs, 2, 13\).*pass X as well"):
        model.pair_distance(ROWS)


# The trap: -1 is a class to a plain classifier


class MyNeighbors(KNeighborsClassifier):
    """A classifier that seraph does not know."""


def test_a_plain_classifier_after_the_learner_is_refused_where_rows_are_unlabeled():
    for learner in (SERAPH(), LMNN(), MetricPipeline(StandardScaler(), SERAPH())):
        pipeline = make_pipeline(StandardScaler(), learner, KNeighborsClassifier(1))
        with pytest.raises(ValueError, match="which KNeighborsClassifier at the end of this pip"):
            pipeline.fit(X, Y)
        pipeline.fit(X, TRUE)
    with pytest.raises(ValueError, match="All the 3 fits failed"):
        cross_val_score(make_pipeline(SERAPH(), KNeighborsClassifier(1)), SCALED, Y, cv=3)
    with pytest.warns(UserWarning, match="MyNeighbors at the end of this pipeline takes for a cl"):
        make_pipeline(SERAPH(), MyNeighbors(1)).fit(SCALED, Y)


@pytest.mark.filterwarnings("ignore:max_iter=:sklearn.exceptions.ConvergenceWarning")
def test_what_can_use_unlabeled_rows_is_let_through():
    make_pipeline(SERAPH(), LabelSpreading()).fit(SCALED, Y)
    make_pipeline(SERAPH(), StandardScaler()).fit(SCALED, Y)
    make_pipeline(SERAPH(), MetricNeighborsClassifier(ITML())).fit(SCALED, Y)
    SERAPH().fit_transform(SCALED, Y)


class Wrapped(BaseEstimator):
    def fit(self, X, y):
        self.Z_ = SERAPH().fit_transform(X, y)
        return self


def test_a_learner_inside_another_last_step_is_let_through():
    make_pipeline(StandardScaler(), Wrapped()).fit(X, Y)
