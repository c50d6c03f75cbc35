"""Marks from groups, classes, corrected clusters and logs, compared with lists of all pairs."""

import tracemalloc
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seraph import SERAPH, Marks

FEW = settings(max_examples=80)
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


def plain_classes(y, weight=1.0):
    known = [i for i, label in enumerate(y) if label != -1]
    return {(i, j): (float(y[i] == y[j]), weight) for i, j in combinations(known, 2)}


def plain_corrections(before, after, weight):
    """Look at every pair: was it together, and is it now?"""
    found = {}
    for i, j in combinations(range(len(before)), 2):
        was = before[i] == before[j] != -1
        now = after[i] == after[j] != -1
        nowhere = after[i] == after[j] == -1
        settled = -1 not in (before[i], before[j], after[i], after[j])
        if now and not was:
            found[i, j] = 1.0, 1.0
        elif was and not now and not nowhere:
            found[i, j] = 0.0, 1.0
        elif settled and weight:
            found[i, j] = (0.9, weight) if now else (0.1, weight)
    return found


def plain_feedback(log, weight):
    """Add up the lines of each pair, in both directions; compare chosen and never chosen rows."""
    log = [line for line in log if line[0] != line[1]]
    sums = {}
    for query, row, chosen in log:
        pair = min(query, row), max(query, row)
        w, q = (1.0, 0.9) if chosen else (weight, 0.1)
        total, likely = sums.get(pair, (0.0, 0.0))
        sums[pair] = total + w, likely + w * q
    pairs = {pair: (likely / w, w) for pair, (w, likely) in sums.items() if w}
    ever = {(query, row) for query, row, chosen in log if chosen}
    never = {(query, row) for query, row, _ in log} - ever
    triplets = sorted((q, b, c) for q, b in ever for other, c in never if other == q)
    return pairs, triplets


# What they say: the list of all pairs, if partners allows it


@FEW
@given(codes, st.sampled_from([0.0, 0.05, 0.9, 1.0]), st.sampled_from([0.5, 2.0]))
def test_a_group_says_the_same_about_all_of_its_pairs(groups, label, weight):
    marks = Marks.from_groups(groups, label, rows=len(groups), weight=weight, partners=MANY)
    assert listed(marks) == plain_groups(groups, label, weight)


@FEW
@given(codes)
def test_classes_say_that_pairs_are_alike_or_different(y):
    assert listed(Marks.from_classes(y, rows=len(y), partners=MANY)) == plain_classes(y)


@FEW
@given(two_codes, st.sampled_from([0.0, 0.1, 1.0]))
def test_corrections_say_what_was_changed_and_weakly_what_was_left(clusters, weight):
    before, after = zip(*clusters, strict=True)
    marks = Marks.from_corrections(
        before, after, rows=len(before), kept_weight=weight, partners=MANY
    )
    assert listed(marks) == plain_corrections(before, after, weight)


@FEW
@given(two_codes)
def test_names_of_clusters_do_not_matter(clusters):
    before, after = np.array(clusters).T
    names = np.array(["x", "y", "z", "w", None], dtype=object)
    first = Marks.from_corrections(before, after, rows=len(before))
    assert first == Marks.from_corrections(before, names[after], rows=len(before))


@FEW
@given(logs, st.sampled_from([0.0, 0.1, 0.25]))
def test_feedback_marks_every_line_and_compares_chosen_rows_with_the_others(log, weight):
    query, shown, chosen = np.array(log, dtype=int).reshape(-1, 3).T
    marks = Marks.from_feedback(query, shown, chosen, rows=6, skipped_weight=weight, triplets=MANY)
    pairs, triplets = plain_feedback(log, weight)
    assert marks.triplets.tolist() == [list(triplet) for triplet in triplets]
    found = listed(marks)
    assert found.keys() == pairs.keys()
    for pair in pairs:
        assert found[pair] == pytest.approx(pairs[pair])


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


@FEW
@given(st.lists(st.integers(-1, 2), min_size=1, max_size=40), st.integers(1, 8))
def test_a_sample_of_classes_has_enough_pairs_of_both_kinds(y, partners):
    n = len(y)
    marks = Marks.from_classes(y, rows=n, partners=partners)
    full = plain_classes(y)
    assert listed(marks).items() <= full.items()
    for kind in (0.0, 1.0):
        pairs = [pair for pair, (label, _) in full.items() if label == kind]
        could = partner_counts(np.array(pairs, dtype=int), n)
        has = partner_counts(marks.pairs[marks.labels == kind], n)
        assert np.all(has >= np.minimum(could, partners))
    assert len(marks.pairs) <= 2 * n * partners


@FEW
@given(
    st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=40),
    st.integers(1, 4),
)
def test_a_sample_of_corrections_misses_no_row_that_was_moved(clusters, partners):
    before, after = zip(*clusters, strict=True)
    n = len(before)
    marks = Marks.from_corrections(before, after, rows=n, kept_weight=0.1, partners=partners)
    full = plain_corrections(before, after, 0.1)
    assert listed(marks).items() <= full.items()
    for kind, whole, part in ((0.0, before, after), (1.0, after, before)):
        pairs = [pair for pair, (label, _) in full.items() if label == kind]
        could = partner_counts(np.array(pairs, dtype=int), n)
        has = partner_counts(marks.pairs[marks.labels == kind], n)
        enough = has >= np.minimum(could, partners)
        for cluster in set(whole) - {-1}:  # all rows but those of one part, no smaller than others
            parts = [
                (part[i], i if part[i] == -1 and kind else -1)
                for i in range(n)
                if whole[i] == cluster
            ]
            rows = [i for i in range(n) if whole[i] == cluster]
            lacking = {p for p, i in zip(parts, rows, strict=True) if not enough[i]}
            assert len(lacking) <= 1
            assert all(parts.count(p) == max(map(parts.count, parts)) for p in lacking)
    assert len(marks.pairs) <= 4 * n * partners


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


