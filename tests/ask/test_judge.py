"""The test of a session: the AUC, its interval, and when to stop."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph._apps.ask._difference import auc_difference
from seraph._apps.ask._judge import Comparison, Estimate, advice, compare
from seraph._apps.ask._learning import Learning, distances_of
from seraph._apps.ask._questions import PairQuestions


def drawn(rng, m, n, shift):
    """Distances of test pairs of both kinds, normal ones."""
    same = np.arange(m + n) < m
    return rng.normal(size=m + n) - shift * same, same


@pytest.mark.slow
def test_intervals_and_verdict_are_right_as_often_as_they_say(rng):
    truth = norm.cdf(1.5 / np.sqrt(2)) - 0.5
    right = []
    for _ in range(60):
        learned, same = drawn(rng, 8, 16, 1.5)
        every = drawn(rng, 600, 1200, 1.5)[0], rng.normal(size=1800)
        judged = compare(learned, rng.normal(size=24), same, np.ones(24), every)
        right.append(
            (
                judged.learned.low <= truth + 0.5 <= judged.learned.high,
                judged.difference.low <= truth <= judged.difference.high,
                judged.better != "euclidean",
            )
        )
    assert (np.mean(right, axis=0) >= 0.92).all()
    assert np.mean(right, axis=0)[0] < 1.0  # it is not merely wide


def test_the_verdict_names_the_better_distance_or_that_both_are_at_chance(rng):
    good, same = drawn(rng, 30, 30, 3.0)
    bad, worse = rng.normal(size=(2, 60))
    ones = np.ones(60)
    assert compare(good, bad, same, ones, (good, bad)).better == "learned"
    turned = compare(bad, good, same, ones, (bad, good))
    assert "Euclidean distance is better" in turned.sentence()
    level = compare(good, good, same, ones, (good, good))
    assert (level.better, level.difference.value, level.at_chance) == ("", 0.0, False)
    chance = compare(bad, worse, same, ones, (bad, worse))
    assert "both distances are at chance" in chance.sentence()
    said = advice(chance, 0.99, tests=(30, 30), kinds=(60, 60))
    assert not said.stop
    assert "the columns say nothing about your question" in said.text


def test_uneven_weights_and_shared_rows_widen_the_intervals():
    distances, same = np.arange(20.0), np.arange(20) < 8
    distances[[7, 8]] = distances[[8, 7]]
    both = distances, distances[::-1]
    even = compare(*both, same, np.ones(20), both)
    uneven = compare(*both, same, np.where(np.arange(20) % 4, 0.2, 3.4), both)
    few = compare(*both, same, np.ones(20), both, n_answers=6)
    for wider in (uneven, few):
        for name in ("learned", "difference"):
            new, old = getattr(wider, name), getattr(even, name)
            assert new.high - new.low > old.high - old.low


def test_too_few_answers_of_a_kind_give_no_figure():
    d = np.arange(5.0)
    assert compare(d, d, d < 2, np.ones(5), (d, d)) is None
    assert compare(d, d, d < 3, np.ones(5), (d, d)) is None
    d = np.arange(6.0)
    assert compare(d, d, d < 3, np.ones(6), (d, d)).learned.value == 1.0


def judgment(learned, difference):
    return Comparison(Estimate(*learned), Estimate(0.8, 0.7, 0.9), Estimate(*difference))


OPEN = judgment((0.88, 0.60, 0.98), (0.08, -0.02, 0.18))
LEVEL = judgment((0.81, 0.60, 0.98), (0.001, -0.06, 0.06))
WORSE = judgment((0.60, 0.40, 0.80), (-0.20, -0.35, -0.05))
GOOD = judgment((0.92, 0.85, 0.98), (0.12, 0.02, 0.20))


@pytest.mark.parametrize(
    ("now", "change", "kinds", "text", "stop"),
    [
        (None, None, (0, 0), "after a few answers", False),
        (None, None, (0, 3), "once two rows are called the same", False),
        (None, None, (3, 0), "once two rows are called different", False),
        (None, None, (4, 4), "make 3 pairs so far, 1 of them the same: 3 of", False),
        (GOOD, None, (6, 6), "(0.92 against 0.80, 95 % interval", False),
        (GOOD, 0.9, (30, 30), "More answers still improve the learned one", False),
        (WORSE, 0.99, (30, 30), "one (0.60 against 0.80", False),
        (OPEN, 0.99, (30, 30), "These answers show a difference of about 0.10 or more", False),
        (LEVEL, 0.9, (30, 30), "about as good as each other", False),
        (LEVEL, 0.99, (30, 30), "a good moment to finish", True),
        (GOOD, 0.99, (30, 30), "a good moment to finish", True),
    ],
)
def test_the_advice_says_which_is_better_and_when_to_stop(now, change, kinds, text, stop):
    said = advice(now, change, tests=(1, 2), kinds=kinds)
    assert text in said.text
    assert said.stop == stop
    said = advice(now, change, tests=(1, 2), kinds=kinds, left=False)
    assert said.text.startswith("There is nothing left to ask.")
    assert said.stop


def level_and_better(name):
    """Return points of a real set, a better space for them, and the classes."""
    X, y = {"wine": load_wine, "cancer": load_breast_cancer}[name](return_X_y=True)
    X = StandardScaler().fit_transform(X)[::2]
    y = y[::2]
    known = LinearDiscriminantAnalysis().fit_transform(X, y)
    return X, np.column_stack([X, {"wine": 1.0, "cancer": 2.0}[name] * known]), y


def differences(X, Z, y, n_sessions, n=30):
    """Yield what tests that the page draws say about the distances in two spaces."""
    many = np.random.default_rng(0).permutation(np.column_stack(np.triu_indices(len(X), 1)))[:2000]
    both = tuple(distances_of(space, many) for space in (Z, X))
    for seed in range(n_sessions):
        questions = PairQuestions(Learning(X), np.arange(len(X)), np.random.default_rng(seed))
        asked = {}
        while len(asked) < n:
            question = questions.test(asked, near=False)
            asked[question.rows] = y[question.rows[0]] == y[question.rows[1]]
        pairs, same = np.array(list(asked)), np.array(list(asked.values()))
        distances = [distances_of(space, pairs) for space in (Z, X)]
        yield Estimate(*auc_difference(*distances, same, np.ones(n), both, n))


def true_difference(X, Z, y):
    pairs = np.column_stack(np.triu_indices(len(X), 1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    aucs = [roc_auc_score(same, -distances_of(space, pairs)) for space in (Z, X)]
    return aucs[0] - aucs[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wine", "cancer"])
def test_a_difference_of_a_tenth_is_seen_by_sixty_answers_in_half_of_the_sessions(name):
    X, Z, y = level_and_better(name)
    truth = true_difference(X, Z, y)
    assert 0.09 < truth < 0.11
    judged = list(differences(X, Z, y, 40))
    assert np.mean([d.low <= truth <= d.high for d in judged]) >= 0.92
    assert np.mean([d.low > 0.0 for d in judged]) >= 0.5


def test_the_difference_is_that_of_the_aucs_where_all_pairs_are_answered():
    rng = np.random.default_rng(0)
    learned, same = drawn(rng, 800, 1200, 2.0)
    euclidean = learned + rng.normal(size=2000)
    value = auc_difference(learned, euclidean, same, np.ones(2000), (learned, euclidean), 2000)[0]
    aucs = [roc_auc_score(same, -d) for d in (learned, euclidean)]
    assert value == pytest.approx(aucs[0] - aucs[1], abs=1e-3)  # folds
