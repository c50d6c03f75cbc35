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
from seraph._marks import PairLabels

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


SHOWN = [[0, 1, 2, 3], [4, 1, 0, 5], [1, 0, 6, 7]]
LIKE = [[1, 0, 0], [0, 0, 1], [1, -1, 1]]
CHANCES = [[0.5, 0.25, 0.25], [0.5, 0.5, 0.25], [0.25, 0.5, 0.25]]


def test_first_rows_represent_random_pairs_by_one_over_their_chances():
    marks = Marks.from_screens(SHOWN, LIKE, rows=N, chances=CHANCES)
    total = Counter()
    for screen, chances in zip(SHOWN, CHANCES, strict=True):
        for row, chance in zip(screen[1:], chances, strict=True):
            total[tuple(sorted((screen[0], row)))] += 1 / chance
    del total[1, 6]  # unsure
    mean = np.mean(list(total.values()))
    found = dict(zip(map(tuple, marks.pairs.tolist()), marks.represents.tolist(), strict=True))
    assert found == {pair: total[pair] / mean for pair in found}
    assert found[0, 1] == 6 / mean  # from two screens
    assert (marks.represents == 0).any()  # two rows that are not the first


def test_what_marks_represent_goes_wherever_they_go():
    names = np.array(list("abcdefghi"))
    marks = Marks.from_screens(names[SHOWN], LIKE, rows=names, chances=CHANCES)
    table = pd.DataFrame({"x": range(N)}, index=names[::-1])
    turned = Marks.from_screens(8 - np.array(SHOWN), LIKE, rows=N, chances=CHANCES)
    assert Marks.from_frame(marks.to_frame(), rows=names) == marks
    assert marks.align(table, N) == turned
    some = marks[:4] + Marks(rows=names[:4])
    assert some.represents.tolist() == marks.represents[(marks.pairs < 4).all(axis=1)].tolist()
    labels = PairLabels.of(table, N, None, marks)
    assert labels.marks == turned
    assert labels.among(np.arange(N)[::-1]).represents.tolist() == marks.represents.tolist()


def test_a_file_of_screens_line_by_line_says_the_same():
    lines = []
    for number, (screen, like, chances) in enumerate(zip(SHOWN, LIKE, CHANCES, strict=True)):
        told = [1, *like]
        for a, b in combinations(range(4), 2):
            known = min(told[a], told[b]) >= 0 and told[a] + told[b] > 0
            said = ["no", "yes"][told[a] == told[b]] if known else ""
            chance = chances[b - 1] if a == 0 else np.nan
            lines.append((screen[a], screen[b], said, number, chance))
    frame = pd.DataFrame(lines, columns=["i", "j", "similar", "screen", "chance"])
    assert Marks.from_frame(frame, rows=N) == Marks.from_screens(
        SHOWN, LIKE, rows=N, chances=CHANCES
    )
    plain = Marks.from_frame(frame.drop(columns="chance"), rows=N)
    assert plain == Marks.from_screens(SHOWN, LIKE, rows=N)


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
