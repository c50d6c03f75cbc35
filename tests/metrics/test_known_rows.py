"""Scores on partly labeled data count the labeled rows alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score, get_scorer, make_scorer
from sklearn.model_selection import cross_val_score, cross_validate

from seraph import MarksKFold, MetricClassifier
from seraph.classic import GMML
from seraph.metrics import known_rows_scorer
from tests.helpers.quick import few

N = 90
RNG = np.random.default_rng(0)
TRUE = np.arange(N) % 3
X = RNG.normal(size=(N, 3)) + 2.5 * np.eye(3)[TRUE]
KNOWN = RNG.permutation(N) < 45
WORDS = np.array(["ash", "beech", "cedar"])[TRUE]


def partly(values, unknown):
    return np.array([v if k else unknown for v, k in zip(values, KNOWN, strict=True)], object)


LABELS = {
    "-1": np.where(KNOWN, TRUE, -1),
    "NaN": np.where(KNOWN, TRUE, np.nan),
    "text and None": partly(WORDS.tolist(), None),
    "text and NaN": pd.Series(partly(WORDS.tolist(), np.nan)),
    "text and -1 in a list": partly(WORDS.tolist(), -1).tolist(),
    "pandas.NA": pd.Series(partly(TRUE.tolist(), pd.NA), dtype="Int64"),
}


def by_hand(splits):
    """Accuracy of each split over its labeled rows, with the true classes for truth."""
    scores = []
    for train, test in splits:
        codes = np.where(KNOWN, TRUE, -1)
        model = MetricClassifier(GMML()).fit(X[train], codes[train])
        rows = test[KNOWN[test]]
        scores.append(np.mean(model.predict(X[rows]) == TRUE[rows]))
    return scores


@pytest.mark.parametrize("kind", few(LABELS, {"-1", "pandas.NA"}.__contains__))
@pytest.mark.parametrize("scoring", [None, "accuracy", known_rows_scorer("accuracy")])
def test_scores_with_folds_of_labeled_rows_are_right(kind, scoring):
    y = LABELS[kind]
    classifier = MetricClassifier(GMML())
    scores = cross_val_score(
        classifier, X, y, cv=MarksKFold(), scoring=scoring, error_score="raise"
    )
    splits = list(MarksKFold().split(X, y))
    assert len(splits) == 5
    assert all(KNOWN[test].all() for _, test in splits)
    assert scores == pytest.approx(by_hand(splits))


class Fixed(ClassifierMixin, BaseEstimator):
    """A classifier that has its answers in the points."""

    def fit(self, X, y):
        self.classes_ = np.unique(TRUE)
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame])
@pytest.mark.parametrize("name", ["accuracy", "f1_macro", "balanced_accuracy"])
def test_it_is_the_scorer_of_the_labeled_rows(frame, name):
    points = frame(RNG.integers(3, size=(N, 1)))
    model = Fixed().fit(points, TRUE)
    expected = get_scorer(name)(model, np.asarray(points)[KNOWN], TRUE[KNOWN])
    assert known_rows_scorer(name)(model, points, LABELS["-1"]) == expected
    assert known_rows_scorer(get_scorer(name))(model, points, LABELS["NaN"]) == expected
    again = pickle.loads(pickle.dumps(known_rows_scorer(name)))
    assert again(model, points, LABELS["-1"]) == expected


def test_weights_are_cut_with_the_rows():
    points, weights = RNG.integers(3, size=(N, 1)), RNG.random(N)
    expected = accuracy_score(TRUE[KNOWN], points[KNOWN, 0], sample_weight=weights[KNOWN])
    model = Fixed().fit(points, TRUE)
    scorer = known_rows_scorer("accuracy")
    assert scorer(model, points, LABELS["-1"], sample_weight=weights) == pytest.approx(expected)
    with sklearn.config_context(enable_metadata_routing=True):
        asks = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = cross_validate(
            Fixed(),
            points,
            LABELS["-1"],
            cv=[(np.arange(N), np.arange(N))],
            scoring=known_rows_scorer(asks),
            params={"sample_weight": weights},
            error_score="raise",
        )
    assert found["test_score"] == pytest.approx([expected])


def test_nothing_to_score_and_no_scorer_are_refused():
    model = Fixed().fit(X, TRUE)
    with pytest.raises(ValueError, match=r"None of the 90 rows has a label.*MarksKFold\(\)"):
        known_rows_scorer("accuracy")(model, X, np.full(N, -1))
    with pytest.raises(ValueError, match=r"scoring must be .*got 'luck'\..*get_scorer_names"):
        known_rows_scorer("luck")
    with pytest.raises(ValueError, match=r'scoring must be .*such as "accuracy".*got 3'):
        known_rows_scorer(3)
