"""The check of a fit: held-out rows stay unseen, and the rule that is judged is the one in use."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from seraph import Marks, MarksKFold, MeanMetric, MetricClassifier
from seraph._apps.cli._check import (
    Check,
    Score,
    check_labels,
    check_pairs,
    classify,
    label_folds,
)
from seraph.classic import GDM, Euclidean
from tests.helpers.command import ok

SEEN = []


class Witness(BaseEstimator):
    """Learns nothing, and remembers what it was shown."""

    def fit(self, X, y=None, *, marks=None):
        SEEN.append((X, y, marks))
        return self

    def transform(self, X):
        return np.asarray(X)[:, 1:]


@pytest.fixture
def seen():
    SEEN.clear()
    return SEEN


def check(learner, X, codes, pairs=(), similar=(), forest=False):
    marks = Marks(np.array(pairs, dtype=int).reshape(-1, 2), similar, rows=len(X))
    names = [f"class {k}" for k in range(max(codes) + 1)]
    return check_labels(learner, X, codes, marks, seed=0, names=names, forest=forest)


def numbered(rng, n):
    """Points whose first feature is the number of the row."""
    return np.column_stack([np.arange(n), rng.normal(size=(n, 2))])


def test_no_label_and_no_mark_of_a_held_out_row_is_seen(rng, seen):
    codes = np.array([0] * 8 + [1] * 8 + [-1] * 12)
    pairs = [[0, 16], [16, 17], [9, 17]]
    found = check(Witness(), numbered(rng, 28), codes, pairs, [True, False, False])
    assert found.scores[0].n == 16
    assert len(seen) == found.n_folds > 1
    held = []
    for X, y, marks in seen:
        rows = X[:, 0].astype(int)
        np.testing.assert_array_equal(y, codes[rows])
        held.append(np.setdiff1d(np.flatnonzero(codes >= 0), rows))
        taught = rows[marks.pairs].tolist()
        assert all(pair in pairs for pair in taught)
        assert not np.isin(taught, held[-1]).any()
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(16))


@pytest.mark.parametrize("n_labels", [30, 300, 2000])
def test_a_fit_of_a_fold_sees_a_sample_of_the_unlabeled_rows(n_labels, rng, seen):
    codes = np.where(np.arange(2000) < n_labels, np.arange(2000) % 3, -1)
    found = check(Witness(), numbered(rng, 2000), codes)
    assert found.n_folds == (5 if n_labels == 30 else 2)
    for _, y, _ in seen:
        assert np.sum(y < 0) == min(2000 - n_labels, max(400, np.sum(y >= 0)))


@pytest.mark.parametrize("forest", [True, False])
def test_the_errors_are_those_of_the_classifier_that_predicts(forest, wine):
    X, _, y = wine
    codes = np.where(np.arange(len(y)) % 4 == 0, y, -1)
    found = check(MeanMetric(), X, codes, forest=forest)
    assert found.forest_share == pytest.approx(0.5 / (1 + 13 / 30) if forest else 0.0)
    ours = classify(MeanMetric(), forest=forest)[1]
    for score, method in zip(found.scores, (ours, MetricClassifier(Euclidean())), strict=False):
        wrong = 0
        for train, test in MarksKFold(5, shuffle=True, random_state=0).split(X, codes):
            model = clone(method).fit(X[train], codes[train])
            wrong += int((model.predict(X[test]) != codes[test]).sum())
        assert score.n_wrong == wrong
    guess = found.scores[2]
    assert guess.n_wrong == np.sum(codes >= 0) - np.bincount(codes[codes >= 0]).max()


@pytest.mark.parametrize("codes", [[0, 1, -1, -1], [0, 0, -1, -1], [0, 0, 0, 0, 1]])
def test_too_few_labels_give_no_check(codes, rng):
    assert check(Euclidean(), rng.normal(size=(len(codes), 2)), np.array(codes)) is None
    assert label_folds(np.array(codes), Marks(rows=len(codes)), seed=0) == []


@pytest.mark.slow
def test_held_out_pairs_tell_a_better_distance_from_a_worse_one(rng):
    y = np.tile([0, 1], 60)
    X = rng.normal(size=(120, 10))
    X[:, 0] += 6 * y
    pairs = rng.permutation(120).reshape(-1, 2)
    marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=120)
    learned, euclidean, guess = check_pairs(GDM(), X, marks, seed=0, forest=False).scores
    assert learned.n == 60  # no row is in two pairs
    assert learned.n_wrong < euclidean.n_wrong < guess.n_wrong
    same = check_pairs(Euclidean(), X, marks, seed=0, forest=False).scores
    np.testing.assert_array_equal(same[0].wrong, same[1].wrong)
    alike = Marks(pairs, np.ones(60), rows=120)
    assert check_pairs(GDM(), X, alike, seed=0, forest=True) is None


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ((16, 5, 15), "worse than E (p = 0.00098), not clearly better than guessing"),
        ((16, 16, 15), "not clearly better than E (p = 1), not clearly better than guessing"),
        ((0, 5, 6), "not clearly better than E (p = 0.062), better than guessing (p = 0.031)."),
        ((9, 15, 40), "better than E (p = 0.031), better than guessing (p = 9.3e-10)."),
    ],
)
def test_the_verdict_says_the_errors_and_what_a_paired_test_shows(wrong, said):
    names = ("M", "E", "always guessing 'a'")
    scores = [Score(name, np.arange(40) < k) for name, k in zip(names, wrong, strict=True)]
    verdict = Check(scores, "labels", 5).verdict()
    begin = "{} of 40 held-out labels wrong; E: {}; always guessing 'a': {}. By a sign test, {}"
    assert verdict.startswith(begin.format(*wrong, said))


@pytest.mark.slow
def test_probabilities_are_as_high_as_the_share_that_is_right(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    kind = np.arange(400) % 6
    X = rng.normal(size=(400, 6)) + rng.normal(size=(6, 6))[kind]
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["kind"] = np.where(np.arange(400) < 60, [f"k{k}" for k in kind], "")
    frame.to_csv("t.csv", index=False)
    verdict = ok("fit", "t.csv", "--label", "kind", "-o", "m.skops").out.split("Error on")[0]
    out = ok("predict", "m.skops", "t.csv", "-o", "filled.csv").out
    assert out.startswith(f"seraph fit: {verdict}")
    filled = pd.read_csv("filled.csv")[60:]
    right = np.mean(filled["kind"] == [f"k{k}" for k in kind[60:]])
    assert abs(filled["probability"].mean() - right) < 0.15


def test_uncalibrated_probabilities_are_called_so(tmp_path, monkeypatch, rng):
    monkeypatch.chdir(tmp_path)
    np.savez("t.npz", X=rng.normal(size=(30, 2)), y=np.arange(30) % 3 - 1)
    ok("fit", "t.npz", "--no-check", "-o", "m.skops")
    assert "The probabilities are not calibrated" in ok("predict", "m.skops", "t.npz").out
