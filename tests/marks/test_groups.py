"""Marks from groups, compared with lists of all pairs."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seraph import Marks
from tests.helpers.marks import FEW


def listed(marks):
    """Return the marks as a dict: label and weight of each pair."""
    values = zip(marks.labels.tolist(), marks.weights.tolist(), strict=True)
    return dict(zip(map(tuple, marks.pairs.tolist()), values, strict=True))


def plain_groups(groups, label, weight):
    return {
        (i, j): (label, weight)
        for i, j in combinations(range(len(groups)), 2)
        if groups[i] == groups[j] != -1
    }


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
    full = plain_groups(groups, label, weight)
    assert listed(marks).items() <= full.items()
    could = np.bincount(np.array(list(full), dtype=int).ravel(), minlength=n)
    counts = np.bincount(marks.pairs.ravel(), minlength=n)
    np.testing.assert_array_equal(counts, np.minimum(could, 2 * partners))


def test_rows_by_name_keep_their_names():
    table = pd.DataFrame({"x": range(4)}, index=["ann", "bob", "cyd", "dan"])
    by_group = Marks.from_groups(pd.Series([7, 7, None, 7], dtype="Int64"), 1, rows=table)
    assert by_group == Marks([["ann", "bob"], ["ann", "dan"], ["bob", "dan"]], [1] * 3, rows=table)


@pytest.mark.parametrize(
    ("label", "more", "message"),
    [
        (2, {}, "label must be"),
        (-0.5, {}, "labels must be"),
        (np.nan, {}, "label must be"),
        (1, {"partners": 0}, "partners must be"),
        (1, {"weight": -1}, "weights must be"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(label, more, message):
    with pytest.raises(ValueError, match=message):
        Marks.from_groups([0, 0], label, rows=2, **more)
