import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from seraph import Marks
from seraph._marks import PairLabels
from tests.helpers import strategies as recipes


def made(n, y=None, **marks):
    """The labels of `n` rows, from classes and the arguments of Marks."""
    return PairLabels.make(n, y, Marks(**marks, rows=n) if marks else None)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint64"])
def test_what_minus_one_becomes_in_an_unsigned_type_is_said(dtype):
    """An image library saves -1 as 255."""
    top = np.iinfo(dtype).max
    y = np.array([0, 0, 1, 1, top, top], dtype=dtype)
    with pytest.warns(UserWarning, match=rf"type {dtype}, in which -1 becomes {top}.*astype"):
        labels = made(6, y)
    assert labels.codes.tolist() == [0, 0, 1, 1, 2, 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made(4, y[:4]).n_unlabeled == 0


CODES = np.array([0, 0, -1, -1, 1])
DISGUISES = {
    **{name: hide(CODES) for name, hide in recipes.DISGUISES.items() if "negative" not in name},
    "booleans and None": [False, False, None, None, True],
    "text and floats in an array": np.array(["a", "a", -1.0, -1.0, "b"]),
    "masked numbers": np.ma.array([7, 7, 7, -1, 9], mask=[0, 0, 1, 0, 0]),
    "masked text": np.ma.array(["a", "a", "a", "b", "b"], mask=[0, 0, 1, 1, 0]),
    "pandas strings": pd.Series(["a", "a", None, None, "b"], dtype="string"),
    "pandas dates": pd.to_datetime(pd.Series(["2020", "2020", None, None, "2021"])),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.filterwarnings("ignore:A column-vector y")
def test_labels_in_every_disguise_mean_the_same(disguise):
    labels = made(5, DISGUISES[disguise])
    np.testing.assert_array_equal(labels.codes, CODES)
    assert (labels.n_similar, labels.n_dissimilar, labels.n_unlabeled) == (1, 2, 7)
    assert labels.n_labeled_rows == 3


def test_implied_pairs_are_counted_but_never_listed():
    labels = made(100_000, np.arange(100_000) % 10)
    assert labels.n_similar == 10 * (10_000 * 9_999 // 2)
    assert labels.n_labeled == 100_000 * 99_999 // 2
    assert labels.n_unlabeled == 0
    assert len(labels.pairs) == 0


def test_marked_pairs_are_ordered_and_counted_once():
    labels = made(6, pairs=[[3, 1], [1, 3], [0, 5]], labels=[1, 1, -1])
    np.testing.assert_array_equal(labels.pairs, [[0, 5], [1, 3]])
    np.testing.assert_array_equal(labels.similar, [False, True])
    np.testing.assert_array_equal(labels.weights, [1.0, 2.0])
    assert (labels.n_similar, labels.n_dissimilar, labels.n_labeled_rows) == (1, 1, 4)
    assert (labels.similar_weight, labels.dissimilar_weight) == (2.0, 1.0)
    assert labels.effective_rows == pytest.approx(6.0**2 / (2 * 1 + 2 * 4))


def test_marked_pairs_that_follow_from_the_classes_are_not_counted_twice():
    y = ["a", "a", "b", None]
    labels = made(4, y, pairs=[[0, 1], [2, 0], [3, 0]], labels=[1, -1, 1])
    np.testing.assert_array_equal(labels.pairs, [[0, 3]])
    assert (labels.n_similar, labels.n_dissimilar, labels.n_unlabeled) == (2, 2, 2)


@pytest.mark.parametrize(
    "y",
    [
        [1, -1, 1, -1],
        [1.0, -1.0, 1.0, np.nan],
        np.array([1, -1, 1, "-1"]),
        pd.Series([1, -1, pd.NA, 1], dtype="Int64"),
    ],
    ids=repr,
)
def test_minus_one_and_one_alone_are_one_class_which_a_warning_says(y):
    with pytest.warns(UserWarning, match=r"only one class\. If -1 is a class, name the classes 0"):
        labels = made(4, y)
    assert labels.n_dissimilar == 0
    assert set(labels.codes.tolist()) == {-1, 0}


BAD = {
    "nothing given": ({}, "requires y to be passed.*pairs"),
    "no label": ({"y": [-1, -1, -1, -1]}, r"No \w+ pair: y labels 0 of 4 rows"),
    "one label": ({"y": [3, -1, -1, -1]}, r"No \w+ pair: y labels 1 of 4 rows"),
    "no pair": ({"pairs": np.empty((0, 2)), "labels": []}, r"No \w+ pair"),
    "another length": ({"y": [0, 1, 0]}, "y has 3 labels and X has 4 rows"),
    "both kinds": ({"pairs": [[0, 2], [2, 0]], "labels": [1, -1]},
        r"pair \(0, 2\) is marked both similar and dissimilar"),
    "against the classes": ({"y": [0, 0, 1, -1], "pairs": [[1, 2]], "labels": [1]},
        r"pair \(1, 2\) is marked similar, but y gives its rows different class"),
    "too large": ({"pairs": [[0, 1], [1, 4]], "labels": [1, 1]},
        r"pairs\[1\] is \(1, 4\).*0 to 3"),
    "itself": ({"pairs": [[2, 2]], "labels": [1]}, "row 2 with itself"),
    "halves": ({"pairs": [[0.5, 1.0]], "labels": [1]}, "whole numbers"),
    "few pair labels": ({"pairs": [[0, 1], [1, 2]], "labels": [1]}, r"\(1,\) for 2 pairs"),
    "a label above one": ({"pairs": [[0, 1], [1, 2]], "labels": [0.5, 1.5]},
        r"\+1 \(similar\).*got .*1\.5"),
    "a pair label in words": ({"pairs": [[0, 1]], "labels": ["unsure"]}, "got .*unsure"),
    "only unsure": ({"pairs": [[0, 1]], "labels": [np.nan]},
        r"No \w+ pair.*unsure or has a weight of 0"),
    "a negative weight": ({"pairs": [[0, 1]], "labels": [1], "weights": [-1.0]},
        r"weights must be finite numbers of at least 0.*got .*-1\.0.* at 0"),
    "weights alone": ({"y": [0, 0, 1, 1], "weights": [1]}, "weights was passed without"),
    **{
        f"the text nan: {type(y).__name__}, {y[1]}": ({"y": y}, r'text "nan".*Write None')
        for y in (
            np.array(["a", np.nan, "b", "b"]),  # numpy made the text
            np.array([b"a", b"nan", b"a", b"a"]),
            ["a", "nan", "a", "a"],
            pd.Series(["a", "nan", "a", "a"], dtype=object),
        )
    },
    "a row twice in a triplet": ({"triplets": [[0, 1, 2], [0, 3, 0]]},
        r"triplets\[1\] is \(0, 3, 0\).*the three must differ"),
}  # fmt: skip


def same_labels(one, other):
    for name in ("codes", "pairs", "likeness", "weights", "triplets"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.n_labeled_rows == other.n_labeled_rows
    assert one.effective_rows == pytest.approx(other.effective_rows)
    for name in ("n_similar", "n_dissimilar", "n_unlabeled"):
        assert getattr(one, name) == getattr(other, name)
    for name in ("similar_weight", "dissimilar_weight", "labeled_weight"):
        assert getattr(one, name) == pytest.approx(getattr(other, name))


@pytest.mark.parametrize("label", [np.nan, None, pd.NA], ids=str)
def test_unsure_and_weightless_marks_are_no_marks(label):
    pairs = [[0, 1], [4, 2], [3, 5]]
    unsure = made(6, pairs=pairs, labels=np.array([1, label, -1], dtype=object))
    weightless = made(6, pairs=pairs, labels=[1, 1, -1], weights=[1, 0, 1])
    fewer = made(6, pairs=[[0, 1], [3, 5]], labels=[1, -1])
    same_labels(unsure, fewer)
    same_labels(weightless, fewer)


@pytest.mark.parametrize(
    "labels",
    [
        [0.8, np.nan, 0],
        pd.Series([0.8, None, 0.0]),
        pl.Series([0.8, None, 0.0]),
        np.array([0.8, None, False], dtype=object),
    ],
    ids=["list", "pandas", "polars", "objects"],
)
def test_labels_from_0_to_1_say_how_likely_a_pair_is_similar(labels):
    labels = made(6, pairs=[[0, 1], [1, 2], [3, 4]], labels=labels)
    np.testing.assert_array_equal(labels.likeness, [0.8, 0.0])
    np.testing.assert_array_equal(labels.similar, [True, False])
    assert (labels.n_similar, labels.n_dissimilar) == (1, 1)
    assert (labels.similar_weight, labels.dissimilar_weight) == pytest.approx((0.8, 1.2))


def test_classes_settle_a_pair_whatever_its_soft_marks():
    labels = made(3, [0, 0, 1], pairs=[[0, 1], [1, 2]], labels=[0.1, 0.5], weights=[9, 9])
    same_labels(labels, made(3, [0, 0, 1]))


def test_a_triplet_counts_as_one_answer_and_pulls_both_ways():
    labels = made(8, triplets=[[0, 1, 2], [0, 1, 2], [4.0, 3.0, 0.0]])
    np.testing.assert_array_equal(labels.triplets, [[0, 1, 2], [0, 1, 2], [4, 3, 0]])
    assert (labels.n_labeled, labels.n_unlabeled, labels.n_labeled_rows) == (0, 28, 5)
    assert (labels.similar_weight, labels.dissimilar_weight, labels.labeled_weight) == (3, 3, 3)
    assert labels.effective_rows == 5.0


@pytest.mark.parametrize("case", BAD)
def test_bad_labels_are_refused_with_what_came_and_what_to_do(case):
    arguments, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        made(4, **arguments)


@pytest.mark.parametrize("text", ["", "Unknown", "?"])
@pytest.mark.parametrize("form", [list, np.array, pl.Series], ids=lambda f: f.__name__)
def test_a_class_that_is_probably_missing_is_named(text, form):
    with pytest.warns(UserWarning, match="counts as a class.*None or -1") as caught:
        labels = PairLabels.make(4, form(["a", "a", text, text]))
    assert [f"label {text!r}" in str(warning.message) for warning in caught] == [True]
    assert (labels.n_similar, labels.n_dissimilar) == (2, 4)
