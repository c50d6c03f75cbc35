"""A session: questions, answers, undo, learning in the background, and the end."""

import errno
import os
import threading

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from seraph._apps.ask import _learning
from seraph._apps.ask._answers import Answer
from seraph._apps.ask._doubts import contradictions, doubts
from seraph._apps.ask._learning import Labels, Learning
from seraph._apps.ask._questions import distances_of
from seraph._apps.ask._records import Records
from seraph._apps.ask._session import Refused, check_class
from seraph.records import DuplicateFinder
from tests.helpers.ask import answer_truly, clusters, session
from tests.helpers.people import people

X, y = clusters(60, m=6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.csv"


def test_answers_are_counted_and_no_pair_is_asked_twice(path):
    with session(path, X) as opened:
        asked = answer_truly(opened, y, 24)
        assert len(set(asked)) == 24
        opened.answer(opened.state()["question"]["key"], "unsure")
        counts = opened.state()["counts"]
    assert counts["answers"] == 25
    assert counts["kinds"]["same"] == sum(y[i] == y[j] for i, j in asked)
    assert counts["kinds"]["different"] == 24 - counts["kinds"]["same"]
    assert counts["unsure"] == 1
    assert counts["tests"] == 12  # every other one


def test_the_model_is_better_than_the_euclidean_distance_in_the_end(path):
    noisy, classes = clusters(100, m=20, seed=1, radius=2.5)
    with session(path, noisy) as opened:
        answer_truly(opened, classes, 48)
        learned = opened._learning.learner
        state = opened.state()
    i, j = np.triu_indices(100, 1)
    same, pairs = classes[i] == classes[j], np.column_stack([i, j])
    auc = [roc_auc_score(same, -distances_of(Z, pairs)) for Z in (learned.transform(noisy), noisy)]
    assert auc[0] > auc[1] + 0.05
    judgments = state["learning"]["judgments"]
    assert judgments
    now = judgments[-1]
    assert now["answers"] == 48
    assert now["learned"]["low"] <= auc[0] <= now["learned"]["high"]
    assert now["euclidean"]["low"] <= auc[1] <= now["euclidean"]["high"]


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
        assert opened._busy
        go_on.set()
        assert state["counts"]["answers"] == 16
        assert opened.wait()
        assert opened.state()["version"] > state["version"]


def test_undo_asks_the_same_question_again(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 2)
        before = opened.state()["question"]["key"]
        wrote = path.read_bytes()
        opened.answer(before, "same")
        assert opened.undo(3)
        assert opened.state()["question"]["key"] == before
        assert path.read_bytes() == wrote
        assert not opened.undo(3)  # another tab was faster
        assert opened.undo(2)
        assert opened.undo(1)
        assert not opened.undo(0)
        assert opened.state()["counts"]["answers"] == 0


def test_a_question_that_was_put_off_comes_back(path):
    with session(path, X) as opened:
        key = opened.state()["question"]["key"]
        assert opened.skip(key)
        assert not opened.skip(key)  # another tab did
        asked = answer_truly(opened, y, 13)
    place = asked.index(tuple(map(int, key.split("-"))))
    assert place >= 9
    assert len(set(asked)) == 13


def test_the_last_question_is_asked_even_if_it_was_put_off(path):
    with session(path, X[:3]) as opened:
        opened.skip(opened.state()["question"]["key"])
        assert len(answer_truly(opened, y[:3], 3)) == 3
        assert opened.state()["question"] is None


def test_an_answer_that_is_given_again_replaces_the_old_one(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 12)
        opened.end()
        first = opened.file.answers[0]
        key = "{}-{}".format(*first.rows)
        other = opened.state()["question"]["key"]
        opened.again([key])
        assert opened.state()["question"]["key"] == key
        learner = opened.learner.components_
        opened.answer(key, "different" if first.value else "same")
        assert len(opened.file.answers) == 12
        assert opened.file.answers[-1].value is not first.value
        assert opened.state()["question"]["key"] == other
        assert opened.wait()
        assert opened.learner.components_ is not learner
        assert opened.answers()[0]["key"] == key
        assert opened.state()["finish"]["status"] in ("none", "running")  # of other answers
        kept = list(opened.file.answers)
    with session(path, X) as opened:
        assert opened.file.answers == kept


def test_answers_that_contradict_each_other_are_found():
    same, different = (lambda i, j: Answer((i, j), True)), (lambda i, j: Answer((i, j), False))
    chain = [same(0, 1), same(1, 2), same(2, 3), different(4, 5), different(0, 4)]
    assert contradictions(chain) == []
    assert contradictions([*chain, different(0, 3)]) == [[(0, 3), (0, 1), (1, 2), (2, 3)]]


def test_answers_unlike_the_others_are_odd_but_not_those_of_the_test():
    rows = [*((k, k + 3) for k in range(20)), *((k, k + 4) for k in range(20, 40))]
    right = [Answer((i, j), bool(y[i] == y[j])) for i, j in rows]
    apart = sorted(
        ((i, j) for i in range(45, 60) for j in range(i + 1, 60)),
        key=lambda pair: -np.linalg.norm(np.subtract(*X[list(pair)])),
    )
    odd, test = apart[:2]
    answers = [*right, Answer(odd, True), Answer(test, True, 1.0)]
    learning = Learning(X)  # before anything was learned, distances are Euclidean
    assert learning.odd(answers)[0] == odd
    assert test not in learning.odd(answers)
    assert learning.odd(answers[14:]) == []  # six of a kind and the odd one say little


def test_what_to_ask_again_is_in_order_and_leaves_out_what_was_said_twice():
    same, different = (lambda i, j: Answer((i, j), True)), (lambda i, j: Answer((i, j), False))
    answers = [same(0, 1), same(1, 2), different(0, 2), same(4, 5), Answer((6, 7), True, times=2)]
    contradict, unlike = "contradicts others", "is unlike the others"
    assert doubts(answers, [(6, 7), (4, 5), (0, 1)]) == [
        ((0, 2), contradict),
        ((0, 1), contradict),
        ((1, 2), contradict),
        ((4, 5), unlike),
    ]


def test_odd_answers_about_records_are_listed_and_asked_again_until_they_are_given_twice(path):
    table, person = people(60, 40)
    made = Records(DuplicateFinder(random_state=0).fit(table))
    with session(path, made.points(), records=made) as opened:
        answer_truly(opened, person, 60)
        assert opened.state()["learning"]["doubts"] == []
        distance = made.distances(opened.learner, made.pairs)[0]
        known = {answer.rows for answer in opened.file.answers if answer.weight is None}
        pairs = [tuple(pair) for pair in made.pairs[np.argsort(distance)].tolist()]
        surest = next(pair for pair in pairs if pair in known)
        key = "{}-{}".format(*surest)
        opened.again([key])
        opened.answer(key, "different")
        assert opened.wait()
        (listed,) = opened.state()["learning"]["doubts"]
        assert (listed["key"], listed["value"], listed["why"]) == (
            key,
            "different",
            "is unlike the others",
        )
        assert [thing["row"] for thing in listed["things"]] == list(surest)
        for _ in range(4):  # the questions that the browser has loaded come first
            question = opened.state()["question"]
            if question["key"] == key:
                break
            answer_truly(opened, person, 1, patient=False)
        assert question["again"]
        opened.answer(key, "different")
        assert opened.wait()
        assert opened.state()["learning"]["doubts"] == []
        assert all(not waiting.again for waiting in opened._queue)
    assert [line.split(",")[2] for line in path.read_text().splitlines()[-2:]] == ["0", "0"]


def test_tests_prefer_near_pairs_only_where_few_are_the_same(path):
    many, classes = clusters(120, m=6, n_classes=3)
    with session(path, many) as opened:
        answer_truly(opened, classes, 24)
        weights = {a.weight for a in opened.file.answers if a.weight is not None}
    assert weights == {1.0}
    path.unlink()
    with session(path, many) as opened:
        for _ in range(24):
            opened.answer(opened.state()["question"]["key"], "different")
        weights = [a.weight for a in opened.file.answers if a.weight is not None]
    assert set(weights[:8]) == {1.0}
    assert all(weight != 1.0 for weight in weights[-2:])


def test_undo_is_learned_from(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 12)
        first = opened._learning.learner.components_
        for n in range(12, 6, -1):
            opened.undo(n)
        assert opened.wait()
        assert opened._learning.learner.components_ is not first


def test_a_question_that_another_tab_answered_is_not_answered_again(path):
    with session(path, X) as opened:
        key = opened.state()["question"]["key"]
        assert opened.answer(key, "same")
        assert not opened.answer(key, "different")
        assert opened.file.answers == [Answer(tuple(map(int, key.split("-"))), True)]


def test_a_session_goes_on_where_it_ended(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 10)
        before = list(opened.file.answers)
    with session(path, X) as opened:
        assert opened.file.answers == before
        assert opened.wait()
        assert opened.state()["version"] == 1  # learned at once
        key = tuple(map(int, opened.state()["question"]["key"].split("-")))
        assert key not in {answer.rows for answer in before}


def test_a_session_that_goes_on_knows_what_it_had_learned_on_the_way(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 48)
        before = opened.state()["learning"]
    assert len(before["judgments"]) >= 5
    with session(path, X) as opened:
        assert opened.wait()
        after = opened.state()["learning"]
        assert [j["answers"] for j in after["judgments"]] == [
            j["answers"] for j in before["judgments"]
        ]
        for one, other in zip(before["judgments"], after["judgments"], strict=True):
            assert one["euclidean"] == other["euclidean"]
            assert one["learned"]["value"] == pytest.approx(other["learned"]["value"], abs=0.1)
        assert after["verdict"]
        answer_truly(opened, y, 4)
        assert opened.state()["learning"]["judgments"][:-1] == after["judgments"]


def test_only_some_of_many_models_are_judged_again(path, monkeypatch):
    monkeypatch.setattr("seraph._apps.ask._session._MOST_PAST", 3)
    with session(path, X) as opened:
        answer_truly(opened, y, 40)
    with session(path, X) as opened:
        assert opened.wait()
        counts = [judgment["answers"] for judgment in opened.state()["learning"]["judgments"]]
    assert set(counts) <= {14, 28, 40}
    assert counts[-1] == 40


def test_there_may_be_nothing_to_remember(path):
    with session(path, X) as opened:
        for _ in range(9):
            opened.answer(opened.state()["question"]["key"], "different")
    with session(path, X) as opened:
        assert opened.wait()
        learning = opened.state()["learning"]
    assert learning["judgments"] == []
    assert "once two rows are called the same" in learning["advice"]


def test_what_was_undone_is_not_remembered(path):
    with session(path, X) as opened:
        answer_truly(opened, y, 24)
    with session(path, X) as opened:
        for n in range(24, 14, -1):
            opened.undo(n)
        assert opened.wait()
        counts = [moment.answers for moment in opened._learning._past]
        assert counts == sorted(set(counts))
        assert counts[-1] == 14
        assert len(counts) > 1


def test_the_question_stays_if_the_answer_cannot_be_written(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with session(path, X) as opened:
        key = opened.state()["question"]["key"]
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", full)
            with pytest.raises(OSError, match="No space"):
                opened.answer(key, "same")
        state = opened.state()
        assert state["question"]["key"] == key
        assert state["counts"]["answers"] == 0
        assert opened.answer(key, "same")


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


def test_everything_can_be_asked(path):
    few, classes = X[:4], y[:4]
    with session(path, few) as opened:
        answer_truly(opened, classes, 6)
        state = opened.state()
        assert state["question"] is None
        assert state["learning"]["advice"].startswith("There is nothing left to ask.")
        assert not opened.answer("0-1", "same")
    with session(path, few) as opened:  # the first fit now has no pair left to choose
        assert opened.wait()
        assert opened.state()["learning"]["advice"].startswith("There is nothing left")
        assert opened.undo(6)
        assert opened.state()["question"] is not None


@pytest.mark.parametrize(
    ("classes", "values", "said"),
    [
        (None, ["yes", "", "class:a"], "same, different or unsure"),
        (("a",), ["same", "class:", "class:  ", "class:" + "x" * 61, "class:a\nb"], None),
    ],
    ids=["pairs", "classes"],
)
def test_only_answers_to_the_question_are_taken(path, classes, values, said):
    with session(path, X, classes=classes) as opened:
        for value in values:
            with pytest.raises(Refused, match=said):
                opened.answer(opened.state()["question"]["key"], value)
        assert opened.file.answers == []


# Classes


def test_rows_are_named_and_the_classes_are_learned_from(path):
    with session(path, X, classes=("a", "b")) as opened:
        answer_truly(opened, y, 24)  # "c" is new
        state = opened.state()
        assert state["classes"] == ["a", "b", "c"]
        assert sum(state["counts"]["kinds"].values()) == 24
        assert state["counts"]["tests"] == 12
        learner = opened._learning.learner
        assert opened.picture()["learned"]
        opened.answer(state["question"]["key"], "unsure")
        assert opened.state()["counts"]["unsure"] == 1
    i, j = np.triu_indices(60, 1)
    distances = distances_of(learner.transform(X), np.column_stack([i, j]))
    assert roc_auc_score(y[i] == y[j], -distances) > 0.9
    with session(path, X, classes=()) as opened:
        assert set(opened.state()["classes"]) == {"a", "b", "c"}


def test_the_number_of_classes_is_limited(path, monkeypatch):
    monkeypatch.setattr("seraph._apps.ask._session.MOST_CLASSES", 2)
    with session(path, X, classes=("a", "b")) as opened:
        with pytest.raises(Refused, match="2 classes already"):
            opened.answer(opened.state()["question"]["key"], "class:c")
        assert opened.answer(opened.state()["question"]["key"], "class:b")


def test_a_class_has_no_spaces_around_it():
    assert check_class("  big cat ") == "big cat"


def test_classes_imply_pairs():
    answers = [Answer((5,), "a"), Answer((2,), "b"), Answer((9,), "a"), Answer((1,), None)]
    pairs, same = Labels.of(answers).all_pairs()
    assert dict(zip(map(tuple, pairs.tolist()), same.tolist(), strict=True)) == {
        (2, 5): False,
        (5, 9): True,
        (2, 9): False,
    }


# What is shown of it


def test_the_picture_shows_the_points_before_and_after(path):
    with session(path, X) as opened:
        first = opened.picture()
        assert not first["learned"]
        assert first["before"] == first["after"]
        answer_truly(opened, y, 16)
        picture = opened.picture()
    assert picture["learned"]
    groups = np.array(picture["groups"])
    assert set(first["groups"]) == {-1}
    assert max(np.mean(groups[y == 0] == code) for code in set(groups)) > 0.8
    rows, before, after = (np.array(picture[name]) for name in ("rows", "before", "after"))
    assert len(rows) == len(before) == len(after) == 60
    for flat in (before, after):  # nearly all of it is inside the picture
        assert np.mean(np.abs(flat) <= 1.01) > 0.95
    # Principal components are the same up to turns; distances do not depend on those.
    centered = X - X.mean(axis=0)
    flat = centered @ np.linalg.svd(centered, full_matrices=False)[2][:2].T
    i, j = np.triu_indices(60, 1)
    pairs = np.column_stack([i, j])
    shown = distances_of(before, pairs)
    assert np.corrcoef(shown, distances_of(flat, pairs))[0, 1] > 0.999
    marked = {(picture["rows"][a], picture["rows"][b]): s for a, b, s in picture["pairs"]}
    assert marked
    assert all((y[a] == y[b]) == bool(s) for (a, b), s in marked.items())


def test_a_metric_of_rank_one_can_be_drawn():
    Z = np.arange(5.0)[:, np.newaxis]
    flat = _learning._flat(Z, *_learning._principal_plane(Z))
    assert flat.shape == (5, 2)
    assert not flat[:, 1].any()


def test_many_rows_are_learned_from_by_a_sample(monkeypatch):
    monkeypatch.setattr(_learning, "_ROWS", 20)
    seen = []
    plain = _learning.MeanMetric.fit
    monkeypatch.setattr(
        _learning.MeanMetric,
        "fit",
        lambda self, Z, *a, **k: (seen.append(len(Z)), plain(self, Z, *a, **k))[1],
    )
    learning = Learning(X)
    assert learning.refit([Answer((0, 3), True), Answer((0, 1), False)])
    assert 20 <= seen[0] <= 24


def test_nothing_is_learned_from_answers_of_one_kind():
    learning = Learning(X)
    assert not learning.refit([Answer((0, 3), True), Answer((3, 6), None)])
    assert learning.learner is None


def test_fewer_than_three_rows_to_show_are_refused(path):
    class Hidden:
        def shown(self, row):
            return row < 2

    with pytest.raises(ValueError, match="only 2 of 60 rows"), session(path, X, things=Hidden()):
        pass
