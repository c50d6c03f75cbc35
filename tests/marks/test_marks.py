"""Marks: an object that does not change, and that is cut together with its rows."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from seraph import Marks
from seraph._marks import PairLabels
from tests.helpers.marks import FEW, LABELS, NAMES, PAIRS, TRIPLETS, WEIGHTS, by_name, sample

# Rows that are chosen


MASK = [False, True, False, True, False]
KEYS = [
    slice(1, 5, 2), [1, 3], ([1, 3], ...), np.array([1, 3]), np.array(MASK), [-4, -2],
    pd.Series([1, 3], index=[7, 8]), pd.Series(MASK),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_rows_are_chosen_as_numpy_chooses_them(key):
    marks = Marks([[1, 3], [0, 1]], [1, -1], rows=5)
    assert marks[key] == Marks([[0, 1]], [1], rows=2)


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
    names = np.array(NAMES, dtype=object)
    given = {
        "pairs": names[PAIRS],
        "labels": np.array(LABELS),
        "weights": np.ones(3),
        "triplets": names[TRIPLETS],
    }
    marks = Marks(**given, rows=names)
    before = copy.deepcopy(marks)
    for array in (*given.values(), names):
        array[:] = array[::-1].copy()
    assert marks == before
    for name in (*given, "names"):
        for some in (marks, marks[:3]):
            with pytest.raises(ValueError, match="read-only"):
                getattr(some, name)[:] = 0
        with pytest.raises(AttributeError, match=f"make new ones instead of setting {name}"):
            setattr(marks, name, None)


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


def groups(label, **more):
    return Marks.from_groups([0, 0], label, rows=2, **more)


SAME_ROWS = "Only marks about the same rows can be added"
NO_ARRAY = r"cannot become an array.*marks\.pairs and"
MISUSES = {
    "a name": (lambda: sample()["ann"], IndexError, "only integers"),
    "list": (lambda: list(sample()), TypeError, "not iterable"),
    "hash": (lambda: hash(sample()), TypeError, "unhashable"),
    "array": (lambda: np.array(sample()), TypeError, NO_ARRAY),
    "add more rows": (lambda: sample() + sample(6), ValueError, SAME_ROWS),
    "add names": (lambda: sample() + by_name(), ValueError, SAME_ROWS),
    "add another order": (lambda: by_name() + by_name()[::-1], ValueError, SAME_ROWS),
    "add the opposite": (
        lambda: by_name() + Marks([["bob", "ann"]], [-1], rows=NAMES), ValueError,
        r"pair \('ann', 'bob'\) is marked both similar and dis",
    ),
    "y and marks": (
        lambda: PairLabels.of(np.zeros((5, 1)), 5, sample(), sample()), ValueError,
        "as y and as marks: pass them once",
    ),
    "a list as marks": (
        lambda: PairLabels.of(np.zeros((4, 1)), 4, None, [[0, 1]]), TypeError,
        r"marks=seraph\.Marks\(pairs, labels, rows=X\); got",
    ),
    "a label of groups": (lambda: groups(2), ValueError, "label must be"),
    "a negative label of groups": (lambda: groups(-0.5), ValueError, "labels must be"),
    "no partners": (lambda: groups(1, partners=0), ValueError, "partners must be"),
    "a negative weight of groups": (lambda: groups(1, weight=-1), ValueError, "weights must be"),
}  # fmt: skip


@pytest.mark.parametrize("case", MISUSES)
def test_what_marks_are_not_is_refused_in_words(case):
    misuse, error, message = MISUSES[case]
    with pytest.raises(error, match=message):
        misuse()


def test_what_marks_are_is_shown():
    assert repr(sample()) == "Marks(5 rows: 2 similar, 1 dissimilar, 2 triplets)"
    assert repr(Marks(rows=12_345)) == "Marks(12,345 rows: 0 similar, 0 dissimilar)"
    with pytest.warns(UserWarning, match="left out"):
        marks = Marks([["ann", "bob"], ["ann", "zoe"]], [1, 1], rows=NAMES)
    assert repr(marks) == "Marks(5 rows: 1 similar, 0 dissimilar, 1 absent)"


# Names


def frame(rows):
    return pd.DataFrame({"x": np.arange(float(len(rows)))}, index=[NAMES[row] for row in rows])


@FEW
@given(st.permutations(range(5)))
def test_names_find_their_rows_in_any_order_of_a_frame(order):
    found = by_name().align(frame(order), 5)
    assert found.names is None
    assert found == sample()[np.array(order)]


def test_a_part_of_a_table_leaves_out_the_marks_of_other_rows_and_counts_them():
    part = [3, 2, 0, 1]
    with pytest.warns(UserWarning, match=r"rows of 2 of 5 marks, which name 'eve'.*left out"):
        found = by_name().align(frame(part), 4)
    assert found.n_absent == 2
    assert found == sample()[part]
    assert PairLabels.make(4, None, found).n_absent_marks == 2
    with pytest.raises(ValueError, match="Pass the table that the marks are about"):
        by_name().align(pd.DataFrame({"x": [1.0, 2.0]}, index=["zoe", "yan"]), 2)


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
    "array": (np.zeros((3, 2)), None),
    "lists": ([[0.0, 1.0]] * 3, None),
    "polars": (pl.DataFrame({"x": [1.0, 2.0, 3.0]}), None),
    "pandas": (pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=list("abc")), list("abc")),
    "pandas as it comes": (pd.DataFrame({"x": [1.0, 2.0, 3.0]}), [0, 1, 2]),
    "list of names": (list("abc"), list("abc")),
    "array of names": (np.array(list("abc")), list("abc")),
    "index": (pd.Index(list("abc")), list("abc")),
    "series": (pd.Series(list("abc"), index=[5, 6, 7]), list("abc")),
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
        f"rows: {n}": ({"rows": n}, ValueError, "rows must be a number of")
        for n in (-1, 2**64)
    },
    "twice": ({"rows": ["a", "b", "a"]}, ValueError, "row 2 'a' is that of row 0, too"),
    "missing": ({"rows": ["a", None, "b"]}, ValueError, "row 1 is missing"),
    "nan": ({"rows": [1.0, 2.0, np.nan]}, ValueError, "row 2 is missing"),
    "no names": ({"rows": [{}, {}]}, ValueError, "row 0 has {}"),
    "index": (
        {"rows": pd.DataFrame({"x": [1, 2]}, index=["a", "a"])}, ValueError, "The index must name",
    ),
    "one name": ({"pairs": [["ann"]]}, ValueError, r"two names of rows each; got shape \(1, 1\)"),
    "no labels": ({"labels": None}, ValueError, "without labels"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words(case):
    arguments, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        Marks(**{"pairs": [["ann", "bob"]], "labels": [1], "rows": NAMES} | arguments)


# Tables


@pytest.mark.parametrize("rows", [5, NAMES], ids=["numbers", "names"])
@pytest.mark.parametrize("part", ["all", "pairs", "sure", "triplets", "nothing"])
def test_a_table_holds_all_of_it(rows, part, tmp_path):
    called = np.array(NAMES if rows is NAMES else range(5))
    pairs, triplets = {"pairs": called[PAIRS], "labels": LABELS}, {"triplets": called[TRIPLETS]}
    given = {
        "all": pairs | triplets | {"weights": WEIGHTS},
        "pairs": pairs,
        "sure": pairs | {"labels": [1, 0, 1]},
        "triplets": triplets,
        "nothing": {},
    }
    some = Marks(**given[part], rows=rows)
    table = some.to_frame()
    assert ("weight" in table) == (part == "all")
    assert ("than" in table) == (part in ("all", "triplets"))
    assert Marks.from_frame(table, rows=rows) == some
    assert Marks.from_frame(pl.from_pandas(table.astype(object)), rows=rows) == some
    table.to_csv(tmp_path / "marks.csv", index=False)
    assert Marks.from_frame(pd.read_csv(tmp_path / "marks.csv"), rows=rows) == some


def test_names_that_are_numbers_are_not_taken_for_row_numbers(tmp_path):
    """By name and by number, a table of marks means the rows that it was made for."""
    X = pd.DataFrame({"x": range(5)}, index=[4, 3, 2, 1, 0])
    marks = Marks([[4, 3], [0, 1]], [1, 0], triplets=[[4, 3, 0]], rows=X)
    marks.to_frame().to_csv(tmp_path / "marks.csv", index=False)
    table = pd.read_csv(tmp_path / "marks.csv")
    assert Marks.from_frame(table, rows=X) == marks
    by_number = Marks.from_frame(table, rows=5)
    assert by_number.pairs.tolist() == marks.pairs.tolist() == [[0, 1], [3, 4]]
    assert by_number.triplets.tolist() == [[0, 1, 4]]
    for order in (X, X[::-1]):
        np.testing.assert_array_equal(
            Marks.from_frame(table, rows=order).align(X, 5).pairs, marks.pairs
        )


BINS = pd.cut([1.0, 2.0, 3.0, 4.0], range(5))
LONG = 2**64


def table(**columns):
    # Not all versions of pandas make a column of whole numbers beyond 64 bits by themselves.
    columns = {name: pd.Series(cells, dtype=object) for name, cells in columns.items()}
    return pd.DataFrame({"i": [0, 1], "j": [1, 2], "similar": [1, 0]} | columns)


# Tables and rows, with the pairs that they mark, or the words that they are refused with.
PLAIN = [[0, 1], [1, 2]]
FRAMES = {
    "pandas": (table(), 4, PLAIN),
    "polars": (pl.from_pandas(table()), 4, PLAIN),
    "pyarrow": (pa.Table.from_pandas(table()), 4, PLAIN),
    "pyarrow columns": ({name: pa.array(table()[name]) for name in table()}, 4, PLAIN),
    "categories": (table().astype("category"), 4, PLAIN),
    "intervals": (table(i=BINS[:2], j=BINS[1:3]), BINS, PLAIN),
    "long names": (table(i=[LONG, LONG], j=[LONG + 1, 7]), [LONG, LONG + 1, 7], [[0, 1], [0, 2]]),
    "interval as row": (table(i=BINS[:2]), 4, "whole numbers; got Interval"),
    "interval as answer": (table(similar=BINS[:2]), 4, "labels must be .* got Interval"),
    "interval as weight": (table(weight=BINS[:2]), 4, "weights must be .* got Interval"),
    "long row number": (table(i=[LONG, 0]), 4, rf"\[0\] is \({LONG}, 1\), but"),
    "long answer": (table(similar=[LONG, 0]), 4, f"labels must be .*{LONG}"),
    "longer weight": (table(weight=[10**400, 1]), 4, "weights must be finite"),
    "a column twice": (pd.concat([table(), table()], axis=1), 4, "two columns 'i'"),
    "an array": (table().to_numpy(), 4, "must be a DataFrame, or a dictionary"),
    "nothing": (None, 4, "must be a DataFrame, or a dictionary of columns .*; got None"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_tables_of_every_library_are_read_or_refused_in_words(case):
    frame, rows, expected = FRAMES[case]
    if isinstance(expected, str):
        with pytest.raises((TypeError, ValueError), match=expected):
            Marks.from_frame(frame, rows=rows)
    else:
        assert Marks.from_frame(frame, rows=rows).pairs.tolist() == expected


def test_answers_are_read_as_people_write_them():
    answers = ["yes", "No", " TRUE ", "false", "1", "-1", "0.7", "", "unsure", None, np.nan, 1]
    n = len(answers)
    table = {"i": np.arange(n), "j": np.arange(n) + 1, "similar": answers, "note": [""] * n}
    marks = Marks.from_frame(table, rows=n + 1)
    assert marks.labels.tolist() == [1, 0, 1, 0, 1, 0, 0.7, 1]
    with pytest.raises(ValueError, match=r"similar is 'perhaps'\. It must be 1 or 0"):
        Marks.from_frame({"i": [0], "j": [1], "similar": ["perhaps"]}, rows=2)
    with pytest.raises(
        ValueError, match=r"and 'similar', and 'similar' is missing; got \['i', 'j'\]"
    ):
        Marks.from_frame({"i": [0], "j": [1]}, rows=2)


def test_the_names_of_a_table_come_before_its_numbers():
    table = {"i": [0], "j": [1], "id_i": ["eve"], "id_j": ["bob"], "similar": [1]}
    assert Marks.from_frame(table, rows=NAMES).pairs.tolist() == [[1, 4]]
    assert Marks.from_frame(table, rows=5).pairs.tolist() == [[0, 1]]
