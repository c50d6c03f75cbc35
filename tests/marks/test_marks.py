"""Marks: an object that does not change, and that is cut together with its rows."""

import copy
import pickle
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.utils import _safe_indexing, resample, shuffle

from seraph import Marks
from seraph._marks import PairLabels

NAMES = ["ann", "bob", "cyd", "dan", "eve"]
PAIRS = [[1, 0], [2, 3], [4, 0]]
LABELS = [1, -1, 0.7]
FEW = settings(max_examples=60)


def sample(rows=5, **more):
    """Marks with all that they can have."""
    given = {"weights": [1.0, 2.0, 0.5], "triplets": [[0, 2, 4], [3, 1, 2]]} | more
    return Marks(PAIRS, [1, 0, 0.7], rows=rows, **given)


def by_name(**more):
    names = np.array(NAMES)
    return Marks(
        names[PAIRS],
        [1, 0, 0.7],
        weights=[1.0, 2.0, 0.5],
        triplets=names[[[0, 2, 4], [3, 1, 2]]],
        rows=NAMES,
        **more,
    )


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
    marks = data.draw(random_marks())
    first = data.draw(some_rows(len(marks)).filter(len))
    second = data.draw(some_rows(len(first)))
    assert marks[first][second] == marks[first[second]]


@FEW
@given(st.data())
def test_a_cut_of_names_is_one_cut_too(data):
    marks = by_name()
    first = data.draw(some_rows(5, unique=True).filter(len))
    second = data.draw(some_rows(len(first), unique=True))
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
    sums = [
        made_or_refused(add)
        for add in (
            lambda: (a + b) + c,
            lambda: a + (b + c),
            lambda: (c + a) + b,
            lambda: c + pickle.loads(pickle.dumps(b + a)),
            lambda: Marks(
                **by_row(
                    {key: [*parts[0][key], *parts[1][key], *parts[2][key]] for key in parts[0]}
                ),
                rows=4,
            ),
        )
    ]
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
    assert Marks([[0, int(row) + 1]], [1], rows=2**62).pairs.tolist() == [[0, int(row) + 1]]
    assert Marks(objects_of([[0, int(row) + 1]], 2), [1], rows=2**62).pairs[0, 1] == int(row) + 1


# Rows that are chosen


@pytest.mark.parametrize(
    "key",
    [
        slice(1, 5, 2),
        [1, 3],
        (1, 3),
        np.array([1, 3]),
        np.array([False, True, False, True, False]),
        [-4, -2],
        pd.Series([1, 3], index=[7, 8]),
        pd.Series([False, True, False, True, False]),
    ],
    ids=repr,
)
def test_rows_are_chosen_as_numpy_chooses_them(key):
    marks = Marks([[1, 3], [0, 1]], [1, -1], rows=5)
    key = key if not isinstance(key, tuple) else (list(key), ...)
    assert marks[key] == Marks([[0, 1]], [1], rows=2)


def test_what_chooses_no_rows_is_refused():
    marks = sample()
    with pytest.raises(TypeError, match="slice, a mask or a list of row numbers; got 3"):
        marks[3]
    with pytest.raises(TypeError, match="not iterable"):
        list(marks)
    with pytest.raises(IndexError):
        marks[[5]]
    with pytest.raises(IndexError):
        marks["ann"]
    with pytest.raises(IndexError, match="one dimension"):
        marks[1, 2]


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


# The object


@pytest.mark.parametrize("marks", [sample(), by_name(), Marks(rows=3)], ids=repr)
@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda marks: pickle.loads(pickle.dumps(marks)),
        lambda marks: clone(marks, safe=False),
    ],
    ids=["copy", "deepcopy", "pickle", "clone"],
)
def test_a_copy_is_equal_and_does_not_change_either(marks, duplicate):
    other = duplicate(marks)
    assert other == marks
    assert repr(other) == repr(marks)
    assert not other.pairs.flags.writeable
    assert other.names is None or not other.names.flags.writeable
    with pytest.raises(AttributeError, match="Marks do not change"):
        other.labels = other.labels