def test_a_popular_query_costs_a_few_triplets_of_each_chosen_row():
    shown = np.arange(1, 2001)
    marks = Marks.from_feedback(np.zeros(2000), shown, shown % 2 == 0, rows=2001, triplets=3)
    assert len(marks.triplets) == 3 * 1000
    query, chosen, other = marks.triplets.T
    assert np.all((query == 0) & (chosen % 2 == 0) & (other % 2 == 1))
    assert len(np.unique(marks.triplets, axis=0)) == 3000
    assert np.bincount(other).max() <= 2 * 3


HALVES = np.arange(10_000) % 2
LARGE = {
    "groups": lambda: Marks.from_groups(np.zeros(10_000), 0.9, rows=10_000),
    "classes": lambda: Marks.from_classes(HALVES, rows=10_000),
    "corrections": lambda: Marks.from_corrections(HALVES, np.zeros(10_000), rows=10_000),
    "feedback": lambda: Marks.from_feedback(
        np.zeros(9999), np.arange(1, 10_000), HALVES[1:], rows=10_000, triplets=10
    ),
}


@pytest.mark.parametrize("source", LARGE)
def test_nobody_lists_the_50_million_pairs_of_10000_rows_on_the_way(source):
    tracemalloc.start()
    try:
        LARGE[source]()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6  # the list of all pairs takes 800 MB


def test_rows_of_all_other_classes_are_partners_alike():
    y = np.repeat([0, 1, 2, 3], [400, 300, 200, 100])
    marks = Marks.from_classes(y, rows=1000, partners=10)
    different = marks.pairs[marks.labels == 0.0]
    met = np.zeros((4, 4))
    np.add.at(met, (y[different[:, 0]], y[different[:, 1]]), 1)
    met += met.T
    # Class 0 meets classes 1, 2 and 3 in the ratio of their sizes, 3 : 2 : 1, give or take.
    assert met[0, 1] > met[0, 2] > met[0, 3] > 0


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
    marks = Marks.from_feedback(log.q, log.doc, log.clicked, rows=table, triplets=1)
    assert marks.names.tolist() == list(table.index)
    assert marks.triplets.tolist() == [[0, 3, 1]]
    in_polars = pl.from_pandas(log)
    assert marks == Marks.from_feedback(*in_polars.get_columns(), rows=table, triplets=1)


def test_lines_of_a_log_about_removed_rows_are_left_out_and_counted():
    log = ["a", "a", "gone"], ["b", "lost", "a"], [True, True, False]
    with pytest.warns(UserWarning, match="2 of 3 lines are"):
        marks = Marks.from_feedback(*log, rows=["a", "b"])
    assert marks.n_absent == 2
    assert len(marks.pairs) == 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Marks.from_groups([0, 0], 1, rows=3), "groups has 2 labels"),
        (lambda: Marks.from_groups([0, 0], 2, rows=2), "labels must be"),
        (lambda: Marks.from_groups([0, 0], None, rows=2), "label must say how likely"),
        (lambda: Marks.from_groups([0, 0], 1, rows=2, partners=0), "partners must be"),
        (lambda: Marks.from_groups([0, 0], 1, rows=2, weight=-1), "weight must be"),
        (lambda: Marks.from_groups([0, 0], 1, rows=2, weight=1e-200), "weights must be from"),
        (lambda: Marks.from_classes([0, 1, 1], rows=2), "y has 3 labels"),
        (lambda: Marks.from_corrections([0, 0], [0], rows=2), "after has 1 labels"),
        (lambda: Marks.from_feedback([0], [1, 2], [1, 0], rows=3), "got 1, 2 and 2 entries"),
        (lambda: Marks.from_feedback([0], [[1, 2]], [[1, 0]], rows=3), "shown must be one column"),
        (
            lambda: Marks.from_feedback([0], pd.Series([[1, 2]]), pd.Series([[1, 0]]), rows=3),
            r"shown must be .* got lists. .*explode",
        ),
        (lambda: Marks.from_feedback(["1"], ["2"], [1], rows=[1, 2]), "It has 1, of another type"),
        (lambda: Marks.from_feedback([0], [1], [1], rows=3, triplets=-1), "triplets must be"),
        (lambda: Marks.from_feedback([0, 0], [1, 2], [1, 0.5], rows=3), "got 0.5 at 1"),
        (lambda: Marks.from_feedback([0, 0], [1, 2], [1, None], rows=3), "got None at 1"),
        (lambda: Marks.from_feedback([0], [1], ["no"], rows=3), "got 'no' at 0.*== \"yes\""),
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
        + Marks.from_classes(np.where(np.arange(30) < 6, X[:, 0] > 0, -1), rows=X, weight=0.5)
        + Marks.from_corrections(groups % 2, groups % 3, rows=X)
        + Marks.from_feedback([0, 0, 5], [20, 25, 9], [True, False, True], rows=X, triplets=1)
    )
    learner = SERAPH().fit(X, marks=marks)
    assert learner.n_triplets_ == 1
    assert learner.n_similar_ + learner.n_dissimilar_ == len(marks.pairs)
