"""Duplicates: what is found, what is asked, and what is refused."""

import itertools

import numpy as np
import pandas as pd
import pytest

from seraph.records import DuplicateFinder
from seraph.records._answers import Answers
from tests.helpers.people import people, same
from tests.helpers.quick import few

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


def test_a_precision_out_of_reach_gives_the_best_one_and_says_so(found):
    _, person, finder, pairs, plain = found
    result = finder.find(pairs, same(person, pairs), precision=1.0)
    assert "A precision of 1 cannot be reached" in result.note
    assert "0.9" in result.note
    assert plain.note == ""
    assert len(result.pairs) > 40
    assert result.threshold >= plain.threshold


def test_few_answers_lose_little_and_are_said_to_tell_hardly_anything(found):
    _, person, finder, pairs, _ = found
    answers = same(person, pairs)
    some = np.r_[np.flatnonzero(answers)[-3:], np.flatnonzero(~answers)[-3:]]
    result = finder.find(pairs[some], answers[some])
    assert "hardly tell" in result.note
    assert result.f1[2] - result.f1[1] > 0.35
    assert same(person, result.pairs).sum() >= 70  # of 80


@pytest.mark.parametrize("unsure_before", few([False, True], lambda before: not before))
def test_an_answer_that_looks_wrong_is_set_aside(found, unsure_before):
    """Also where the same pair had "cannot tell", which is no answer, before it."""
    _, person, finder, pairs, result = found
    answers = same(person, pairs).astype(float)
    surest = next(p for p in result.pairs.tolist() if p not in pairs[answers > 0].tolist())
    asked = [*[surest] * unsure_before, *pairs.tolist(), surest]
    said = [*[np.nan] * unsure_before, *answers, 0.0]
    once = finder.find(asked, said)
    assert once.suspicious.tolist() == [surest]
    assert surest in once.pairs.tolist()
    assert once.n_wrong[0] > result.n_wrong[0] + 0.5
    assert surest not in finder.questions(10, asked, said).tolist()  # it is only listed


def test_an_answer_that_looks_wrong_counts_when_it_is_given_twice(found):
    _, person, finder, pairs, result = found
    answers = same(person, pairs).astype(float)
    assert len(result.suspicious) == 0
    surest = next(p for p in result.pairs.tolist() if p not in pairs[answers > 0].tolist())
    asked, said = [*pairs.tolist(), surest], [*answers, 0.0]
    withdrawn = finder.find([*asked, surest], [*said, np.nan])
    assert withdrawn.n_wrong == result.n_wrong
    twice = finder.find([*asked, surest[::-1]], [*said, 0.0])
    assert len(twice.suspicious) == 0
    assert surest not in twice.pairs.tolist()
    corrected = finder.find([*asked, surest], [*said, 1.0])
    assert corrected.probability[corrected.pairs.tolist().index(surest)] > 0.99


@pytest.mark.parametrize(
    ("n_wrong", "note"),
    few([(60, "exchanged?"), (20, "answers look wrong")], lambda c: c[0] == 20),
)
def test_answers_that_cannot_be_right_are_not_believed(found, n_wrong, note):
    """The note says so, and the ranges begin at 0."""
    _, person, finder, pairs, result = found
    assert result.note == ""
    wrong = np.random.default_rng(0).permutation(60) < n_wrong
    doubtful = finder.find(pairs, same(person, pairs) ^ wrong)
    assert note in doubtful.note
    assert doubtful.precision[1] == doubtful.recall[1] == 0.0


def test_answers_that_contradict_each_other_are_no_error():
    """The surest are kept: an oracle tries all subsets of three answers about three rows."""
    pairs = np.array([[0, 1], [1, 2], [0, 2]])
    for same_of in itertools.product([True, False], repeat=3):
        said = Answers.of(3, pairs, list(same_of))
        for order in itertools.permutations([0.1, 0.2, 0.3]):
            right = 1.0 - np.array(order)
            kept, odd = said.credible(np.where(said.same, right, 1.0 - right))
            best = max(
                (s for s in itertools.product([True, False], repeat=3) if consistent(said, s)),
                key=lambda s: [s[k] for k in np.argsort(order)],
            )
            assert kept.tolist() == list(best)
            assert sorted(odd.tolist()) == np.flatnonzero(~kept).tolist()


def consistent(said, kept):
    """Whether some way to group three rows agrees with the answers that are kept."""
    return any(
        all(
            (groups[i] == groups[j]) == same
            for (i, j), same, k in zip(said.pairs, said.same, kept, strict=True)
            if k
        )
        for groups in itertools.product(range(3), repeat=3)
    )


