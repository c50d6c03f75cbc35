"""The test of a session: the AUC, its interval, and when to stop."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from seraph._apps.ask._difference import auc_difference
from seraph._apps.ask._judge import (
    Comparison,
    Estimate,
    advice,
    auc_interval,
    compare,
    steadiness,
    weighted_auc,
)
from seraph._apps.ask._questions import PairQuestions, distances_of


def test_the_auc_is_that_of_scikit_learn(rng):
    distances = rng.integers(20, size=200).astype(float)  # many ties
    same = rng.random(200) < 0.3
    assert weighted_auc(distances, same, np.ones(200)) == pytest.approx(
        roc_auc_score(same, -distances)
    )
    weights = rng.random(200)
    s, d = distances[same][:, None], distances[~same]
    pairs = weights[same][:, None] * weights[~same] * ((s < d) + 0.5 * (s == d))
    expected = pairs.sum() / np.outer(weights[same], weights[~same]).sum()
    assert weighted_auc(distances, same, weights) == pytest.approx(expected)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.5, 0.9, 1.0])
def test_the_limits_solve_newcombes_equation(value):
    m, n = 7, 12
    low, high = auc_interval(value, m, n)
    assert 0.0 <= low <= value <= high <= 1.0
    assert high - low > 0.2
    for theta in {low, high} - {0.0, 1.0}:
        spread = (1 - theta) / (2 - theta) + theta / (1 + theta)
        variance = theta * (1 - theta) / (m * n) * (1 + ((m + n) / 2 - 1) * spread)
        assert abs(value - theta) == pytest.approx(norm.ppf(0.975) * np.sqrt(variance), rel=1e-6)


def drawn(rng, m, n, shift):
    """Distances of test pairs of both kinds, normal ones."""
    same = np.arange(m + n) < m
    return rng.normal(size=m + n) - shift * same, same


def test_intervals_and_verdict_are_right_as_often_as_they_say(rng):
    truth = norm.cdf(1.5 / np.sqrt(2)) - 0.5
    right = []
    for _ in range(100):
        learned, same = drawn(rng, 8, 16, 1.5)
        found = compare(learned, rng.normal(size=24), same, np.ones(24))
        difference = found.difference
        right.append(
            (
                found.learned.low <= truth + 0.5 <= found.learned.high,
                difference.low <= truth <= difference.high,
                found.better != "euclidean",
            )
        )
    assert (np.mean(right, axis=0) >= 0.92).all()
    assert np.mean(right, axis=0)[0] < 1.0  # it is not merely wide


def test_the_verdict_names_the_better_distance(rng):
    good, same = drawn(rng, 30, 30, 3.0)
    bad = rng.normal(size=60)
    assert compare(good, bad, same, np.ones(60)).better == "learned"
    worse = compare(bad, good, same, np.ones(60))
    assert worse.better == "euclidean"
    assert "The Euclidean distance is better" in worse.sentence()
    level = compare(good, good, same, np.ones(60))
    assert level.better == ""
    assert level.difference.value == 0.0


def test_weights_and_shared_rows_widen_the_interval():
    distances, same = np.arange(20.0), np.arange(20) < 8
    distances[[7, 8]] = distances[[8, 7]]
    even = compare(distances, distances, same, np.ones(20)).learned
    uneven = compare(distances, distances, same, np.where(np.arange(20) % 4, 0.2, 3.4)).learned
    pairs = np.column_stack([np.arange(20) % 5, 5 + np.arange(20) % 3])
    few = compare(distances, distances, same, np.ones(20), pairs).learned
    assert uneven.high - uneven.low > even.high - even.low
    assert few.high - few.low > even.high - even.low
    assert few.value == even.value


def test_near_pairs_of_small_weight_do_not_look_certain():
    distances, same = np.arange(24.0), np.arange(24) < 6  # no far pair of the same kind was drawn
    weights = np.where(same, 0.3, 1.2)
    near = compare(distances, distances, same, weights).learned
    plain = compare(distances, distances, same, np.ones(24)).learned
    assert near.value == plain.value == 1.0
    assert near.low < plain.low


def test_too_few_answers_of_a_kind_give_no_figure():
    d = np.arange(5.0)
    assert compare(d, d, d < 2, np.ones(5)) is None
    assert compare(d, d, d < 3, np.ones(5)) is None


def test_the_same_order_of_distances_is_steady(rng):
    d = rng.random(50)
    assert steadiness(d, d**3) == 1.0
    assert abs(steadiness(d, rng.random(50))) < 0.5
    assert steadiness(d, np.ones(50)) == 0.0


def judgment(learned, difference):
    return Comparison(Estimate(*learned), Estimate(0.8, 0.7, 0.9), Estimate(*difference))


OPEN = judgment((0.88, 0.60, 0.98), (0.08, -0.02, 0.18))
UNKNOWN = judgment((0.81, 0.20, 0.98), (0.04, -0.81, 0.81))
LEVEL = judgment((0.81, 0.60, 0.98), (0.001, -0.06, 0.06))
WORSE = judgment((0.60, 0.40, 0.80), (-0.20, -0.35, -0.05))
GOOD = judgment((0.92, 0.85, 0.98), (0.12, 0.02, 0.20))


@pytest.mark.parametrize(
    ("now", "change", "kinds", "said", "stop"),
    [
        (None, None, (0, 0), "after a few answers", False),
        (None, None, (0, 3), "once two rows are called the same", False),
        (None, None, (3, 0), "once two rows are called different", False),
        (None, None, (4, 4), "make 3 pairs so far, 1 of them the same: 3 of", False),
        (GOOD, None, (6, 6), "(0.92 against 0.80, 95 % interval", False),
        (GOOD, 0.9, (30, 30), "More answers still improve the learned one", False),
        (WORSE, 0.99, (30, 30), "one (0.60 against 0.80", False),
        (OPEN, 0.99, (30, 30), "These answers show a difference of about 0.10 or more", False),
        (UNKNOWN, 0.99, (30, 30), "These answers show a difference of about 0.81", False),
        (LEVEL, 0.9, (30, 30), "about as good as each other", False),
        (LEVEL, 0.99, (30, 30), "a good moment to finish", True),
        (GOOD, 0.99, (30, 30), "a good moment to finish", True),
    ],
)
def test_the_advice_says_which_is_better_and_when_to_stop(now, change, kinds, said, stop):
    found = advice(now, change, tests=(1, 2), kinds=kinds)
    assert said in found.text
    assert found.stop == stop
    found = advice(now, change, tests=(1, 2), kinds=kinds, left=False)
    assert found.text.startswith("There is nothing left to ask.")
    assert found.stop


def test_a_limit_that_rounds_to_zero_has_no_minus():
    assert " +0.00 to +0.18)" in judgment((0.88, 0.60, 0.98), (0.08, -0.001, 0.18)).sentence()


def test_a_test_with_enough_of_each_kind_is_judged_soon():
    found = advice(None, None, tests=(3, 7), kinds=(6, 14))
    assert found.text == "After a few more answers the page says how good the distance is."


def test_the_advice_depends_on_the_width_of_an_interval_and_not_on_its_place():
    """What more answers would show hangs on nothing that jumps from refit to refit."""
    said = {
        advice(judgment((0.8, 0.7, 0.9), (value, value - 0.2, value + 0.2)), 0.99,
               tests=(9, 21), kinds=(20, 40)).text.partition("). ")[2]
        for value in (-0.1, -0.001, 0.0, 0.04, 0.19)
    }  # fmt: skip
    assert said == {
        "These answers show a difference of about 0.20 or more; four times as many, one half as "
        "large."
    }


@pytest.mark.parametrize("width", [0.1, 0.2, 0.3, 0.5, 0.81])
@pytest.mark.parametrize("value", [-0.05, 0.0, 0.001, 0.08])
def test_no_advice_says_more_than_the_interval(value, width):
    """Two distances are close, or it is time to stop, only where the interval says so."""
    now = judgment((0.85, 0.80, 0.90), (value, value - width, value + width))
    said = advice(now, 0.99, tests=(20, 30), kinds=(40, 60))
    narrow = abs(value) + width <= 0.1
    assert said.stop == narrow
    assert ("as good as" in said.text) == narrow
    assert ("open" in said.text) == (not narrow)
    assert ("answers show a difference" in said.text) == (not narrow)


def level_and_better(name):
    """Return points of a real set, a better space for them, and the classes."""
    X, y = {"wine": load_wine, "cancer": load_breast_cancer}[name](return_X_y=True)
    X = StandardScaler().fit_transform(X)[::2]
    y = y[::2]
    known = LinearDiscriminantAnalysis().fit_transform(X, y)
    return X, np.column_stack([X, {"wine": 1.0, "cancer": 2.0}[name] * known]), y


def sessions(X, Z, y, n_sessions, n=30):
    """Yield what tests that the page draws say about the distances in two spaces."""
    many = np.random.default_rng(0).permutation(np.column_stack(np.triu_indices(len(X), 1)))[:2000]
    for seed in range(n_sessions):
        questions = PairQuestions(X, np.arange(len(X)), np.random.default_rng(seed))
        asked = {}
        while len(asked) < n:
            question = questions.test(asked, near=False)
            asked[question.rows] = y[question.rows[0]] == y[question.rows[1]]
        pairs, same = np.array(list(asked)), np.array(list(asked.values()))
        distances = [distances_of(space, pairs) for space in (Z, X)]
        both = tuple(distances_of(space, many) for space in (Z, X))
        yield compare(*distances, same, np.ones(n), population=both).difference


def true_difference(X, Z, y):
    pairs = np.column_stack(np.triu_indices(len(X), 1))
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    aucs = [roc_auc_score(same, -distances_of(space, pairs)) for space in (Z, X)]
    return aucs[0] - aucs[1]


@pytest.mark.parametrize("name", ["wine", "cancer"])
def test_a_difference_of_a_tenth_is_seen_by_sixty_answers_in_half_of_the_sessions(name):
    X, Z, y = level_and_better(name)
    truth = true_difference(X, Z, y)
    assert 0.09 < truth < 0.11
    found = list(sessions(X, Z, y, 60))
    assert np.mean([d.low <= truth <= d.high for d in found]) >= 0.92
    assert np.mean([d.low > 0.0 for d in found]) >= 0.5


def test_level_distances_are_hardly_ever_told_apart():
    X, _, y = level_and_better("wine")
    rng = np.random.default_rng(0)
    Z = X * rng.permutation(np.linspace(0.7, 1.3, X.shape[1]))
    truth = true_difference(X, Z, y)
    assert abs(truth) < 0.02
    found = list(sessions(X, Z, y, 60))
    assert np.mean([d.low <= truth <= d.high for d in found]) >= 0.92


def test_the_difference_is_that_of_the_aucs_where_all_pairs_are_answered():
    rng = np.random.default_rng(0)
    learned, same = drawn(rng, 800, 1200, 2.0)
    euclidean = learned + rng.normal(size=2000)
    found = auc_difference(learned, euclidean, same, np.ones(2000), (learned, euclidean))
    aucs = [roc_auc_score(same, -d) for d in (learned, euclidean)]
    assert found[0] == pytest.approx(aucs[0] - aucs[1], abs=1e-3)  # folds


def test_answers_that_are_all_as_predicted_do_not_look_certain():
    d = np.linspace(0.0, 1.0, 30)
    same = d < 0.3
    many = np.linspace(0.0, 1.0, 2000)
    _, low, high = auc_difference(d, d[::-1], same, np.ones(30), (many, many[::-1]))
    assert high - low > 0.1
    assert auc_difference(d, d, same, np.ones(30), (many, many)) == (0.0, 0.0, 0.0)