def test_marks_do_not_change():
    pairs, labels = np.array(PAIRS), np.array(LABELS)
    weights, triplets = np.ones(3), np.array([[0, 1, 2]])
    names = np.array(NAMES, dtype=object)
    marks = Marks(pairs, [1, 0, 0.5], weights=weights, triplets=triplets, rows=5)
    before = copy.deepcopy(marks)
    for array in (pairs, labels, weights, triplets, names):
        array[:] = array[::-1].copy()
    assert marks == before
    for name in ("pairs", "labels", "weights", "triplets"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(marks, name)[:] = 0
        with pytest.raises(AttributeError, match=f"make new ones instead of setting {name}"):
            setattr(marks, name, None)
        with pytest.raises(AttributeError, match="Marks do not change"):
            delattr(marks, name)
    with pytest.raises(AttributeError, match="Marks do not change"):
        marks.color = "red"
    with pytest.raises(TypeError, match="unhashable"):
        hash(marks)


def test_names_do_not_change():
    names = np.array(NAMES, dtype=object)
    marks = Marks([["ann", "bob"]], [1], rows=names)
    names[0] = "zoe"
    assert marks.names.tolist() == NAMES
    with pytest.raises(ValueError, match="read-only"):
        marks.names[0] = "zoe"
    with pytest.raises(ValueError, match="read-only"):
        marks[:2].names[0] = "zoe"


def test_equal_marks_say_the_same_of_the_same_rows():
    assert Marks([[0, 1], [2, 3]], [1, -1], rows=5) == Marks([[3, 2], [1, 0]], [0, 1], rows=5)
    assert Marks([[0, 1]] * 2, [1, 1], rows=5) == Marks([[0, 1]], [1], weights=[2], rows=5)
    assert Marks(triplets=[[0, 1, 2], [1, 0, 2]], rows=3) == Marks(
        triplets=[[1, 0, 2], [0, 1, 2]], rows=3
    )
    different = [
        sample(6),
        sample(weights=None),
        sample(triplets=None),
        by_name(),
        by_name()[[1, 0, 2, 3, 4]],
        Marks(rows=5),
        "marks",
    ]
    assert all(sample() != other for other in different)


def test_marks_refuse_to_become_an_array():
    for make in (np.array, np.asarray, lambda marks: np.array(marks, dtype=object), np.unique):
        with pytest.raises(TypeError, match=r"cannot become an array.*marks\.pairs and"):
            make(sample())
    with pytest.raises(TypeError, match="cannot become an array"):
        np.column_stack([sample(), np.ones(5)])


def test_what_marks_are_is_shown():
    assert repr(sample()) == "Marks(5 rows: 2 similar, 1 dissimilar, 2 triplets)"
    assert repr(Marks(rows=12_345)) == "Marks(12,345 rows: 0 similar, 0 dissimilar)"
    with pytest.warns(UserWarning, match="left out"):
        marks = Marks([["ann", "bob"], ["ann", "zoe"]], [1, 1], rows=NAMES)
    assert repr(marks) == "Marks(5 rows: 1 similar, 0 dissimilar, 1 absent)"


# Adding


def test_only_marks_of_the_same_rows_can_be_added():
    for other in (sample(6), by_name(), by_name()[::-1]):
        with pytest.raises(ValueError, match="Only marks about the same rows can be added"):
            sample() + other
    with pytest.raises(ValueError, match="same rows"):
        by_name() + by_name()[::-1]
    with pytest.raises(TypeError, match="unsupported operand"):
        sample() + 3
    with pytest.raises(ValueError, match=r"pair \('ann', 'bob'\) is marked both similar and dis"):
        by_name() + Marks([["bob", "ann"]], [-1], rows=NAMES)


# Names


def frame(rows):
    return pd.DataFrame({"x": np.arange(float(len(rows)))}, index=[NAMES[row] for row in rows])


@FEW
@given(st.permutations(range(5)))
def test_names_find_their_rows_in_any_order_of_a_frame(order):
    found = by_name().align(frame(order), 5)
    assert found.names is None
    assert found == Marks._of(found._rows, *plain_parts(sample()[np.array(order)]))


def plain_parts(marks):
    return marks.pairs, marks.labels, marks.weights, marks.triplets


def test_a_part_of_a_table_leaves_out_the_marks_of_other_rows_and_counts_them():
    part = [3, 2, 0, 1]
    with pytest.warns(UserWarning, match=r"rows of 2 of 5 marks, which name 'eve'.*left out"):
        found = by_name().align(frame(part), 4)
    assert found.n_absent == 2
    assert found == sample()[part]
    assert PairLabels.make(4, None, found).n_absent_marks == 2
    with pytest.raises(ValueError, match="Pass the table that the marks are about"):
        by_name().align(pd.DataFrame({"x": [1.0, 2.0]}, index=["zoe", "yan"]), 2)


def test_more_rows_than_the_marks_know_are_fine():
    more = pd.DataFrame({"x": np.arange(7.0)}, index=["zoe", *NAMES, "yan"])
    found = by_name().align(more, 7)
    np.testing.assert_array_equal(found.pairs, sample().pairs + 1)


def test_a_warning_and_a_count_tell_of_names_that_are_not_there():
    pairs = [["ann", "bob"], ["ann", "zoe"], ["cyd", "dan"]]
    message = r"pairs\[1\] names row 'zoe', which is not in rows; 1 of 3 pairs are like that\. "
    with pytest.warns(UserWarning, match=message):
        marks = Marks(pairs, [1, 1, -1], rows=NAMES)
    assert marks.n_absent == 1
    with pytest.warns(UserWarning, match="not in the index"):
        assert Marks(pairs, [1, 1, -1], rows=frame(range(5))) == marks
    with pytest.raises(ValueError, match=r"names row 'zoe'.*Correct the names"):
        Marks([["ann", "zoe"]], [1], rows=NAMES)
    with pytest.raises(ValueError, match=r"triplets\[0\] names row 'zoe'"):
        Marks(triplets=[["ann", "zoe", "bob"]], rows=NAMES)


def test_by_number_another_length_is_refused():
    for X in (np.zeros((4, 2)), pd.DataFrame(np.zeros((4, 2))), pl.DataFrame(np.zeros((4, 2)))):
        with pytest.raises(ValueError, match=r"about 5 rows, but X has 4.*marks\[rows\]"):
            sample().align(X, 4)
    with pytest.raises(ValueError, match="about 5 rows, but X has 4"):
        by_name().align(np.zeros((4, 2)), 4)


TABLES = {
    "number": (3, None),
    "numpy number": (np.int64(3), None),
    "array": (np.zeros((3, 2)), None),
    "lists": ([[0.0, 1.0]] * 3, None),
    "polars": (pl.DataFrame({"x": [1.0, 2.0, 3.0]}), None),
    "pandas": (pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=list("abc")), list("abc")),
    "pandas as it comes": (pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [0, 1, 2]),
    "list of names": (list("abc"), list("abc")),
    "array of names": (np.array(list("abc")), list("abc")),
    "index": (pd.Index(list("abc")), list("abc")),
    "series": (pd.Series(list("abc"), index=[5, 6, 7]), list("abc")),
    "polars names": (pl.Series(list("abc")), list("abc")),
    "numbers as names": ([30, 10, 20], [30, 10, 20]),
}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_are_a_number_names_or_a_table(kind):
    rows, names = TABLES[kind]
    pairs = [[2, 0]] if names is None else [[names[2], names[0]]]
    marks = Marks(pairs, [1], rows=rows)
    assert marks.pairs.tolist() == [[0, 2]]
    assert len(marks) == 3
    assert marks.shape == (3,)
    assert (marks.names is None) if names is None else (marks.names.tolist() == names)