@pytest.mark.parametrize("share", few([0.05, 0.1], (0.1).__eq__))
def test_a_few_wrong_answers_cost_little_and_are_listed(found, share):
    _, person, finder, pairs, plain = found
    answers = same(person, pairs)
    flipped = np.random.default_rng(1).permutation(60) < round(60 * share)
    result = finder.find(pairs, answers ^ flipped)
    wrong = {tuple(p) for p in pairs[flipped].tolist()}
    listed = {tuple(p) for p in result.suspicious.tolist()}
    assert len(listed & wrong) >= 0.6 * len(wrong)
    assert len(listed - wrong) <= 1
    right = same(person, result.pairs).sum()
    assert right >= 0.95 * same(person, plain.pairs).sum()
    assert right >= 0.95 * len(result.pairs)
    assert result.n_wrong[1] <= flipped.sum() <= result.n_wrong[2]


def test_new_pairs_are_counted_and_judged_by_themselves(found):
    _, person, _, pairs, result = found
    answered = {tuple(sorted(p)) for p in pairs.tolist()}
    new = np.array([tuple(p) not in answered for p in result.pairs.tolist()])
    assert result.n_new == new.sum() > 0
    true = same(person, result.pairs[new]).mean()
    assert result.new_precision[1] <= true <= result.new_precision[2]
    assert result.n_same[1] <= 80 <= result.n_same[2]


def test_questions_share_no_record_and_are_not_repeated(found):
    _, person, finder, pairs, _ = found
    assert len(np.unique(pairs)) == pairs.size
    more = finder.questions(20, pairs, same(person, pairs))
    assert not {tuple(p) for p in more.tolist()} & {tuple(p) for p in pairs.tolist()}


@pytest.fixture(scope="module")
def linked():
    """Two tables, the second of people who are in the first, and the persons of both."""
    table, person = people(120, 80)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(120)])
    second = np.setdiff1d(np.arange(len(table)), first)
    return table.iloc[first], table.iloc[second], person[first], person[second]


def test_two_tables_are_linked_across_only(linked):
    one, two, person, whose = linked
    finder = DuplicateFinder(random_state=0).fit(one, two)
    pairs = finder.questions(60)
    assert pairs[:, 0].max() < len(one)
    assert pairs[:, 1].max() < len(two)
    result = finder.find(pairs, same(person, pairs, whose))
    right = same(person, result.pairs, whose)
    assert right.mean() >= 0.95
    assert right.sum() >= 70
    assert len(result.group) == len(one)
    assert len(result.other_group) == len(two)
    with pytest.raises(ValueError, match="rows"):
        finder.find([[0, len(two)], [1, 1]], [True, False])


def test_one_to_one_pairs_a_record_once(linked):
    one, two, person, whose = linked
    finder = DuplicateFinder().fit(one, pd.concat([two, two]))
    pairs = finder.questions(60)
    answers = same(person, pairs, np.tile(whose, 2))
    many, single = (finder.find(pairs, answers, one_to_one=o).pairs for o in (False, True))
    assert len(many) > 1.5 * len(single)
    for side in single.T:
        assert len(np.unique(side)) == len(side)
    with pytest.raises(ValueError, match="two tables"):
        DuplicateFinder().fit(one).find(pairs, answers, one_to_one=True)


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
        ({"a": ["x"], "b": ["y", "z"]}, "same length"),
        ({"kg": [1.5, 2.5, 3.5]}, "No column holds text"),
        ({"a": ["x", "x", "x"]}, "nothing to compare"),
        ({"a": ["x", "y"]}, "nothing to compare"),
        ({"a": ["abc", "def", "ghi"]}, "nothing to compare"),
        ({1: ["x", "y"], "1": ["z", "w"]}, "Two columns are called '1'"),
    ],
)
def test_records_that_cannot_be_compared_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        DuplicateFinder().fit(table)


def test_bad_arguments_are_refused(found):
    table, person, finder, pairs, _ = found
    answers = same(person, pairs)
    for act, message in (
        (lambda: finder.find(pairs[answers], answers[answers]), "both kinds"),
        (lambda: finder.find(pairs[~answers], answers[~answers]), "is 'different'"),
        (lambda: finder.find(pairs, answers, precision=1.5), "precision"),
        (lambda: DuplicateFinder().find(pairs, answers), "call fit first"),
        (lambda: DuplicateFinder(text=["nope"]).fit(table), "'nope'"),
        (lambda: DuplicateFinder().fit(table, table.drop(columns="town")), "different columns"),
        (lambda: DuplicateFinder(0).fit(table), "n_neighbors"),
    ):
        with pytest.raises(ValueError, match=message):
            act()
