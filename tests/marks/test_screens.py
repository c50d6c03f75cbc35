"""Answers about screens of rows become marks of the pairs within each screen."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from seraph import Marks

N = 9
SCREENS = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.permutations(range(N)).map(lambda rows: rows[:4]), min_size=n, max_size=n
    )
)


def votes_of(screens, related):
    """What each pair was called, +1 or -1, by a function of screen number and two places."""
    votes = Counter()
    for number, screen in enumerate(screens):
        for a, b in combinations(range(len(screen)), 2):
            votes[tuple(sorted((screen[a], screen[b])))] += related(number, a, b)
    return {pair: vote for pair, vote in votes.items() if vote}


def marked(marks):
    kinds = np.where(marks.labels == 1.0, 1, -1)
    return {tuple(pair): kind for pair, kind in zip(marks.pairs.tolist(), kinds, strict=True)}


@given(SCREENS, st.data())
def test_groups_mark_all_pairs_of_known_rows_by_majority(screens, data):
    codes = data.draw(arrays(int, (len(screens), 4), elements=st.integers(-1, 2)))

    def related(number, a, b):
        one, other = codes[number, [a, b]]
        return 0 if min(one, other) < 0 else 1 if one == other else -1

    marks = Marks.from_screens(screens, codes, rows=N)
    assert marked(marks) == {pair: np.sign(v) for pair, v in votes_of(screens, related).items()}
    assert (marks.weights == 1.0).all()


@given(SCREENS, st.data())
def test_two_rows_that_are_not_like_the_first_are_not_marked(screens, data):
    like = data.draw(arrays(int, (len(screens), 3), elements=st.integers(-1, 1)))

    def related(number, a, b):
        one, other = (1 if place == 0 else like[number, place - 1] for place in (a, b))
        return 0 if min(one, other) < 0 or one == other == 0 else 1 if one == other else -1

    marks = Marks.from_screens(screens, like, rows=N)
    assert marked(marks) == {pair: np.sign(v) for pair, v in votes_of(screens, related).items()}


def test_groups_of_different_screens_are_not_joined():
    marks = Marks.from_screens([[0, 1], [1, 2]], [["a", "a"], ["a", "a"]], rows=3)
    assert marks.pairs.tolist() == [[0, 1], [1, 2]]


def test_screens_find_their_rows_by_name():
    table = pd.DataFrame({"x": range(4)}, index=["ann", "bob", "eve", "joe"])
    marks = Marks.from_screens([["joe", "ann", "eve"]], [[True, False]], rows=table)
    assert marked(marks) == {(0, 3): 1, (0, 2): -1, (2, 3): -1}


def test_a_screen_with_an_absent_row_is_left_out_and_counted():
    screens = [["a", "b"], ["a", "gone"]]
    with pytest.warns(UserWarning, match="'gone'"):
        marks = Marks.from_screens(screens, [[1], [1]], rows=["a", "b"])
    assert (marks.pairs.tolist(), marks.n_absent) == ([[0, 1]], 1)


@pytest.mark.parametrize(
    ("screens", "answers", "message"),
    [
        ([3, 7, 9], [1, 0], r"\(n_screens, size\).*got the shape \(3,\)"),
        ([[3, 7, 9]], [[1, 0, 1, 1]], r"\(1, 3\).*\(1, 2\).*got \(1, 4\)"),
        ([[3, 7, 9]], [["cat", "dog"]], r"1, 0, or -1 for unsure; got 'cat'"),
        ([[3, 7, 3]], [[1, 0]], "shows row 3 twice"),
    ],
)
def test_what_is_no_screen_is_refused(screens, answers, message):
    with pytest.raises(ValueError, match=message):
        Marks.from_screens(screens, answers, rows=10)
