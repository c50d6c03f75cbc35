"""Cuts and sums of any marks, compared with plain lists."""

import pickle
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.utils import _safe_indexing, resample, shuffle

from seraph import Marks
from tests.helpers.marks import FEW, NAMES, by_name, sample


def plain_cut(marks, rows):
    """What a cut must have, by looking at every pair and triplet of the rows taken."""
    label = {tuple(p): w for p, *w in zip(marks.pairs, marks.labels, marks.weights, strict=True)}
    pairs = {
        (i, j): tuple(label[tuple(sorted((a, b)))])
        for i, a in enumerate(rows)
        for j, b in enumerate(rows)
        if i < j and tuple(sorted((a, b))) in label
    }
    wanted = marks.triplets.tolist()
    triplets = [
        (i, j, k)
        for i, a in enumerate(rows)
        for j, b in enumerate(rows)
        for k, c in enumerate(rows)
        for t in wanted
        if t == [a, b, c]
    ]
    return pairs, sorted(triplets)


def content(marks):
    values = zip(marks.labels.tolist(), marks.weights.tolist(), strict=True)
    pairs = dict(zip(map(tuple, marks.pairs.tolist()), values, strict=True))
    return pairs, sorted(map(tuple, marks.triplets.tolist()))


# Random marks: classes decide about the labels, so that no two contradict each other


@st.composite
def random_marks(draw, n=None):
    n = draw(st.integers(2, 12)) if n is None else n
    two = st.lists(st.integers(0, n - 1), min_size=2, max_size=2, unique=True)
    pairs = draw(st.lists(two, max_size=12))
    three = st.lists(st.integers(0, n - 1), min_size=3, max_size=3, unique=True)
    triplets = draw(st.lists(three, max_size=5)) if n > 2 else []
    labels = [1.0 if (i + j) % 2 else 0.25 * ((i * j) % 4 == 0) for i, j in pairs]
    weights = [0.5 + (i * j) % 3 for i, j in pairs]
    return Marks(
        np.array(pairs).reshape(-1, 2),
        labels,
        weights=weights,
        triplets=np.array(triplets).reshape(-1, 3),
        rows=n,
    )


def some_rows(n, **more):
    return st.lists(st.integers(0, n - 1), max_size=2 * n, **more).map(
        lambda rows: np.array(rows, dtype=int)
    )


@FEW
@given(st.data())
def test_a_cut_has_the_marks_among_its_rows_and_no_others(data):
    marks = data.draw(random_marks())
    rows = data.draw(some_rows(len(marks)))
    cut = marks[rows]
    assert len(cut) == len(rows)
    assert content(cut) == plain_cut(marks, rows.tolist())


@FEW
@given(st.data())
def test_a_cut_of_a_cut_is_one_cut(data):
    for marks, unique in ((data.draw(random_marks()), False), (by_name(), True)):
        first = data.draw(some_rows(len(marks), unique=unique).filter(len))
        second = data.draw(some_rows(len(first), unique=unique))
        assert marks[first][second] == marks[first[second]]
    assert marks[first].names.tolist() == [NAMES[row] for row in first]


@FEW
@given(st.data())
def test_cutting_and_adding_can_be_done_in_any_order(data):
    one = data.draw(random_marks())
    other = data.draw(random_marks(len(one)))
    rows = data.draw(some_rows(len(one)))
    assert (one + other)[rows] == one[rows] + other[rows]
    assert one + other == other + one
    assert one + Marks(rows=len(one)) == one


# Any marks at all, also labels that contradict each other. The obvious form keeps a list of marks
# for each pair.

WEIGHTS = (1.0, 2.0, 0.1, 0.2, 0.3, 1 / 3)
SHARES = (0.0, 1.0, 0.5, 0.1, 0.7, 1 / 3)


@st.composite
def any_lists(draw, rows=range(4), shares=SHARES, weights=WEIGHTS):
    """Pairs, labels and weights; a few rows, so that many pairs are marked several times."""
    row = st.sampled_from(rows)
    pair = st.lists(row, min_size=2, max_size=2, unique=True)
    size = draw(st.integers(0, 8))
    return {
        "pairs": draw(st.lists(pair, min_size=size, max_size=size)),
        "labels": draw(st.lists(st.sampled_from(shares), min_size=size, max_size=size)),
        "weights": draw(st.lists(st.sampled_from(weights), min_size=size, max_size=size)),
    }


