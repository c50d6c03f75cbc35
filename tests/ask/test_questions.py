"""The next question: useful, varied, fair where it is for the test, and never asked twice."""

import numpy as np
import pytest

from seraph import Marks, MeanMetric, query_rows
from seraph._apps.ask._answers import Answer
from seraph._apps.ask._learning import Learning, distances_of
from seraph._apps.ask._questions import POOL, PairQuestions, RowQuestions
from tests.helpers.ask import clusters

X, y = clusters(60)
ROWS = np.arange(60)
PAIRS = np.column_stack(np.triu_indices(60, 1))


def ask(kind=PairQuestions, rows=ROWS, seed=0, learner=None):
    learning = Learning(X)
    learning.learner = learner
    return kind(learning, rows, np.random.default_rng(seed))


@pytest.mark.parametrize("near", [False, True])
def test_the_weights_of_the_test_undo_its_preference_for_near_pairs(near):
    questions = ask()
    asked = [questions.test(set(), near=near) for _ in range(800)]
    pairs = np.array([question.rows for question in asked])
    weights = np.array([question.weight for question in asked])
    distances, every = distances_of(X, pairs), distances_of(X, PAIRS)
    assert (distances.mean() < 0.9 * every.mean()) == near
    assert (set(weights) == {1.0}) == (not near)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    truth = np.mean(y[PAIRS[:, 0]] == y[PAIRS[:, 1]])
    assert np.average(same, weights=weights) == pytest.approx(truth, rel=0.1)
    assert np.average(distances, weights=weights) == pytest.approx(every.mean(), rel=0.1)
    assert weights.mean() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("kind", ["test", "plain"])
@pytest.mark.parametrize(
    ("questions", "every"),
    [
        (PairQuestions, {(3, 7), (3, 8), (3, 20), (7, 8), (7, 20), (8, 20)}),
        (RowQuestions, {(3,), (7,), (8,), (20,)}),
    ],
)
def test_everything_that_can_be_shown_is_asked_once(questions, every, kind):
    asking = ask(questions, np.array([3, 7, 8, 20]))
    options = {"near": False} if kind == "test" else {}
    known = set()
    while question := getattr(asking, kind)(known, **options):
        assert question.rows not in known
        known.add(question.rows)
    assert known == every


def test_questions_without_a_model_are_near_and_far_in_turn():
    questions = ask()
    asked = np.array([questions.plain(set()).rows for _ in range(80)])
    near, far = (distances_of(X, asked[first::2]) for first in (0, 1))
    assert near.max() < np.median(far)


def test_the_model_is_asked_for_pairs_that_are_unknown_and_share_no_row():
    pairs = np.array([[0, 3], [0, 1], [1, 4], [2, 3]])
    learner = MeanMetric().fit(X, marks=Marks(pairs, [1, -1, 1, -1], rows=X))
    answers = [Answer(tuple(pair), True) for pair in pairs.tolist()]
    chosen = [question.rows for question in ask(learner=learner).chosen(answers)]
    rows = [row for pair in chosen for row in pair]
    assert len(chosen) == POOL
    assert len(set(rows)) == len(rows)
    assert not {answer.rows for answer in answers} & set(chosen)
    assert all(i < j for i, j in chosen)


@pytest.mark.parametrize("kind", [PairQuestions, RowQuestions])
def test_rows_that_cannot_be_shown_are_not_asked(kind):
    questions = ask(kind, np.arange(0, 60, 2), learner=MeanMetric().fit(X, y))
    answers = [Answer((0,), "a"), Answer((1,), "b")] if kind is RowQuestions else []
    asked = [questions.test(set(), near=False), questions.plain(set())]
    asked += questions.chosen(answers)
    assert all(row % 2 == 0 for question in asked for row in question.rows)


def test_the_rows_to_name_are_those_of_query_rows():
    named = {0: "a", 1: "b", 4: "b"}
    codes = np.full(60, -1)
    codes[list(named)] = [0, 1, 1]
    learner = MeanMetric().fit(X, codes)
    answers = [*(Answer((row,), name) for row, name in named.items()), Answer((5,), None)]
    rows = [row for q in ask(RowQuestions, learner=learner).chosen(answers) for row in q.rows]
    assert len(set(rows)) == POOL
    assert not {0, 1, 4, 5} & set(rows)
    shuffled = np.random.default_rng(0).permutation(np.setdiff1d(ROWS, [0, 1, 4, 5]))
    order = np.r_[list(named), shuffled]
    expected = query_rows(learner, X[order], POOL, y=codes[order], random_state=0)
    assert rows == order[expected].tolist()
    everything = [Answer((row,), "a") for row in range(60)]
    assert ask(RowQuestions, learner=learner).chosen(everything) == []
