"""Duplicates on the page: it asks, judges and finds what ``seraph duplicates`` does."""

import numpy as np
import pytest

from seraph._apps.ask._answers import Answer, AnswerFile
from seraph._apps.ask._records import RecordLearning, Records
from seraph.records import DuplicateFinder
from tests.helpers.ask import answer_truly, session
from tests.helpers.people import people, same

TABLE, PERSON = people(60, 40)


@pytest.fixture(scope="module")
def records():
    return Records(DuplicateFinder(random_state=1).fit(TABLE))


def questions(records, rows=range(100)):
    return RecordLearning(records, np.array(rows), np.random.default_rng(0))


def truly(rows):
    return [Answer(pair, bool(PERSON[pair[0]] == PERSON[pair[1]])) for pair in rows]


def test_the_questions_are_those_of_the_finder(records):
    asked = questions(records)
    first = {*asked.chosen([])}
    assert first == set(map(tuple, records.finder.questions(20).tolist()))
    known = truly(first)
    pairs, answers = records.answers(known)
    expected = {*map(tuple, records.finder.questions(20, pairs, answers).tolist())} - first
    assert {*asked.chosen(known)} == expected


def test_every_pair_of_neighbors_is_asked_once(records):
    asked, known = questions(records, range(12)), set()
    while question := asked.question(known):
        known.add(question.rows)
    neighbors = map(tuple, records.finder.candidates().tolist())
    assert known == {pair for pair in neighbors if max(pair) < 12}
    assert asked.chosen(truly(known)) == []
    with pytest.raises(ValueError, match="No two neighboring records can be shown"):
        questions(records, [3])


def test_a_session_finds_what_the_finder_finds_and_says_how_good_that_is(tmp_path, records):
    with session(tmp_path / "answers.csv", PERSON, records=records) as opened:
        answer_truly(opened, PERSON, 24)
        kinds = opened.state()["counts"]
        assert kinds["kinds"]["same"] >= 6
        learning = opened.state()["learning"]
        pairs, answers = records.answers(opened.file.answers)
        values = opened.learning.values()
    found = records.finder.find(pairs, answers)
    assert same(PERSON, found.pairs).mean() > 0.9
    precision, recall = learning["judgments"][-1]["figures"]
    assert precision["value"] == values["precision"]["value"] == found.precision[0]
    assert [recall[end] for end in ("value", "low", "high")] == list(found.recall)
    assert values["duplicates"] == len(found.pairs)
    for word in (f"{len(found.pairs)} pairs of duplicates found", "Precision", "Recall"):
        assert word in learning["verdict"]
    assert learning["advice"].startswith(f"{len(found.pairs)} pairs of duplicates found")
    assert "istance" not in learning["advice"]


@pytest.mark.slow
def test_a_corrected_answer_is_not_asked_a_third_time(tmp_path, records):
    path = tmp_path / "answers.csv"
    with session(path, PERSON, records=records) as opened:
        answer_truly(opened, PERSON, 30)
        assert opened.state()["learning"]["doubts"] == []
        found = records.finder.find(*records.answers(opened.file.answers)).pairs.tolist()
        answered = [list(answer.rows) for answer in opened.file.answers if answer.value]
        i, j = next(pair for pair in found if pair in answered)  # the surest
    text = path.read_text()
    path.write_text(text.replace(f"\n{i},{j},1,", f"\n{i},{j},0,"))  # a slip
    with session(path, PERSON, records=records) as opened:
        assert opened.wait()
        (listed,) = opened.state()["learning"]["doubts"]
        assert (listed["key"], listed["given"]) == (f"{i}-{j}", (True, False))
        assert all(not question.given for question in opened._queue)  # it is only listed
        opened.again([listed["key"]])
        opened.answer(listed["key"], [True, True])
        answer_truly(opened, PERSON, 4)
        assert opened.state()["learning"]["doubts"] == []
        assert all(not question.given for question in opened._queue)


def test_an_answer_that_is_given_again_is_not_overruled(tmp_path, records):
    """The finder takes it for sure, as `seraph duplicates` does when it reads the file."""
    file = AnswerFile(tmp_path / "answers.csv", [str(row) for row in range(100)])
    for answer in truly(map(tuple, records.finder.questions(40).tolist())):
        file.add([answer])
    pairs = records.finder.find(*records.answers(file.answers)).pairs.tolist()
    surest = next(tuple(p) for p in pairs if tuple(p) not in {a.rows for a in file.answers})
    overruled = []
    for _ in range(2):
        file.add([Answer(surest, False)])
        overruled.append(records.finder.find(*records.answers(file.answers)).suspicious.tolist())
    assert overruled == [[list(surest)], []]