def plain_merge(*parts):
    """Each pair with its exact weight and mean label, sure ones first; None if refused."""
    heard = {}
    for part in parts:
        for pair, q, w in zip(part["pairs"], part["labels"], part["weights"], strict=True):
            heard.setdefault(tuple(sorted(pair)), []).append((Fraction(q), Fraction(w)))
    if any({0, 1} <= {q for q, _ in told} for told in heard.values()):
        return None
    heard = {pair: [m for m in told if m[0] in (0, 1)] or told for pair, told in heard.items()}
    return {
        pair: (sum(q * w for q, w in told) / sum(w for _, w in told), sum(w for _, w in told))
        for pair, told in heard.items()
    }


def made_or_refused(make):
    try:
        return make()
    except ValueError as error:
        assert "is marked both similar and dis" in str(error)  # noqa: PT017
        return None


def by_row(part):
    """The same lists, with pairs as an array."""
    return part | {"pairs": np.array(part["pairs"], dtype=np.int64).reshape(-1, 2)}


@FEW
@given(st.data())
def test_marks_of_a_pair_add_up(data):
    part = data.draw(any_lists())
    expected = plain_merge(part)
    marks = made_or_refused(lambda: Marks(**by_row(part), rows=4))
    assert (marks is None) == (expected is None)
    if marks is None:
        return
    assert list(map(tuple, marks.pairs.tolist())) == sorted(expected)
    for pair, q, w in zip(marks.pairs.tolist(), marks.labels, marks.weights, strict=True):
        mean, total = expected[tuple(pair)]
        assert w == pytest.approx(float(total), rel=1e-14)
        assert q == pytest.approx(float(mean), rel=1e-14)
        assert (q in (0.0, 1.0)) == (mean in (0, 1))


@FEW
@given(st.data())
def test_adding_is_associative_and_refuses_the_same_in_any_order(data):
    parts = [data.draw(any_lists()) for _ in range(3)]
    a, b, c = (made_or_refused(lambda p=part: Marks(**by_row(p), rows=4)) for part in parts)
    if a is None or b is None or c is None:
        return
    joined = {key: [one for part in parts for one in part[key]] for key in parts[0]}
    ways = (
        lambda: (a + b) + c,
        lambda: a + (b + c),
        lambda: (c + a) + b,
        lambda: c + pickle.loads(pickle.dumps(b + a)),
        lambda: Marks(**by_row(joined), rows=4),
    )
    sums = [made_or_refused(add) for add in ways]
    assert (sums[0] is None) == (plain_merge(*parts) is None)
    assert all(other == sums[0] for other in sums)
    if sums[0] is not None:
        rows = np.array([3, 1, 0])
        assert sums[0][rows] == (a[rows] + b[rows]) + c[rows]


def test_scikit_learn_cuts_shuffles_and_resamples_marks_with_their_points():
    marks, X = sample(), np.arange(5.0)[:, np.newaxis]
    assert _safe_indexing(marks, [4, 0]) == marks[[4, 0]]
    shuffled, order = shuffle(marks, X[:, 0], random_state=0)
    assert shuffled == marks[order.astype(int)]
    drawn, rows = resample(marks, X[:, 0], n_samples=9, random_state=0)
    rows = rows.astype(int)
    assert len(np.unique(rows)) < len(rows)
    assert content(drawn) == plain_cut(marks, rows.tolist())
    assert by_name()[rows].names is None  # a name that two rows have finds neither


# Marks from groups, compared with lists of all pairs


@FEW
@given(
    st.lists(st.integers(-1, 3), min_size=1, max_size=40),
    st.sampled_from([0.0, 0.05, 1.0]),
    st.sampled_from([0.5, 2.0]),
    st.integers(1, 25),
)
def test_a_group_says_the_same_of_all_its_pairs_or_of_a_share_of_each_row(
    groups, label, weight, partners
):
    n = len(groups)
    marks = Marks.from_groups(groups, label, rows=n, weight=weight, partners=partners)
    full = {
        (i, j): (label, weight)
        for i, j in combinations(range(n), 2)
        if groups[i] == groups[j] != -1
    }
    assert content(marks)[0].items() <= full.items()
    could = np.bincount(np.array(list(full), dtype=int).ravel(), minlength=n)
    counts = np.bincount(marks.pairs.ravel(), minlength=n)
    np.testing.assert_array_equal(counts, np.minimum(could, 2 * partners))


def test_rows_by_name_keep_their_names():
    table = pd.DataFrame({"x": range(4)}, index=["ann", "bob", "cyd", "dan"])
    by_group = Marks.from_groups(pd.Series([7, 7, None, 7], dtype="Int64"), 1, rows=table)
    assert by_group == Marks([["ann", "bob"], ["ann", "dan"], ["bob", "dan"]], [1] * 3, rows=table)
