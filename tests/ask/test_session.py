"""A session: questions, answers, undo, learning in the background, and the end."""

import threading
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from seraph import Marks
from seraph._apps.ask import _learning
from seraph._apps.ask._learning import distances_of
from seraph._apps.ask._session import Refused
from tests.helpers.ask import answer_truly, clusters, session, values_of

X, y = clusters(60, m=6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def key_of(opened):
    return opened.state()["question"]["key"]


def answer(opened, value=None):
    """Answer the current question with this value for each row, or as the classes are."""
    key = key_of(opened)
    rows = [int(row) for row in key.split("-")]
    values = values_of(opened.setting.mode, rows, y) if value is None else [True] + 7 * [value]
    assert opened.answer(key, values)
    return key


@pytest.mark.parametrize("sort", [False, True])
def test_the_answers_are_those_of_the_screens(path, sort):
    with session(path, X, sort=sort) as opened:
        asked = answer_truly(opened, y, 5)
        counts = opened.state()["counts"]
    assert [len(rows) for rows in asked] == 5 * [8]
    pairs = {(k, i, j) for k, rows in enumerate(asked, 1) for i, j in combinations(rows, 2)}
    if not sort:  # two rows unlike the first say nothing about each other
        first = {k: y[rows[0]] for k, rows in enumerate(asked, 1)}
        pairs = {(k, i, j) for k, i, j in pairs if first[k] in (y[i], y[j])}
    table = pd.read_csv(path)
    assert set(table[["screen", "i", "j"]].itertuples(index=False, name=None)) == pairs
    assert (table["similar"] == (y[table["i"]] == y[table["j"]])).all()
    assert table["chance"].notna().sum() == 35
    same = int(table["similar"].sum())
    kinds = {"same": same, "different": len(table) - same}
    assert counts == {"answers": 5, "kinds": kinds, "unsure": 0}
    marks = Marks.from_frame(table, rows=60)
    assert len(marks.pairs) == len({frozenset(pair[1:]) for pair in pairs})


@pytest.mark.slow
def test_the_model_is_better_than_the_euclidean_distance_in_the_end(path):
    noisy, classes = clusters(100, m=20, seed=1, radius=2.5)
    with session(path, noisy) as opened:
        answer_truly(opened, classes, 12)
        learned = opened.learning.learner
    pairs = np.column_stack(np.triu_indices(100, 1))
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    spaces = learned.transform(noisy), noisy
    aucs = [roc_auc_score(same, -distances_of(Z, pairs)) for Z in spaces]
    assert aucs[0] > aucs[1] + 0.05


def test_a_click_does_not_wait_for_a_refit(path, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    plain = _learning.MeanMetric.fit

    def slow(self, *args, **options):
        begun.set()
        assert go_on.wait(120)
        return plain(self, *args, **options)

    monkeypatch.setattr(_learning.MeanMetric, "fit", slow)
    with session(path, X) as opened:
        answer_truly(opened, y, 2, patient=False)
        assert begun.wait(120)
        answer_truly(opened, y, 6, patient=False)  # while the refit stands still
        state = opened.state()
        go_on.set()
        assert state["counts"]["answers"] == 8
        assert opened.wait()
        assert opened.state()["version"] > state["version"]


def test_undo_shows_a_screen_with_its_answer_which_stays_until_there_is_another(path):
    with session(path, X) as opened:
        keys, new = [answer(opened, False) for _ in range(3)], key_of(opened)
        wrote = path.read_bytes()
        assert opened.undo(new)
        assert not opened.undo(new)  # another tab was faster
        assert opened.state()["question"]["given"] == (True,) + 7 * (False,)
        assert key_of(opened) == keys[2]
        for key in (keys[2], keys[1]):
            assert opened.undo(key)
        assert not opened.undo(keys[0])  # there is none before
        assert key_of(opened) == keys[0]
        assert path.read_bytes() == wrote
        answer(opened, True)
        assert key_of(opened) == new
        table = pd.read_csv(path)
        assert table.groupby("screen")["similar"].mean().tolist() == [1.0, 0.0, 0.0]
        assert opened.wait()
    with session(path, X) as opened:
        assert opened.undo(key_of(opened))
        assert key_of(opened) == keys[2]


def test_a_screen_is_looked_at_again_and_its_new_answer_is_learned_from(path):
    with session(path, X) as opened:
        keys = [answer(opened) for _ in range(4)]
        assert opened.wait()
        new, learner = key_of(opened), opened.learning.learner
        with pytest.raises(Refused):
            opened.again([new])
        opened.again(keys[:2])
        assert key_of(opened) == keys[0]
        answer(opened, True)
        answer(opened)
        assert key_of(opened) == new
        assert opened.wait()
        assert opened.learning.learner is not learner
        assert [item["key"] for item in opened.answers()] == keys[::-1]
        assert opened.answers()[-1]["given"] == 8 * (True,)
        kept = list(opened.file.answers)
    with session(path, X) as opened:
        assert opened.file.answers == kept


@pytest.mark.parametrize("sort", [False, True])
def test_a_screen_that_contradicts_the_others_is_shown_until_it_was_looked_at(path, sort):
    with session(path, X, sort=sort) as opened:
        answer_truly(opened, y, 12, patient=False)
        key = key_of(opened)
        rows = [int(row) for row in key.split("-")]
        same = y[rows] == y[rows[0]]  # a slip: the others are tapped
        tapped = [True, *(~same[1:]).tolist()]
        opened.answer(key, ["A" if tap else "" for tap in tapped] if sort else tapped)
        assert opened.wait()
        assert key in [doubt["key"] for doubt in opened.state()["learning"]["doubts"]]
        opened.again([key])
        answer(opened)
        assert opened.wait()
        assert key not in [doubt["key"] for doubt in opened.state()["learning"]["doubts"]]


def test_everything_can_be_asked(path):
    with session(path, X[:4]) as opened:
        while question := opened.state()["question"]:
            rows = [int(row) for row in question["key"].split("-")]
            opened.answer(question["key"], values_of("like", rows, y))
        assert opened.state()["learning"]["advice"].startswith("There is nothing left to ask.")
        assert not opened.answer("0-1-2-3", 4 * [True])
        assert opened.wait()
        assert opened.undo("")
        assert opened.state()["question"] is not None
    with pytest.raises(ValueError, match="only 2 of 2 rows"):  # noqa: SIM117
        with session(path.with_name("two.csv"), X[:2]):
            pass


def test_a_session_goes_on_where_it_ended(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 8)
        before = list(opened.file.answers)
    with session(path, X) as opened:
        assert opened.file.answers == before
        assert opened.wait()
        state = opened.state()
        assert state["version"] == 1  # learned at once
        assert state["counts"]["answers"] == 8
        assert [judged["answers"] for judged in state["learning"]["judgments"]] == [8]
        assert "95 % interval of the difference" in state["learning"]["advice"]
        answer(opened)
        assert opened.file.answers[-1].screen == 9
    path.unlink()
    with session(path, X) as opened:
        for _ in range(3):
            answer(opened, False)
    with session(path, X) as opened:  # nothing can be learned yet
        assert opened.wait()
        learning = opened.state()["learning"]
    assert learning["judgments"] == []
    assert "once two rows are called the same" in learning["advice"]


def test_a_refit_that_fails_does_not_end_the_session(path, monkeypatch):
    def broken(*_, **__):
        raise FloatingPointError("no luck")

    with session(path, X) as opened:
        with monkeypatch.context() as patched:
            patched.setattr(_learning.MeanMetric, "fit", broken)
            answer_truly(opened, y, 2)
            assert "no luck" in opened.state()["learning"]["advice"]
        answer_truly(opened, y, 1)
        assert "no luck" not in opened.state()["learning"]["advice"]


@pytest.mark.parametrize(
    ("setting", "values"),
    [
        ({}, 7 * [True]),
        ({}, 8 * ["A"]),
        ({}, 8 * [False]),
        ({"sort": True}, 8 * [True]),
        ({"sort": True}, [None] + 7 * ["A"]),
        ({"classes": ("a",)}, 8 * ["a\nb"]),
        ({"classes": ("a",)}, 8 * ["  "]),
    ],
)
def test_what_the_page_cannot_have_sent_is_refused(path, setting, values):
    with session(path, X, **setting) as opened:
        with pytest.raises(Refused):
            opened.answer(key_of(opened), values)
        assert opened.file.answers == []


def test_rows_are_named_and_the_classes_are_learned_from(path):
    with session(path, X, classes=("a", "b")) as opened:
        answer_truly(opened, y, 3)  # "c" is new
        state = opened.state()
        assert state["classes"] == ["a", "b", "c"]
        assert sum(state["counts"]["kinds"].values()) == 24
        learner = opened.learning.learner
        opened.answer(state["question"]["key"], ["  big cat ", *(7 * [None])])
        assert opened.file.answers[-8].value == "big cat"
        assert opened.state()["counts"]["unsure"] == 7
    pairs = np.column_stack(np.triu_indices(60, 1))
    distances = distances_of(learner.transform(X), pairs)
    assert roc_auc_score(y[pairs[:, 0]] == y[pairs[:, 1]], -distances) > 0.9
    with session(path, X, classes=()) as opened:
        assert set(opened.state()["classes"]) == {"a", "b", "c", "big cat"}


def test_the_picture_shows_the_points_before_and_after(path):
    with session(path, X) as opened:
        first = opened.picture()
        assert not first["learned"]
        assert first["before"] == first["after"]
        assert set(first["groups"]) == {-1}
        rows = {row for pair in answer_truly(opened, y, 4) for row in pair}
        picture = opened.picture()
    assert picture["learned"]
    groups, before = np.array(picture["groups"]), np.array(picture["before"])
    assert max(np.mean(groups[y == 0] == code) for code in set(groups)) > 0.8
    for flat in (before, np.array(picture["after"])):  # nearly all of it is inside the picture
        assert flat.shape == (60, 2)
        assert np.mean(np.abs(flat) <= 1.01) > 0.95
    # Principal components are the same up to turns; distances do not depend on those.
    centered = X - X.mean(axis=0)
    flat = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    pairs = np.column_stack(np.triu_indices(60, 1))
    shown = distances_of(before, pairs)
    assert np.corrcoef(shown, distances_of(flat, pairs))[0, 1] > 0.999
    assert set(np.array(picture["rows"])[picture["asked"]]) == rows
