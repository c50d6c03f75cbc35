"""Screens judge the distance that was learned from them."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from seraph import (
    Marks,
    PairClassifier,
    judge_screens,
    query_screens,
)
from seraph._decide._queries import sample_screen
from seraph._decide._screen_auc import (
    Estimate,
    ScreenAUC,
    fit_prediction,
    influences,
    jackknife_variance,
)
from seraph.classic import GMML, Euclidean


def made(n, noise=4):
    """Three classes along one column, beside columns of noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=n)
    return np.column_stack([3.0 * y + rng.normal(size=n), 3.0 * rng.normal(size=(n, noise))]), y


def asked(n, n_screens, noise=4):
    """Made rows, their classes, the rows of some screens, and their chances."""
    X, y = made(n, noise)
    return X, y, *query_screens(None, X, n_screens, random_state=0)


def test_the_estimates_are_unbiased_over_screens():
    X, y = made(40, noise=2)
    i, j = np.triu_indices(len(y), 1)
    same = y[i] == y[j]
    distances = [np.abs(X[i, 0] - X[j, 0]), np.linalg.norm(X[i] - X[j], axis=1)]
    exact = [roc_auc_score(same, -d) for d in distances]
    rng = np.random.RandomState(0)
    table, everywhere = np.zeros((40, 40, 2)), np.zeros((1, len(i), 2))
    for k, d in enumerate(distances):
        everywhere[0, :, k] = table[i, j, k] = table[j, i, k] = (rankdata(d) - 0.5) / len(d)
    found = []
    for _ in range(200):
        screens = [sample_screen(X, rng.randint(len(X)), 6, 3, rng) for _ in range(12)]
        rows, chances = map(np.array, zip(*screens, strict=True))
        told = y[rows[:, 1:]] == y[rows[:, :1]]
        ranks = table[rows[:, :1], rows[:, 1:]]
        judge = ScreenAUC(told, np.ones_like(told), chances, ranks, None, everywhere)
        found.append(judge.estimate(np.arange(12)).aucs)
    exact = np.array([*exact, exact[0] - exact[1]])
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - exact) <= 3.5 * error).all()
    assert (error < 0.008).all()


def test_the_prediction_is_a_ridge_regression_with_half_an_answer_of_each_kind():
    rng = np.random.default_rng(0)
    V = rng.normal(size=(50, 2))
    s = (V[:, 0] + rng.normal(size=50) > 0).astype(float)
    other = LogisticRegression(C=1.0, tol=1e-10).fit(
        np.vstack([V, np.zeros((2, 2))]), [*s, 0.0, 1.0], [*np.ones(50), 0.5, 0.5]
    )
    beta = fit_prediction(V, s)
    np.testing.assert_allclose(beta, [*other.intercept_, *other.coef_[0]], atol=1e-5)
    assert np.isfinite(fit_prediction(V, np.zeros(50))).all()


def test_the_jackknife_of_a_mean_is_its_squared_standard_error():
    x = np.random.default_rng(0).normal(size=12)
    without = np.array([np.delete(x, k).mean() for k in range(len(x))])
    assert jackknife_variance(without) == pytest.approx(x.var(ddof=1) / len(x))


def test_the_influence_of_a_pair_is_the_derivative_of_the_auc_by_its_weight():
    rng = np.random.default_rng(0)
    s, d = rng.random(30) < 0.4, rng.normal(size=(30, 2))
    ranks = (d.argsort(axis=0).argsort(axis=0) + 0.5) / len(s)

    def aucs(weights):
        learned, before = (roc_auc_score(s, -column, sample_weight=weights) for column in d.T)
        return np.array([learned, before, learned - before])

    found = Estimate(np.zeros(3), s.mean(), aucs(np.ones(len(s))))
    each = influences(ranks, found, s.astype(float))
    step = 1e-5 * len(s)
    slopes = [(aucs(1 + step * e) - aucs(1 - step * e)) / 2e-5 for e in np.eye(len(s))]
    expected = np.array(slopes) - np.mean(slopes, axis=0)
    # A pair's own rank moves, too: less than one part in as many pairs as there are.
    np.testing.assert_allclose(each - each.mean(axis=0), expected, atol=3.0 / len(s))


def test_no_fit_sees_a_row_of_the_screens_that_it_ranks():
    X, y = made(90)
    rows, chances = query_screens(None, X, 12, size=5, near=2, random_state=0)
    row_of = {point.tobytes(): row for row, point in enumerate(X)}
    fits = []

    class Spy(GMML):
        def fit(self, X, y=None, *, marks=None):
            fits.append(([row_of[point.tobytes()] for point in X], marks))
            return super().fit(X, marks=marks)

    judge_screens(Spy(), X, rows, y[rows], chances)
    assert len(fits) == 5
    for fold, (seen, marks) in enumerate(fits):
        others = np.arange(12) % 5 != fold
        assert not set(seen) & set(rows[~others].ravel().tolist())
        told = {"rows": 90, "chances": chances[others]}
        assert marks == Marks.from_screens(rows[others], y[rows[others]], **told)[seen]


def test_a_better_distance_is_found_better_and_a_wrong_tap_doubtful():
    X, y, rows, chances = asked(200, 25, noise=1)
    answers = (y[rows[:, 1:]] == y[rows[:, :1]]).astype(int)
    found = judge_screens(GMML(), X, rows, answers, chances)
    assert found.verdict == "better"
    assert found.more == 0
    assert found.learned[0] - found.before[0] == pytest.approx(found.difference[0])
    far = np.abs(X[rows[:, 1:], 0] - X[rows[:, :1], 0])
    at = np.unravel_index(far.argmax(), far.shape)
    answers[at] = 1
    again = judge_screens(GMML(), X, rows, answers, chances)
    assert again.likelihood[at] < 0.05
    assert again.doubtful[0] == at[0]


def test_a_distance_that_learns_nothing_is_no_better():
    X, y, rows, chances = asked(200, 20, noise=1)
    found = judge_screens(Euclidean(), X, rows, y[rows], chances)
    assert found.learned == found.before
    assert found.difference == (0.0, 0.0, 0.0)
    assert (found.verdict, found.more) == ("about as good", 0)


def test_unsure_rows_do_not_judge_and_names_find_their_rows():
    X, y, rows, chances = asked(80, 10)
    model = make_pipeline(StandardScaler(), GMML())
    answers = (y[rows[:, 1:]] == y[rows[:, :1]]).astype(int)
    answers[3] = -1
    found = judge_screens(model, X, rows, answers, chances)
    assert np.isnan(found.likelihood).sum() == 7
    table = pd.DataFrame(X, index=[f"r{k}" for k in range(80)])
    named = judge_screens(model, table, table.index.to_numpy()[rows], answers, chances)
    assert named.difference == found.difference


def test_a_pair_classifier_is_judged_by_the_distance_that_it_decides_by():
    X, y, rows, chances = asked(120, 12)
    found = judge_screens(PairClassifier(GMML(), forest=False), X, rows, y[rows], chances)
    alone = judge_screens(GMML(), X, rows, y[rows], chances)
    assert found.difference == pytest.approx(alone.difference)


def test_too_few_answers_and_other_chances_are_refused():
    X, y, rows, chances = asked(60, 6)
    with pytest.raises(ValueError, match=r"at least 5 answered screens.*got 4 screens"):
        judge_screens(GMML(), X, rows[:4], y[rows[:4]], chances[:4])
    with pytest.raises(ValueError, match=r"of shape \(6, 7\).*got the shape \(6, 6\)"):
        judge_screens(GMML(), X, rows, y[rows], chances[:, 1:])
