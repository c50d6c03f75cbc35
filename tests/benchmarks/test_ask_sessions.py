"""The simulation of sessions: its truth is the truth, and a short one counts what it should."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.ask_sessions import drawn_tests, outcomes, run, table, true_auc
from tests.helpers.ask import clusters


@pytest.mark.parametrize("wrong", [0.0, 0.1])
def test_the_truth_is_the_auc_of_somebody_who_gives_wrong_answers(wrong, rng):
    same = rng.random(4000) < 0.4
    distances = rng.normal(size=4000) - same
    answers = same != (rng.random(4000) < wrong)
    expected = roc_auc_score(answers, -distances)
    assert true_auc(distances, same, wrong) == pytest.approx(expected, abs=0.03 if wrong else 1e-9)


def test_tests_are_drawn_and_answered_as_in_a_session():
    X, y = clusters(60)
    pairs, same, weights = drawn_tests(X, y, 0.0, 20, 0)
    assert len(np.unique(pairs, axis=0)) == 20
    assert np.array_equal(same, y[pairs[:, 0]] == y[pairs[:, 1]])
    assert set(weights) == {1.0}


def test_a_short_session_is_judged():
    X, y = clusters(60, m=3)
    records = run(X, y, 0.0, seed=0, counts=(20,), draws=2)
    records = [{"set": "wine", "wrong": 0.0, **record} for record in records]
    found = [outcome for record in records for outcome in outcomes(record)]
    assert len(found) == 3
    assert all(outcome["learned"] for outcome in found)
    assert not any(outcome["false"] for outcome in found)
    assert "| wine | 0 % | 20 | 1, 3 |" in table(records)
