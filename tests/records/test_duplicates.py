"""Duplicates: what is found, what is asked, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from seraph.records import DuplicateFinder
from tests.helpers.people import people, same

# What is found


@pytest.fixture(scope="module")
def found():
    table, person = people(120, 80)
    finder = DuplicateFinder(random_state=0).fit(table)
    pairs = finder.questions(60)
    return table, person, finder, pairs, finder.find(pairs, same(person, pairs))


def test_duplicates_are_found(found):
    _, person, _, _, result = found
    right = same(person, result.pairs)
    assert right.mean() >= 0.95
    assert right.sum() >= 70  # of 80
    low, high = result.precision[1:]
    assert low <= result.precision[0] <= high
    assert result.n_groups == len(np.unique(result.group[result.group >= 0]))
    members = result.group[result.pairs]
    assert (members[:, 0] == members[:, 1]).all()
    assert (members >= 0).all()
    assert sum(result.weights.values()) == pytest.approx(1.0)


def test_only_neighbors_are_candidates(found):
    table, _, finder, _, result = found
    assert len(finder.candidates()) <= result.n_candidates <= 10 * len(table)


@pytest.mark.slow
def test_a_precision_moves_the_line(found):
    _, person, finder, pairs, _ = found
    answers = same(person, pairs)
    results = [finder.find(pairs, answers, precision=p) for p in (0.3, 0.5, 0.8, 0.97)]
    thresholds = [result.threshold for result in results]
    assert (np.diff(thresholds) > 0.0).all()
    counts = [len(result.pairs) for result in results]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_a_precision_out_of_reach_gives_the_best_one_and_says_so(found):
    _, person, finder, pairs, plain = found
    result = finder.find(pairs, same(person, pairs), precision=1.0)
    assert "A precision of 1 cannot be reached" in result.note
    assert "0.9" in result.note
    assert plain.note == ""
    assert len(result.pairs) > 40
    assert result.threshold >= plain.threshold


def test_answers_overrule_the_model(found):
    _, person, finder, pairs, result = found
    answers = same(person, pairs)
    surest = next(p for p in result.pairs.tolist() if p not in pairs[answers].tolist())
    turned = finder.find([*pairs.tolist(), surest], [*answers, False])
    i, j = surest
    assert turned.group[i] != turned.group[j] or turned.group[i] == -1
    assert surest not in turned.pairs.tolist()


def test_questions_are_of_both_kinds_and_spread(found):
    """Also where most neighbors are the same: no round has answers of one kind only."""
    _, person, finder, pairs, _ = found
    answers = same(person, pairs)
    assert 10 <= answers.sum() <= 50
    more = finder.questions(30, pairs, answers)
    assert 3 <= same(person, more).sum() <= 27


def test_questions_are_of_both_kinds_where_every_record_is_there_twice():
    """Two catalogs in one table: the nearest neighbor of every record is the same."""
    table, person = people(100, 100)
    finder = DuplicateFinder(random_state=0).fit(table)
    pairs = finder.questions(50)
    answers = same(person, pairs)
    assert 10 <= answers.sum() <= 40
    assert 5 <= same(person, finder.questions(50, pairs, answers)).sum() <= 45


def test_questions_share_no_record_and_are_not_repeated(found):
    _, person, finder, pairs, _ = found
    assert len(np.unique(pairs)) == pairs.size
    more = finder.questions(20, pairs, same(person, pairs))
    assert not {tuple(p) for p in more.tolist()} & {tuple(p) for p in pairs.tolist()}


def test_questions_after_answers_of_one_kind_are_still_spread(found):
    _, _, finder, pairs, _ = found
    more = finder.questions(10, pairs[:3], [True, True, True])
    assert len(more) == 10


def test_two_tables_are_linked_across_only():
    table, person = people(120, 80)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(120)])
    second = np.setdiff1d(np.arange(len(table)), first)
    one, two = table.iloc[first], table.iloc[second]
    finder = DuplicateFinder(random_state=0).fit(one, two)
    pairs = finder.questions(60)
    assert pairs[:, 0].max() < len(one)
    assert pairs[:, 1].max() < len(two)
    result = finder.find(pairs, same(person[first], pairs, person[second]))
    right = same(person[first], result.pairs, person[second])
    assert right.mean() >= 0.95
    assert right.sum() >= 70
    assert len(result.group) == len(one)
    assert len(result.other_group) == len(two)
    with pytest.raises(ValueError, match="rows"):
        finder.find([[0, len(two)], [1, 1]], [True, False])


def test_one_to_one_pairs_a_record_once():
    table, person = people(120, 80)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(120)])
    second = np.setdiff1d(np.arange(len(table)), first)
    one, two = table.iloc[first], table.iloc[np.r_[second, second]]  # each of the other twice
    whose = np.r_[person[second], person[second]]
    finder = DuplicateFinder().fit(one, two)
    pairs = finder.questions(60)
    answers = same(person[first], pairs, whose)
    many, single = (finder.find(pairs, answers, one_to_one=o).pairs for o in (False, True))
    assert len(many) > 1.5 * len(single)
    for side in single.T:
        assert len(np.unique(side)) == len(side)
    with pytest.raises(ValueError, match="two tables"):
        DuplicateFinder().fit(table).find(pairs, answers, one_to_one=True)


def test_groups_larger_than_the_number_of_neighbors_are_found_whole():
    """All pairs of a group are there, also those that are not among each other's neighbors."""
    table, person = people(60, 40)
    twice = np.random.default_rng(0).permutation(25)
    copies = pd.concat([table.iloc[:1]] * 25, ignore_index=True)
    copies["street"] = [f"{street} {k}" for k, street in zip(twice, copies["street"], strict=True)]
    table = pd.concat([table, copies], ignore_index=True)
    person = np.r_[person, np.repeat(person[0], 25)]
    finder = DuplicateFinder(n_neighbors=4).fit(table)
    pairs = finder.questions(60)
    result = finder.find(pairs, same(person, pairs))
    assert len(set(result.group[-25:])) == 1
    assert (result.pairs.min(axis=1) >= 100).sum() == 25 * 24 // 2
    assert result.n_candidates > len(finder.candidates())


# What is refused


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1.0, 2.0]], "data frame"),
        ({"a": []}, "empty"),
        ({"a": ["x"], "b": ["y", "z"]}, "one length"),
        ({"kg": [1.5, 2.5, 3.5]}, "No column holds text"),
        ({"a": ["x", "x", "x"]}, "nothing to compare"),
        ({"a": ["x", "y"]}, "nothing to compare"),
        ({"a": ["abc", "def", "ghi"]}, "nothing to compare"),
    ],
)
def test_records_that_cannot_be_compared_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        DuplicateFinder().fit(table)


def test_bad_arguments_are_refused(found):
    table, person, finder, pairs, _ = found
    answers = same(person, pairs)
    with pytest.raises(ValueError, match="both kinds"):
        finder.find(pairs[answers], answers[answers])
    with pytest.raises(ValueError, match="say different"):
        finder.find(pairs[~answers], answers[~answers])
    with pytest.raises(ValueError, match="precision"):
        finder.find(pairs, answers, precision=1.5)
    with pytest.raises(ValueError, match="call fit first"):
        DuplicateFinder().find(pairs, answers)
    with pytest.raises(ValueError, match="'nope'"):
        DuplicateFinder(text=["nope"]).fit(table)
    with pytest.raises(ValueError, match="different columns"):
        DuplicateFinder().fit(table, table.drop(columns="town"))
    with pytest.raises(ValueError, match="n_neighbors"):
        DuplicateFinder(0).fit(table)
