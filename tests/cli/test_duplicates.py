"""seraph duplicates: from a raw table to questions, answers and groups."""

import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from rapidfuzz import fuzz

from seraph._apps.ask._things import Column
from seraph._apps.cli._duplicates import _followed, _short
from seraph._apps.cli._record_columns import record_columns
from seraph.records import DuplicateFinder
from seraph.tables._files import read_table
from tests.helpers.command import ok, refusal
from tests.helpers.people import people, same

FIND = ["duplicates", "people.csv", "--id", "id", "--pairs", "answers.csv"]


def with_ids(table, prefix):
    table = table.copy()
    table.insert(0, "id", [f"{prefix}{k}" for k in range(len(table))])
    return table


def answer(path, person, other=None):
    asked = pd.read_csv(path, dtype=str, keep_default_na=False)
    rows = asked[["i", "j"]].astype(int).to_numpy()
    asked["similar"] = same(person, rows, other).astype(int)
    asked.to_csv(path, index=False)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table, and 40 answers to what the command asked."""
    folder = tmp_path_factory.mktemp("duplicates")
    with_ids(people(60, 40)[0], "P").to_csv(folder / "people.csv", index=False)
    path = folder / "answers.csv"
    ok("duplicates", folder / "people.csv", "--id", "id", "--ask", path, "-n", "40")
    answer(path, people(60, 40)[1])
    return folder


@pytest.fixture(scope="module")
def person():
    return people(60, 40)[1]


def test_questions_show_both_records_and_wait_for_answers(made):
    asked = pd.read_csv(made / "answers.csv")
    assert list(asked.columns[:5]) == ["i", "j", "similar", "id_i", "id_j"]
    assert {"name (i)", "name (j)", "age (i)", "age (j)"} <= set(asked.columns)
    assert set(asked["similar"]) == {0, 1}


def test_groups_and_pairs_are_written(folder, person):
    done = ok(*FIND, "-o", "found.csv", "--pairs-out", "pairs.csv")
    assert "precision" in done.out
    assert "What matters" in done.out
    found, pairs = pd.read_csv("found.csv"), pd.read_csv("pairs.csv")
    assert list(found.columns[:5]) == ["group", "row", "probability", "id", "name"]
    assert (np.diff(found["group"]) >= 0).all()
    people_of = found.groupby("group")["row"].apply(lambda rows: set(person[rows]))
    assert (people_of.map(len) == 1).mean() > 0.9
    assert len(people_of) > 32  # of 40
    right = person[pairs["i"]] == person[pairs["j"]]
    assert right.mean() >= 0.95
    assert pairs["probability"].is_monotonic_decreasing
    assert [f"P{i}" for i in pairs["i"]] == pairs["id_i"].tolist()
    # All pairs within groups are there, also those that only follow from others.
    sizes = found.groupby("group").size()
    assert len(pairs) == (sizes * (sizes - 1) // 2).sum()
    group = found.set_index("row")["group"]
    assert (group[pairs["i"]].to_numpy() == group[pairs["j"]].to_numpy()).all()


def surest(n):
    """Places of answered pairs whose answers are beyond doubt: of equal or of unlike names."""
    table = pd.read_csv("answers.csv")
    score = [fuzz.ratio(a, b) for a, b in zip(table["name (i)"], table["name (j)"], strict=True)]
    return np.argsort(np.where(table["similar"] == 1, -np.array(score), score))[:n].tolist()


def test_answers_that_look_wrong_are_listed_and_corrected(folder, person):
    answers, places = pd.read_csv("answers.csv"), surest(3)
    answers.loc[places, "similar"] = 1 - answers.loc[places, "similar"]
    answers.to_csv("answers.csv", index=False)
    wrong = answers.loc[places]
    done = ok(*FIND, "-o", "found.csv")
    listed = done.out.split("set aside")[1].split("What matters")[0]
    assert all(name in listed for name in [*wrong["id_i"], *wrong["id_j"]])
    assert "the last answer counts" in " ".join((done.out + done.err).split())
    values = json.loads(ok(*FIND, "--json").out)
    rows = {tuple(row) for row in wrong[["i", "j"]].to_numpy().tolist()}
    assert rows == set(map(tuple, values["suspicious"]))
    assert values["n_wrong"]["low"] <= 3 <= values["n_wrong"]["high"]
    ok(*FIND, "--ask", "more.csv", "-n", "10")
    more = pd.read_csv("more.csv")
    assert not rows & {tuple(row) for row in more[["i", "j"]].to_numpy().tolist()}
    wrong.to_csv("again.csv", index=False)
    answer("again.csv", person)
    done = ok(*FIND, "--pairs", "again.csv")
    assert "set aside" not in done.out


@pytest.mark.parametrize(
    "cells", [["0.123456", "0.12346"], ["1234.56", "1234.57", "2"], ["1.5", "-1.5"]]
)
def test_different_numbers_look_different_on_the_page(cells, tmp_path):
    (tmp_path / "t.csv").write_text("\n".join(["kg", *cells]) + "\n")
    column = Column("kg", [read_table(tmp_path / "t.csv")])
    assert [float(column[row]) for row in range(len(cells))] == [*map(float, cells)]


def test_the_steps_of_the_finder_are_shown_while_it_works():
    said = []
    with _followed(SimpleNamespace(update=said.append)):
        DuplicateFinder().fit(people(20, 10)[0])
    assert any(text.startswith("neighbors of record") for text in said)
    assert any(text.startswith("similarities of") for text in said)
    n = len(said)
    DuplicateFinder().fit(people(20, 10)[0])
    assert len(said) == n


def test_long_records_show_where_they_differ():
    one, other = (
        {"title": "the same words " * 20 + end, "venue": "a journal", "year": year}
        for end, year in (("first", "1999"), ("second", "2001"))
    )
    for shown, own in (
        (_short(one, other), ("first", "1999")),
        (_short(other, one), ("second", "2001")),
    ):
        assert all(word in shown for word in own)
        assert shown.endswith("a journal")


def test_no_output_replaces_answers_whether_they_are_named_or_not(folder):
    (folder / "more.csv").write_text("i,j,similar\n0,1,no\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert "has 40 answers" in refusal(*FIND[:4], "--ask", "answers.csv")
    for option in ("-o", "--pairs-out"):
        assert "more.csv has 1 answers, which would be" in refusal(*FIND, option, "more.csv")
        assert "is an input" in refusal(*FIND, option, "answers.csv")
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_rows_without_ids_that_have_moved_are_refused(folder, person):
    table = pd.read_csv("people.csv", dtype=str, keep_default_na=False).drop(columns="id")
    table.to_csv("bare.csv", index=False)
    ok("duplicates", "bare.csv", "--ask", "q.csv", "-n", "40")
    answer("q.csv", person)
    asked = pd.read_csv("q.csv", dtype=str)
    words = asked["similar"].map({"1": "same", "0": "Nein"})
    asked.assign(similar=[*words[:-1], "?"]).to_csv("q.csv", index=False)
    ok("duplicates", "bare.csv", "--pairs", "q.csv")
    table.sort_values("street").to_csv("sorted.csv", index=False)
    err = refusal("duplicates", "sorted.csv", "--pairs", "q.csv", "-o", "found.csv")
    assert "q.csv has answers about another table" in err
    assert "with its rows in the same order" in err


@pytest.mark.slow
def test_what_is_new_is_said_apart_from_the_answers(folder, person):
    out = ok(*FIND, "--pairs-out", "pairs.csv").out
    values = json.loads(ok(*FIND, "--json").out)
    pairs, asked = pd.read_csv("pairs.csv"), pd.read_csv("answers.csv")
    answered = set(zip(asked["i"], asked["j"], strict=True))
    new = sum(pair not in answered for pair in zip(pairs["i"], pairs["j"], strict=True))
    assert values["n_new"] == new
    assert f"{new} pairs that you did not answer" in out
    assert "precision, new" in out
    assert values["n_same"]["low"] <= 40 <= values["n_same"]["high"]


def test_the_result_itself_goes_to_standard_output_and_what_is_out_of_reach_is_said(folder):
    done = ok(*FIND, "--precision", "1", "-o", "-")
    assert done.out.startswith("group,row,probability,id,name")
    found = pd.read_csv(io.StringIO(done.out))
    assert 40 < len(found) == done.out.count("\n") - 1  # and nothing else
    assert "cannot be reached" in done.err


def test_more_questions_leave_out_what_was_answered(folder):
    ok(*FIND, "--ask", "more.csv", "-n", "5")
    ok(*FIND, "--ask", "more.csv", "-n", "10")  # questions without answers may be replaced
    old, new = pd.read_csv("answers.csv"), pd.read_csv("more.csv")
    known = set(zip(old["id_i"], old["id_j"], strict=True))
    assert len(new) == 10
    assert not known & set(zip(new["id_i"], new["id_j"], strict=True))
    assert new["similar"].isna().all()
    assert ok(*FIND, "--ask", "-", "-n", "3", "--quiet").out.startswith("i,j,similar,id_i,id_j")


@pytest.mark.slow
def test_two_tables_are_linked(folder):
    table, person = people(120, 80)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(120)])
    second = np.setdiff1d(np.arange(len(table)), first)
    with_ids(table.iloc[first], "A").to_csv("a.csv", index=False)
    # The ids of the two tables may be the same.
    with_ids(table.iloc[second], "A").to_csv("b.csv", index=False)
    link = ["duplicates", "a.csv", "--against", "b.csv", "--id", "id"]
    ok(*link, "--ask", "q.csv", "-n", "60")
    answer("q.csv", person[first], person[second])
    ok(*link, "--pairs", "q.csv", "-o", "found.csv", "--pairs-out", "pairs.csv")
    pairs, found = pd.read_csv("pairs.csv"), pd.read_csv("found.csv")
    assert (person[first][pairs["i"]] == person[second][pairs["j"]]).mean() >= 0.95
    assert len(pairs) >= 65
    assert set(found["table"]) == {"a.csv", "b.csv"}
    ok(*link, "--pairs", "q.csv", "--one-to-one", "--pairs-out", "single.csv")
    single = pd.read_csv("single.csv")
    assert single["i"].is_unique
    assert single["j"].is_unique


def without(*names):
    return [part for name in names for part in ("--drop", name)]


# A command, or a column of the answers that is changed; and the words.
IMPOSSIBLE = [
    (["duplicates", "people.csv"], "--ask"),
    ([*FIND, "--one-to-one"], "needs two tables"),
    ([*FIND, "--ask", "q.csv"], "leave out -o"),
    ([*FIND, "--pairs-out", "out.csv"], "both name"),
    ([*FIND, "--drop", "nope"], "no column 'nope'"),
    ([*FIND, *without("name", "street", "town", "code")], "No column holds text"),
    ([*FIND, *without("name", "street", "town", "code", "age")], "no column is left"),
    ({"similar": "1"}, "both kinds"),
    ({"similar": ""}, "No pair is answered"),
    ({"id_j": "nobody"}, "'nobody'"),
]


@pytest.mark.parametrize(("given", "said"), IMPOSSIBLE, ids=[said for _, said in IMPOSSIBLE])
def test_what_cannot_be_done_is_said_in_one_line(given, said, folder):
    if isinstance(given, dict):
        answers = pd.read_csv("answers.csv", dtype=str, keep_default_na=False)
        answers.assign(**given).to_csv("bad.csv", index=False)
        given = [*FIND[:4], "--pairs", "bad.csv"]
    output = [] if "-o" in given else ["-o", "out.csv"]
    assert said in refusal(*given, *output)
    assert not (folder / "out.csv").exists()


def test_tables_that_cannot_be_used_are_refused(folder):
    table = pd.read_csv("people.csv", dtype=str, keep_default_na=False)
    table.drop(columns="town").to_csv("other.csv", index=False)
    assert "'town'" in refusal(*FIND[:4], "--against", "other.csv", "--ask", "q.csv")
    table.loc[5, "id"] = table.loc[2, "id"]
    table.to_csv("twice.csv", index=False)
    assert "both have the id" in refusal("duplicates", "twice.csv", "--id", "id", "--ask", "q.csv")
    table.iloc[:0].to_csv("empty.csv", index=False)
    refusal("duplicates", "empty.csv", "--ask", "q.csv")
    np.save("array.npy", np.eye(4))
    assert "array" in refusal("duplicates", "array.npy", "--ask", "q.csv")
    assert not (folder / "q.csv").exists()


def test_row_numbers_without_a_name_are_left_out(folder):
    pd.read_csv("people.csv").drop(columns="id").to_csv("numbered.csv", index_label="nr")
    done = ok("duplicates", "numbered.csv", "--ask", "q.csv", "-n", "5")
    assert "left out 'nr'" in done.err
    done = ok("duplicates", "numbered.csv", "--ask", "q.csv", "-n", "5", "--text", "nr")
    assert "left out" not in done.err


def test_an_untidy_table_is_read_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    n = 24
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "name": [f"{first} Müller{k // 2}" for k, first in enumerate(["Zoë", ""] * (n // 2))],
            "height": [f"{1.5 + k // 2 / 100:.2f}".replace(".", ",") for k in range(n)],
            "born": [f"{1 + k // 2:02d}.03.19{50 + k // 2}" for k in range(n)],
            "zip": ["n/a" if k % 5 == 0 else f"0{1000 + 7 * (k // 2)}" for k in range(n)],
            "mixed": np.tile(["12", "b", "", "2026-01-01"], n // 4),
        }
    )
    text = table.to_csv(index=False, sep=";")
    (tmp_path / "t.csv").write_bytes(text.encode("latin-1"))
    with pytest.warns(UserWarning, match="left out") as notes:
        columns = record_columns([read_table(tmp_path / "t.csv", encoding="latin-1")], ())
    said = " ".join(str(note.message) for note in notes)
    assert "left out 'id' (row numbers)" in said
    assert {name: values.dtype.kind for name, values in columns.items()} == {
        "name": "O", "height": "f", "born": "M", "zip": "O", "mixed": "O",
    }  # fmt: skip
    np.testing.assert_array_equal(columns["height"], 1.5 + np.arange(n) // 2 / 100)
    assert columns["zip"][1] == "01000"
    assert columns["mixed"][0] == "12"
    done = ok("duplicates", "t.csv", "--ask", "q.csv", "-n", "5", "--encoding", "latin-1")
    assert "UTF-8" not in done.err
    asked = pd.read_csv("q.csv", dtype=str)
    assert {*asked["name (i)"]} <= {*table["name"]}
