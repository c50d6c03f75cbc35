"""Screens: what they say about pairs, how they are read again, and which come next."""

import numpy as np
import pytest

from seraph import Marks, MeanMetric
from seraph._apps.ask._answers import Answer
from seraph._apps.ask._learning import SIZE, Known, Learning
from seraph._apps.ask._screens import Question, answered
from tests.helpers.ask import clusters

X, y = clusters(60)
SCREEN = Question((3, 7, 9, 2), (0.5, 0.25, 0.5))
SAID = {
    "like": (True, True, False, None),
    "sort": ("A", "B", "B", None),
    "alone": ("A", "B", "B", ""),
}


@pytest.mark.parametrize("name", SAID)
def test_the_pairs_of_a_screen_are_those_of_marks_from_screens_and_are_read_again(name):
    said = SAID[name]
    lines = [*SCREEN.answers(said, 1), Answer((0, 8), False)]
    pairs = {frozenset(a.rows): a.value for a in lines[:-1] if a.value is not None}
    codes = [k if value == "" else value for k, value in enumerate(said)]
    if name == "like":
        codes = [-1 if value is None else int(value) for value in said[1:]]
    marks = Marks.from_screens([SCREEN.rows], [codes], rows=10)
    wanted = dict(zip(map(frozenset, marks.pairs.tolist()), marks.similar.tolist(), strict=True))
    assert pairs == wanted
    assert [line.chance for line in lines[:3]] == list(SCREEN.chances)
    screen, typed = answered(lines, sort=name != "like")
    assert screen == Question(SCREEN.rows, SCREEN.chances, 1, said)
    assert typed.rows == (0, 8)
    plain = tuple(value == "A" if isinstance(value, str) else value for value in said)
    assert next(answered(lines)).given == plain


def test_named_rows_are_read_again():
    (screen,) = answered(SCREEN.names(["cat", None, "dog", "cat"], 5))
    assert screen == Question(SCREEN.rows, SCREEN.chances, 5, ("cat", None, "dog", "cat"))


def test_most_answers_about_a_pair_decide_and_a_tie_says_nothing():
    said = [((1, 2), True), ((2, 1), True), ((1, 2), False), ((0, 4), True), ((4, 0), False)]
    known = Known.of([Answer(rows, value, k, 0.5) for k, (rows, value) in enumerate(said)])
    assert (known.pairs.tolist(), known.same.tolist()) == ([[1, 2]], [True])


def screens(rows, X=X, *, learner=None, names=False):
    learning = Learning(X, np.array(rows), names=names)
    learning.learner = learner
    return learning


def test_near_rows_are_near_by_the_learned_distance():
    noisy, classes = clusters(300, m=20, radius=2.5)
    learner = MeanMetric().fit(noisy, classes)
    same = []
    for known in (None, learner):
        asking = screens(range(300), noisy, learner=known)
        rows = np.array([asking.question(set()).rows for _ in range(100)])
        assert rows.shape == (100, SIZE)
        same.append(np.mean(classes[rows[:, 1:]] == classes[rows[:, :1]]))
    assert same[1] > same[0] + 0.05


def test_a_screen_has_a_pair_without_an_answer_while_there_is_one():
    asking, known, n = screens([3, 7, 8]), set(), 0
    while screen := asking.question(known):
        assert sorted(screen.rows) == [3, 7, 8]
        known |= {tuple(sorted(a.rows)) for a in screen.answers([True, False, False], 1)}
        n += 1
    assert n == 2
    assert known == {(3, 7), (3, 8), (7, 8)}


def test_every_row_is_named_once():
    asking, known, sizes = screens(range(20), names=True), set(), []
    while screen := asking.question(known):
        known.add(screen.rows)
        sizes.append(len(screen.rows))
        assert len(screen.chances) == sizes[-1] - 1
    assert sizes == [8, 8, 4]
    assert sorted(row for rows in known for row in rows) == list(range(20))
