"""Marks from groups, classes, corrected clusters and logs, compared with lists of all pairs."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seraph import SERAPH, Marks
from tests.helpers.marks import FEW

MANY = 50  # partners: more than any of the small tables has rows
codes = st.lists(st.integers(-1, 3), min_size=1, max_size=12)
two_codes = st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12)
logs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=25)


def listed(marks):
    """Return the marks as a dict: label and weight of each pair."""
    values = zip(marks.labels.tolist(), marks.weights.tolist(), strict=True)
    return dict(zip(map(tuple, marks.pairs.tolist()), values, strict=True))


def plain_groups(groups, label, weight=1.0):
    return {
        (i, j): (label, weight)
        for i, j in combinations(range(len(groups)), 2)
        if groups[i] == groups[j] != -1
    }


def plain_corrections(before, after, weight):
    """Look at every pair: was it together, and is it now?"""
    expected = {}
    for i, j in combinations(range(len(before)), 2):
        was = before[i] == before[j] != -1
        now = after[i] == after[j] != -1
        nowhere = after[i] == after[j] == -1
        settled = -1 not in (before[i], before[j], after[i], after[j])
        if now and not was:
            expected[i, j] = 1.0, 1.0
        elif was and not now and not nowhere:
            expected[i, j] = 0.0, 1.0
        elif settled and weight:
            expected[i, j] = (0.9, weight) if now else (0.1, weight)
    return expected


def plain_feedback(log, weight):
    """Add up the lines of each pair, in both directions."""
    log = [line for line in log if line[0] != line[1]]
    sums = {}
    for query, row, chosen in log:
        pair = min(query, row), max(query, row)
        w, q = (1.0, 0.9) if chosen else (weight, 0.1)
        total, likely = sums.get(pair, (0.0, 0.0))
        sums[pair] = total + w, likely + w * q
    return {pair: (likely / w, w) for pair, (w, likely) in sums.items() if w}


# What they say: the list of all pairs, if partners allows it


@FEW
@given(codes, st.sampled_from([0.0, 0.05, 0.9, 1.0]), st.sampled_from([0.5, 2.0]))
def test_a_group_says_the_same_about_all_of_its_pairs(groups, label, weight):
    marks = Marks.from_groups(groups, label, rows=len(groups), weight=weight, partners=MANY)
    assert listed(marks) == plain_groups(groups, label, weight)


@FEW
@given(two_codes, st.sampled_from([0.0, 0.1, 1.0]))
def test_corrections_say_what_was_changed_and_weakly_what_was_left(clusters, weight):
    before, after = zip(*clusters, strict=True)
    marks = Marks.from_corrections(
        before, after, rows=len(before), kept_weight=weight, partners=MANY
    )
    assert listed(marks) == plain_corrections(before, after, weight)


@FEW
@given(logs, st.sampled_from([0.0, 0.1, 0.25]))
def test_feedback_marks_every_line(log, weight):
    query, shown, chosen = np.array(log, dtype=int).reshape(-1, 3).T
    marks = listed(Marks.from_feedback(query, shown, chosen, rows=6, skipped_weight=weight))
    expected = plain_feedback(log, weight)
    assert marks.keys() == expected.keys()
    for pair in expected:
        assert marks[pair] == pytest.approx(expected[pair])


# How many they are: a sample, in which every row has its share


def partner_counts(pairs, n):
    return np.bincount(np.ravel(pairs), minlength=n)


@FEW
@given(st.lists(st.integers(-1, 2), min_size=1, max_size=40), st.integers(1, 8))
def test_a_sample_has_marks_of_the_full_list_and_enough_of_each_row(groups, partners):
    n = len(groups)
    marks = Marks.from_groups(groups, 1, rows=n, partners=partners)
    full = plain_groups(groups, 1.0)
    assert listed(marks).items() <= full.items()
    could = partner_counts(np.array(list(full), dtype=int), n)
    assert np.all(partner_counts(marks.pairs, n) >= np.minimum(could, partners))
    assert len(marks.pairs) <= n * partners


def test_few_corrections_cost_few_marks_however_large_the_clusters():
    before = np.arange(10_000) % 2
    after = before.copy()
    after[:15] = 1 - before[:15]
    marks = Marks.from_corrections(before, after, rows=10_000, kept_weight=0)
    assert len(marks.pairs) <= 15 * 2 * 10
    assert np.all((marks.pairs < 15).any(axis=1))


def test_a_large_group_costs_a_few_marks_of_each_row():
    marks = Marks.from_groups(np.zeros(10_000), 0.9, rows=10_000)
    counts = partner_counts(marks.pairs, 10_000)
    assert len(marks.pairs) <= 100_000
    # Nobody is asked for much more often than others: 10 rows of its own choice, 10 of others'.
    assert counts.min() >= 10
    assert counts.max() <= 25


# How they fit in


def test_a_sure_mark_settles_its_pair_whatever_was_clicked():
    clicks = Marks.from_feedback([0] * 20, [1] * 20, [True] * 20, rows=3)
    disliked = Marks([[1, 0]], [-1], weights=[2.0], rows=3)
    assert clicks + disliked == disliked + clicks == disliked


def test_weak_evidence_contradicts_no_mark():
    log = Marks.from_feedback([0, 0], [1, 2], [True, False], rows=3)
    left = Marks.from_corrections([0, 0, 1], [0, 0, 1], rows=3, kept_weight=0.1)
    opposite = Marks([[0, 1], [0, 2]], [-1, 1], rows=3)
    merged = log + left + opposite
    assert np.array_equal(merged.similar, [False, True, False])


def test_rows_by_name_keep_their_names():
    table = pd.DataFrame({"x": range(4)}, index=["ann", "bob", "cyd", "dan"])
    by_group = Marks.from_groups(pd.Series([7, 7, None, 7], dtype="Int64"), 1, rows=table)
    assert by_group == Marks([["ann", "bob"], ["ann", "dan"], ["bob", "dan"]], [1] * 3, rows=table)
    log = pd.DataFrame({"q": ["ann", "ann"], "doc": ["dan", "bob"], "clicked": [1, 0]})
    marks = Marks.from_feedback(log.q, log.doc, log.clicked, rows=table)
    assert marks.names.tolist() == list(table.index)
    assert marks.pairs.tolist() == [[0, 1], [0, 3]]
    assert marks == Marks.from_feedback(*pl.from_pandas(log).get_columns(), rows=table)


def test_lines_of_a_log_about_removed_rows_are_left_out_and_counted():
    log = ["a", "a", "gone"], ["b", "lost", "a"], [True, True, False]
    with pytest.warns(UserWarning, match="2 of 3 lines are"):
        marks = Marks.from_feedback(*log, rows=["a", "b"])
    assert marks.n_absent == 2
    assert len(marks.pairs) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Marks.from_groups([0, 0], 2, rows=2), "labels must be"),
        (lambda: Marks.from_groups([0, 0], 1, rows=2, partners=0), "partners must be"),
        (lambda: Marks.from_corrections([0, 0], [0], rows=2), "after has 1 labels"),
        (lambda: Marks.from_feedback([0], [[1, 2]], [[1, 0]], rows=3), "shown must be one column"),
        (lambda: Marks.from_feedback(["1"], ["2"], [1], rows=[1, 2]), "It has 1, of another type"),
        (lambda: Marks.from_feedback([0, 0], [1, 2], [1, 0.5], rows=3), "got 0.5"),
        (lambda: Marks.from_feedback([0], [1], ["no"], rows=3), "got 'no'.*== \"yes\""),
        (lambda: Marks.from_feedback(["q"], ["a"], [1], rows=3), "got 'q'. .*rows=names"),
        (lambda: Marks.from_feedback([0, 0], [1, 9], [1, 0], rows=3), "only rows 0 to 2"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_learners_take_all_of_them_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    groups = np.arange(30) // 3
    marks = (
        Marks.from_groups(groups, 0.9, rows=X)
        + Marks.from_corrections(groups % 2, groups % 3, rows=X)
        + Marks.from_feedback([0, 0, 5], [20, 25, 9], [True, False, True], rows=X)
        + Marks(triplets=[[0, 20, 25]], rows=X)
    )
    learner = SERAPH().fit(X, marks=marks)
    assert learner.n_triplets_ == 1
    assert learner.n_similar_ + learner.n_dissimilar_ == len(marks.pairs)