# Arguments that are refused: pairs, labels, rows and more; and the words.
WHICH = "rows must say which table the marks are about.*got"
REFUSED = {
    **{
        f"rows: {type(rows).__name__}": ({"rows": rows}, TypeError, WHICH)
        for rows in (None, True, 2.0, np.float64(2.0), "abc", b"abc", object())
    },
    **{
        f"rows: 1e{len(str(abs(n))) - 1}": ({"rows": n}, ValueError, "rows must be a number of")
        for n in (-1, 10**30, 10**4000)
    },
    **{
        f"weight {weight:g}": (
            {"weights": [weight], "rows": NAMES}, ValueError, r"from 1e-100 to 1e\+100, or 0; got",
        )
        for weight in (1e101, 1e308, 1e-101, 5e-324)
    },
    "twice": ({"rows": ["a", "b", "a"]}, ValueError, "row 2 'a' is that of row 0, too"),
    "missing": ({"rows": ["a", None, "b"]}, ValueError, "row 1 is missing"),
    "nan": ({"rows": [1.0, 2.0, np.nan]}, ValueError, "row 2 is missing"),
    "no names": ({"rows": [{}, {}]}, ValueError, "row 0 has {}"),
    "index": (
        {"rows": pd.DataFrame({"x": [1, 2]}, index=["a", "a"])}, ValueError, "The index must name",
    ),
    "itself": ({"pairs": [["bob", "bob"]]}, ValueError, r"pairs\[0\] pairs row 'bob' with itself"),
    "both": (
        {"pairs": [["ann", "bob"], ["bob", "ann"]], "labels": [1, 0]}, ValueError,
        r"\('ann', 'bob'\) is marked both similar",
    ),
    "one name": ({"pairs": [["ann"]]}, ValueError, r"two names of rows each; got shape \(1, 1\)"),
    "flags": ({"pairs": [[True, False]]}, ValueError, "names row True"),
    "a list": ({"pairs": [[["ann"], "bob"]]}, ValueError, "names row|shape"),
    "no labels": ({"labels": None}, ValueError, "without labels"),
    "triplet": (
        {"pairs": None, "labels": None, "triplets": [["ann", "bob", "ann"]]}, ValueError,
        r"\('ann', 'bob', 'ann'\).*the three must differ",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words(case):
    arguments, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        Marks(**{"pairs": [["ann", "bob"]], "labels": [1], "rows": NAMES} | arguments)


def test_something_else_than_marks_is_refused():
    for other in ([[0, 1]], {"pairs": []}, "marks"):
        with pytest.raises(TypeError, match=r"marks=seraph\.Marks\(pairs, labels, rows=X\); got"):
            PairLabels.of(np.zeros((4, 1)), 4, None, other)
    with pytest.raises(ValueError, match="as y and as marks: pass them once"):
        PairLabels.of(np.zeros((5, 1)), 5, sample(), sample())


# Tables


@pytest.mark.parametrize("marks", [sample(), by_name()], ids=["numbers", "names"])
@pytest.mark.parametrize("part", ["all", "pairs", "sure", "triplets", "nothing"])
def test_a_table_holds_all_of_it(marks, part, tmp_path):
    rows = 5 if marks.names is None else NAMES
    called = np.array(rows if isinstance(rows, list) else range(rows))
    given = {
        "all": {"weights": marks.weights, "triplets": called[marks.triplets]},
        "pairs": {},
        "sure": {},
        "triplets": {"triplets": called[marks.triplets]},
        "nothing": {},
    }[part]
    if part not in ("triplets", "nothing"):
        labels = marks.labels.round() if part == "sure" else marks.labels
        given |= {"pairs": called[marks.pairs], "labels": labels}
    some = Marks(**given, rows=rows)
    table = some.to_frame()
    assert ("weight" in table) == (part == "all")
    assert ("than" in table) == (part in ("all", "triplets"))
    assert Marks.from_frame(table, rows=rows) == some
    assert Marks.from_frame(pl.from_pandas(table.astype(object)), rows=rows) == some
    table.to_csv(tmp_path / "marks.csv", index=False)
    assert Marks.from_frame(pd.read_csv(tmp_path / "marks.csv"), rows=rows) == some


def test_answers_are_read_as_people_write_them():
    answers = ["yes", "No", " TRUE ", "false", "1", "-1", "0.7", "", "unsure", None, np.nan, 1]
    n = len(answers)
    table = {"i": np.arange(n), "j": np.arange(n) + 1, "similar": answers, "note": [""] * n}
    marks = Marks.from_frame(table, rows=n + 1)
    assert marks.labels.tolist() == [1, 0, 1, 0, 1, 0, 0.7, 1]
    with pytest.raises(ValueError, match=r"similar is 'perhaps'\. It must be 1 or 0"):
        Marks.from_frame({"i": [0], "j": [1], "similar": ["perhaps"]}, rows=2)
    with pytest.raises(ValueError, match=r"needs a column 'similar'; got \['i', 'j'\]"):
        Marks.from_frame({"i": [0], "j": [1]}, rows=2)


def test_the_names_of_a_table_come_before_its_numbers():
    table = {"i": [0], "j": [1], "id_i": ["eve"], "id_j": ["bob"], "similar": [1]}
    assert Marks.from_frame(table, rows=NAMES).pairs.tolist() == [[1, 4]]
    assert Marks.from_frame(table, rows=5).pairs.tolist() == [[0, 1]]
