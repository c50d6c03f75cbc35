"""The next question: useful, varied, fair where it is for the test, and never asked twice."""

import numpy as np
import pytest

from seraph import Marks, MeanMetric, query_rows
from seraph._apps.ask._questions import POOL, PairQuestions, RowQuestions, distances_of
from seraph._apps.ask._records import RecordQuestions, Records
from seraph.classic import Euclidean
from seraph.records import DuplicateFinder
from tests.helpers.ask import clusters
from tests.helpers.people import people, same

X, y = clusters(60)
ROWS = np.arange(60)


def pair_questions(rows=ROWS, seed=0):
    return PairQuestions(X, rows, np.random.default_rng(seed))


def test_the_weights_of_the_test_undo_its_preference_for_near_pairs():
    questions = pair_questions()
    drawn = [questions.test(set(), near=True) for _ in range(800)]
    pairs = np.array([question.rows for question in drawn])
    weights = np.array([question.weight for question in drawn])
    i, j = np.triu_indices(60, 1)
    all_distances = distances_of(X, np.column_stack([i, j]))
    distances = distances_of(X, pairs)
    assert distances.mean() < 0.9 * all_distances.mean()
    for value in (distances, y[pairs[:, 0]] == y[pairs[:, 1]]):
        truth = all_distances.mean() if value is distances else np.mean(y[i] == y[j])
        assert np.average(value, weights=weights) == pytest.approx(truth, rel=0.1)
    assert weights.mean() == pytest.approx(1.0, rel=0.05)


def test_a_plain_test_prefers_nothing():
    questions = pair_questions()
    drawn = [questions.test(set(), near=False) for _ in range(800)]
    assert {question.weight for question in drawn} == {1.0}
    distances = distances_of(X, np.array([question.rows for question in drawn]))
    i, j = np.triu_indices(60, 1)
    assert distances.mean() == pytest.approx(
        distances_of(X, np.column_stack([i, j])).mean(), rel=0.05
    )


def test_few_tests_have_pairs_of_all_kinds_of_distances():
    for seed in range(5):
        questions = pair_questions(seed=seed)
        weights = [questions.test(set(), near=True).weight for _ in range(8)]
        places = np.histogram(np.array(weights) / 2.0, bins=4, range=(0.0, 1.0))[0]
        assert places.min() >= 1
        assert places.max() <= 3


KINDS = {"test": {"near": False}, "plain": {}}


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_is_asked_once_and_then_there_is_nothing_left(kind):
    questions = pair_questions(np.array([3, 7, 8, 20]))
    known = set()
    while question := getattr(questions, kind)(known, **KINDS[kind]):
        assert question.rows not in known
        known.add(question.rows)
    assert known == {(3, 7), (3, 8), (3, 20), (7, 8), (7, 20), (8, 20)}


def test_questions_without_a_model_are_near_and_far_in_turn():
    questions = pair_questions()
    asked = np.array([questions.plain(set()).rows for _ in range(80)])
    near, far = (distances_of(X, asked[first::2]) for first in (0, 1))
    assert near.max() < np.median(far)


# Records


@pytest.fixture(scope="module")
def records():
    table, person = people(40, 20)
    return Records(DuplicateFinder(n_neighbors=3).fit(table)), person


def record_questions(records, rows=range(60)):
    return RecordQuestions(records.points(), np.array(rows), np.random.default_rng(0), records)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_of_neighboring_records_is_asked_once(kind, records):
    questions = record_questions(records[0], range(12))
    known = set()
    while question := getattr(questions, kind)(known, **KINDS[kind]):
        known.add(question.rows)
    assert known == {pair for pair in map(tuple, records[0].pairs.tolist()) if max(pair) < 12}


def test_records_without_neighbors_to_show_are_refused(records):
    with pytest.raises(ValueError, match="No two neighboring records can be shown"):
        record_questions(records[0], [3])


def test_the_model_is_asked_for_neighboring_records_that_it_is_unsure_of(records):
    made, person = records
    some = made.pairs[::3]
    learner = made.learned(some, same(person, some))
    known = set(map(tuple, some.tolist()))
    found = [question.rows for question in record_questions(made).chosen(learner, known, {})]
    assert 0 < len(found) <= POOL
    assert len({row for pair in found for row in pair}) == 2 * len(found)
    assert set(found) <= set(map(tuple, made.pairs.tolist())) - known
    doubt = [np.abs(made.distances(learner, np.array(pairs))[0]) for pairs in (found, made.pairs)]
    assert np.median(doubt[0]) < np.median(doubt[1])


def test_the_model_is_asked_for_pairs_that_are_unknown_and_share_no_row():
    pairs = np.array([[0, 3], [0, 1], [1, 4], [2, 3]])
    learner = MeanMetric().fit(X, marks=Marks(pairs, [1, -1, 1, -1], rows=X))
    known = {tuple(pair) for pair in pairs.tolist()}
    chosen = pair_questions().chosen(learner, known, {})
    rows = [row for question in chosen for row in question.rows]
    assert len(chosen) == 12
    assert len(set(rows)) == len(rows)
    assert not known & {question.rows for question in chosen}
    assert all(i < j for i, j in (question.rows for question in chosen))


def test_no_pair_is_chosen_by_a_model_without_probabilities():
    mean = MeanMetric([("plain", Euclidean())]).fit(X, y)
    assert pair_questions().chosen(mean, set(), {}) == []


def test_rows_that_cannot_be_shown_are_not_asked():
    rows = np.arange(0, 60, 2)
    learner = MeanMetric().fit(X, y)
    for questions in (PairQuestions, RowQuestions):
        some = questions(X, rows, np.random.default_rng(0))
        asked = [some.test(set(), near=False), some.plain(set())]
        asked += some.chosen(learner, set(), {0: 0, 1: 1})
        assert all(row % 2 == 0 for question in asked for row in question.rows)


def test_rows_are_asked_once_and_then_there_is_nothing_left():
    questions = RowQuestions(X, ROWS[:6], np.random.default_rng(0))
    known = set()
    while question := questions.plain(known):
        known.add(question.rows)
    assert known == {(row,) for row in range(6)}
    assert questions.test(known, near=False) is None
    assert questions.chosen(MeanMetric().fit(X, y), known, {}) == []


def test_the_first_rows_are_far_from_each_other():
    questions = RowQuestions(X, ROWS, np.random.default_rng(0))
    known = set()
    for _ in range(3):
        known.add(questions.plain(known).rows)
    assert len({y[row] for (row,) in known}) == 3


def test_the_rows_to_name_are_those_of_query_rows():
    codes = {0: 0, 1: 1, 4: 1}
    known_classes = np.full(60, -1)
    known_classes[list(codes)] = list(codes.values())
    learner = MeanMetric().fit(X, known_classes)
    questions = RowQuestions(X, ROWS, np.random.default_rng(0))
    known = {(0,), (1,), (4,), (5,)}  # the person was unsure about 5
    asked = questions.chosen(learner, known, codes)
    rows = [row for question in asked for row in question.rows]
    assert len(set(rows)) == POOL
    assert not {0, 1, 4, 5} & set(rows)
    shuffled = np.random.default_rng(0).choice(np.setdiff1d(ROWS, [0, 1, 4, 5]), 56, replace=False)
    order = np.r_[list(codes), shuffled]
    expected = query_rows(learner, X[order], POOL, y=known_classes[order], random_state=0)
    assert rows == order[expected].tolist()
