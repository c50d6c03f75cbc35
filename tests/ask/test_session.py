"""A session: questions, answers, undo, learning in the background, and the end."""

import threading

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from seraph._apps.ask import _learning
from seraph._apps.ask._answers import Answer
from seraph._apps.ask._learning import Learning, distances_of
from seraph._apps.ask._session import Refused
from tests.helpers.ask import answer_truly, clusters, session

X, y = clusters(60, m=6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def key_of(opened):
    return opened.state()["question"]["key"]


def test_answers_are_counted_and_no_pair_is_asked_twice(path):
    with session(path, X) as opened:
        asked = answer_truly(opened, y, 24)
        assert len(set(asked)) == 24
        opened.answer(key_of(opened), "unsure")
        counts = opened.state()["counts"]
    same = sum(y[i] == y[j] for i, j in asked)
    assert counts == {
        "answers": 25,
        "kinds": {"same": same, "different": 24 - same},
        "unsure": 1,
        "tests": 12,  # every other one
    }


@pytest.mark.slow
def test_the_model_is_better_than_the_euclidean_distance_in_the_end(path):
    noisy, classes = clusters(100, m=20, seed=1, radius=2.5)
    with session(path, noisy) as opened:
        answer_truly(opened, classes, 48)
        learned = opened.learning.learner
        now = opened.state()["learning"]["judgments"][-1]
    pairs = np.column_stack(np.triu_indices(100, 1))
    same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
    spaces = learned.transform(noisy), noisy
    aucs = [roc_auc_score(same, -distances_of(Z, pairs)) for Z in spaces]
    assert aucs[0] > aucs[1] + 0.05
    assert now["answers"] == 48
    for auc, figure in zip(aucs, now["figures"], strict=True):
        assert figure["low"] <= auc <= figure["high"]


def test_answers_of_the_test_are_not_learned_from():
    learn = [Answer((0, 3), True), Answer((0, 1), False), Answer((1, 5), False)]
    wrong = [Answer((k, k + 1), True, 1.0) for k in range(10, 40, 2)]
    plain, tested = Learning(X), Learning(X)
    assert plain.refit(learn)
    assert tested.refit(learn + wrong)
    assert np.array_equal(plain.learner.components_, tested.learner.components_)


def test_a_click_does_not_wait_for_a_refit(path, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    plain = _learning.MeanMetric.fit

    def slow(self, *args, **options):
        begun.set()
        assert go_on.wait(120)
        return plain(self, *args, **options)

    monkeypatch.setattr(_learning.MeanMetric, "fit", slow)
    with session(path, X) as opened:
        answer_truly(opened, y, 8, patient=False)
        assert begun.wait(120)
        answer_truly(opened, y, 8, patient=False)  # while the refit stands still
        state = opened.state()
        go_on.set()
        assert state["counts"]["answers"] == 16
        assert opened.wait()
        assert opened.state()["version"] > state["version"]


def test_undo_asks_the_same_question_again_and_is_learned_from(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 12)
        learned, before, wrote = opened.learning.learner, key_of(opened), path.read_bytes()
        opened.answer(before, "same")
        assert opened.undo(13)
        assert key_of(opened) == before
        assert path.read_bytes() == wrote
        assert not opened.undo(13)  # another tab was faster
        for n in range(12, 6, -1):
            assert opened.undo(n)
        assert opened.wait()
        assert opened.learning.learner is not learned
        for n in range(6, 0, -1):
            assert opened.undo(n)
        assert not opened.undo(0)
        assert opened.state()["counts"]["answers"] == 0


def test_everything_can_be_asked(path):
    with session(path, X[:4]) as opened:
        answer_truly(opened, y[:4], 6)
        state = opened.state()
        assert state["question"] is None
        assert state["learning"]["advice"].startswith("There is nothing left to ask.")
        assert not opened.answer("0-1", "same")
    with session(path, X[:4]) as opened:  # the first fit now has no pair left to choose
        assert opened.wait()
        assert opened.undo(6)
        assert opened.state()["question"] is not None


def test_three_rows_suffice_and_two_do_not(path):
    with session(path, X[:3]) as opened:
        assert len(set(answer_truly(opened, y[:3], 3))) == 3
    two = session(path.with_name("two.csv"), X[:2])
    with pytest.raises(ValueError, match="only 2 of 2 rows"), two:
        pass


def test_an_answer_that_is_given_again_replaces_the_old_one(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 12)
        opened.end()
        first, other = opened.file.answers[0], key_of(opened)
        key = "{}-{}".format(*first.rows)
        opened.again([key])
        assert key_of(opened) == key
        learner = opened.learning.learner
        opened.answer(key, "different" if first.value else "same")
        assert len(opened.file.answers) == 12
        assert opened.file.answers[-1].value is not first.value
        assert key_of(opened) == other
        assert opened.wait()
        assert opened.learning.learner is not learner
        assert opened.answers()[0]["key"] == key
        assert opened.state()["finish"]["status"] in ("none", "running")  # of other answers
        kept = list(opened.file.answers)
    with session(path, X) as opened:
        assert opened.file.answers == kept


def test_answers_unlike_the_others_are_odd_but_not_those_of_the_test():
    rows = [*((k, k + 3) for k in range(20)), *((k, k + 4) for k in range(20, 40))]
    right = [Answer((i, j), bool(y[i] == y[j])) for i, j in rows]
    apart = sorted(
        ((i, j) for i in range(45, 60) for j in range(i + 1, 60)),
        key=lambda pair: -np.linalg.norm(np.subtract(*X[list(pair)])),
    )
    odd, test = apart[:2]
    answers = [*right, Answer(odd, True), Answer(test, True, weight=1.0)]
    learning = Learning(X)  # before anything was learned, distances are Euclidean
    assert learning.odd(answers)[0] == odd
    assert test not in learning.odd(answers)
    assert learning.odd(answers[14:]) == []  # six of a kind and the odd one say little


def test_tests_prefer_near_pairs_only_where_few_are_the_same(path):
    many, classes = clusters(120, m=6, n_classes=3)
    with session(path, many) as opened:
        answer_truly(opened, classes, 24)
        assert {a.weight for a in opened.file.answers} == {None, 1.0}
    path.unlink()
    with session(path, many) as opened:
        for _ in range(24):
            opened.answer(key_of(opened), "different")
        weights = [a.weight for a in opened.file.answers if a.weight is not None]
    assert set(weights[:8]) == {1.0}
    assert all(weight != 1.0 for weight in weights[-2:])


def test_a_session_goes_on_where_it_ended(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 48)
        before, learning = list(opened.file.answers), opened.state()["learning"]
    with session(path, X) as opened:
        assert opened.file.answers == before
        assert opened.wait()
        state = opened.state()
        assert state["version"] == 1  # learned at once, and judged
        assert tuple(map(int, key_of(opened).split("-"))) not in {a.rows for a in before}
        assert [j["answers"] for j in state["learning"]["judgments"]] == [28, 48]
        assert state["learning"]["stop"] == learning["stop"]  # it knows what has changed lately
    path.unlink()
    with session(path, X) as opened:
        for _ in range(9):
            opened.answer(key_of(opened), "different")
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
            answer_truly(opened, y, 8)
            assert "no luck" in opened.state()["learning"]["advice"]
        answer_truly(opened, y, 4)
        assert "no luck" not in opened.state()["learning"]["advice"]


@pytest.mark.parametrize("value", ["same", "class:", "class:  ", "class:a\nb"])
def test_a_class_has_a_name_on_one_line(path, value):
    with session(path, X, classes=("a",)) as opened:
        with pytest.raises(Refused):
            opened.answer(key_of(opened), value)
        assert opened.file.answers == []


def test_rows_are_named_and_the_classes_are_learned_from(path):
    with session(path, X, classes=("a", "b")) as opened:
        answer_truly(opened, y, 24)  # "c" is new
        state = opened.state()
        assert state["classes"] == ["a", "b", "c"]
        assert sum(state["counts"]["kinds"].values()) == 24
        assert state["counts"]["tests"] == 12
        learner = opened.learning.learner
        opened.answer(state["question"]["key"], "class:  big cat ")
        assert opened.file.answers[-1].value == "big cat"
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
        rows = {row for pair in answer_truly(opened, y, 16) for row in pair}
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
