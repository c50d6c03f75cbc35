"""Cuts and sums of any marks, compared with plain lists."""

import pickle
import re
from fractions import Fraction

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
def test_a_permutation_and_its_inverse_change_nothing(data):
    marks = data.draw(random_marks())
    order = np.array(data.draw(st.permutations(range(len(marks)))))
    assert marks[order][np.argsort(order)] == marks
    assert marks[:] == marks[np.ones(len(marks), dtype=bool)] == marks


@FEW
@given(st.data())
def test_cutting_and_adding_can_be_done_in_any_order(data):
    one = data.draw(random_marks())
    other = data.draw(random_marks(len(one)))
    rows = data.draw(some_rows(len(one)))
    assert (one + other)[rows] == one[rows] + other[rows]
    assert one + other == other + one
    assert one + Marks(rows=len(one)) == one


# Any marks at all: labels that contradict each other, weights at the ends of their range, rows
# and names of any size. The obvious form keeps a list of marks for each pair.

WEIGHTS = (1.0, 2.0, 0.1, 0.2, 0.3, 1 / 3, 1e-100, 1e100, 5.5e99)
SHARES = (0.0, 1.0, 0.5, 0.1, 0.7, 1 / 3, 1e-300, 1.0 - 2**-53)
LARGE = (2**53, 2**53 + 1, 2**53 + 2, 2**62, 2**62 + 1)


@st.composite
def any_lists(draw, rows, shares=SHARES, weights=WEIGHTS):
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
    if any(float(sum(w for _, w in told)) > 1e100 for told in heard.values()):
        return None
    return {
        pair: (sum(q * w for q, w in told) / sum(w for _, w in told), sum(w for _, w in told))
        for pair, told in heard.items()
    }


def made_or_refused(make):
    try:
        return make()
    except ValueError as error:
        assert re.search("is marked both similar and dis|the limit: divide all", str(error))  # noqa: PT017
        return None


def by_row(part):
    """The same lists as arrays of row numbers, which may be beyond the range of floats."""
    return part | {"pairs": np.array(part["pairs"], dtype=np.int64).reshape(-1, 2)}


@FEW
@given(st.data())
def test_marks_of_a_pair_add_up_whatever_their_weights_and_rows(data):
    part = data.draw(any_lists((0, 1, 2, *LARGE)))
    expected = plain_merge(part)
    marks = made_or_refused(lambda: Marks(**by_row(part), rows=2**62 + 2))
    assert (marks is None) == (expected is None)
    if marks is None:
        return
    assert list(map(tuple, marks.pairs.tolist())) == sorted(expected)
    for pair, q, w in zip(marks.pairs.tolist(), marks.labels, marks.weights, strict=True):
        mean, total = expected[tuple(pair)]
        assert w == float(total)
        assert q == pytest.approx(float(mean), rel=1e-14)
        assert (q in (0.0, 1.0)) == (mean in (0, 1))


@FEW
@given(st.data())
def test_adding_is_associative_and_refuses_the_same_in_any_order(data):
    parts = [data.draw(any_lists(range(4), weights=WEIGHTS[:-2])) for _ in range(3)]
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


NAMES_OF_ANY_SIZE = {
    "around 2^53": [2**53 + k for k in range(6)],
    "unsigned": [2**64 - 1 - k for k in range(6)],
    "beyond 64 bits": [2**70 + k for k in range(6)],
    "both": [1, 2**53 + 1, 2**70, -(2**60), 2**53, 7],
    "negative": [-(2**53) - k for k in range(6)],
    "text": [str(2**53 + k) for k in range(6)],
    "small": [5, 3, 1, 0, 2, 4],
    "several types": [2**53 + 1, "a", 2**53, "b", 1, "2"],
}


@pytest.mark.parametrize("kind", [*NAMES_OF_ANY_SIZE, "numbers"])
@FEW
@given(st.data())
def test_a_table_keeps_every_digit_of_a_name(kind, data):
    if kind == "numbers":
        names, rows, choice = list(LARGE), 2**62 + 2, LARGE
    else:
        names = rows = choice = NAMES_OF_ANY_SIZE[kind]
    part = data.draw(any_lists(choice, shares=(0.5, 0.25, 1.0)))
    three = st.lists(st.sampled_from(choice), min_size=3, max_size=3, unique=True)
    part["triplets"] = data.draw(st.lists(three, max_size=4)) or None
    part["pairs"] = objects_of(part["pairs"], 2)
    marks = made_or_refused(lambda: Marks(**part, rows=rows))
    if marks is None:
        return
    table = marks.to_frame()
    assert Marks.from_frame(table, rows=rows) == marks
    told = {value for column in ("i", "j", "than") if column in table for value in table[column]}
    assert {value for value in told if not pd.isna(value)} <= set(names)


def objects_of(lists, width):
    table = np.empty((len(lists), width), dtype=object)
    for at, row in enumerate(lists):
        table[at] = row
    return table


@pytest.mark.parametrize("row", [2.0**53, float(2**60)])
def test_row_numbers_that_floats_may_have_rounded_are_refused(row):
    with pytest.raises(ValueError, match="floats are rounded"):
        Marks([[0.0, row]], [1], rows=2**62)
    for pairs in ([[0, int(row) + 1]], objects_of([[0, int(row) + 1]], 2)):
        assert Marks(pairs, [1], rows=2**62).pairs.tolist() == [[0, int(row) + 1]]


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
