"""Scores on partly labeled data count the labeled rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from seraph import MarksKFold, MetricClassifier
from seraph.classic import GMML
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


@pytest.mark.parametrize("kind", few(LABELS, {"-1", "pandas.NA"}.__contains__))
@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_scores_with_folds_of_labeled_rows_are_right(kind, scoring):
    y = LABELS[kind]
    classifier = MetricClassifier(GMML())
    scores = cross_val_score(
        classifier, X, y, cv=MarksKFold(), scoring=scoring, error_score="raise"
    )
    splits = list(MarksKFold().split(X, y))
    assert len(splits) == 5
    assert all(KNOWN[test].all() for _, test in splits)
    by_hand = []
    for train, test in splits:
        model = MetricClassifier(GMML()).fit(X[train], LABELS["-1"][train])
        by_hand.append(np.mean(model.predict(X[test]) == TRUE[test]))
    assert scores == pytest.approx(by_hand)
