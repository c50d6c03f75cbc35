"""The command: what it takes, what it refuses, and what it leaves behind."""

import json
import shlex
import socket
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from seraph import load
from seraph._apps.cli import _ask
from tests.helpers.ask import answer_truly, clusters, names, session
from tests.helpers.command import ok, refusal, seraph
from tests.helpers.people import people

X, y = clusters(20)
NAMES = ["a", "b", "c", "d"]


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(0, "file", [f"p{k}" for k in range(20)])
    frame["note"] = ["<b>good</b>", ""] * 10
    frame.to_csv("table.csv", index=False)
    np.save("vectors.npy", X)
    (tmp_path / "photos").mkdir()
    for k in range(18):
        Image.new("RGB", (8, 8), "red").save(tmp_path / "photos" / f"p{k}.png")
    return tmp_path


@pytest.fixture
def run(monkeypatch):
    """Run the command with a person who answers, instead of a server; keep the session."""
    kept = {}

    class Person:
        address = "http://127.0.0.1:1/token/"

        def __init__(self, session, port):
            kept["session"], kept["port"] = session, port

        def run(self, *, browser):
            kept["browser"], kept["noted"] = browser, sys.stderr.getvalue()
            kept["state"] = kept["session"].state()
            answer_truly(kept["session"], kept.get("y", y), kept.get("n", 3))
            raise KeyboardInterrupt

    def run(*arguments, n=3, classes=y):
        kept.update(n=n, y=classes)
        kept["done"] = seraph(*arguments)
        assert kept["done"].code == 0, kept["done"]
        return kept

    monkeypatch.setattr("seraph._apps.ask._server.Server", Person)
    return run


def line_of(kept):
    """The line that the command printed."""
    return kept["done"].out.split("Learn from them: ")[1].strip()


def learn(kept):
    """Run that line, without the parts that take long."""
    line = line_of(kept)
    words = shlex.split(line)[1:]
    assert words[-2] == "--report"
    done = seraph(*words[:-2], "--no-check")
    assert done.code == 0, done.err
    return line


def test_minus_one_can_be_the_name_of_a_class(here):
    pd.DataFrame(X, columns=NAMES, index=names(20)).to_csv("t.csv", index_label="id")
    with session(here / "names.csv", X, classes=("-1", "0")) as opened:
        for _ in range(2):
            key = opened.state()["question"]["key"]
            said = ["-1" if y[int(row)] == 0 else "0" for row in key.split("-")]
            opened.answer(key, said)
        kinds = opened.state()["counts"]["kinds"]
    done = ok("fit", "t.csv", "--id", "id", "--labels", "names.csv", "-o", "m.skops", "--no-check")
    assert f"2: -1 ({kinds['-1']}), 0 ({kinds['0']})" in done.out
    assert kinds["-1"] > 1


def test_a_table_with_a_folder_of_pictures(run):
    kept = run("ask", "table.csv", "--id", "file", "--show", "photos", "--drop", "note")
    out = kept["done"].out
    assert "table.csv: 20 rows, 2 of them without a file and not asked." in out
    assert "http://127.0.0.1:1/token/\n" in out
    assert "3 screens in answers.csv. Learn from them: seraph fit table.csv --id file" in out
    assert kept["browser"]
    assert kept["port"] is None
    things = kept["state"]["question"]["things"]
    assert [thing["kind"] for thing in things] == 8 * ["image"]
    assert kept["session"].setting.points.shape == (20, 4)
    asked = pd.read_csv("answers.csv")
    assert not asked[["id_i", "id_j"]].isin(["p18", "p19"]).any(axis=None)


def test_all_columns_are_shown_by_default_and_the_page_says_what_they_are_used_as(run):
    table = pd.read_csv("table.csv")
    table.loc[3, "a"] = np.nan  # one missing cell costs no column
    table["kind"] = ["tall", "small"] * 10
    table["text"] = [f"remark {k}" for k in range(20)]
    table.to_csv("table.csv", index=False)
    kept = run("ask", "table.csv", "--id", "file", "--drop", "note")
    cells = kept["state"]["question"]["things"][0]["cells"]
    assert [name for name, _, _ in cells] == [*NAMES, "note", "kind", "text"]
    setting = kept["session"].setting
    said = dict(setting.features)
    assert said["numbers"] == "a, b, c, d"
    assert said["missing: filled in by the median"] == "a (1)"
    assert said["categories"] == "kind"
    assert said["left out: text, different in every row"] == "text"
    assert said["features in all"] == str(setting.points.shape[1])
    assert learn(kept).startswith("seraph fit table.csv --id file --drop note --pairs answers.csv")


def test_the_question_is_yours_and_json_tells_the_verdict(run):
    kept = run("ask", "table.csv", "--id", "file", "--question", "Same maker?", "--sort", "--json")
    assert kept["session"].setting.question == "Same maker?"
    found = json.loads(kept["done"].out)
    assert found["n_answers"] == 3
    assert found["better"] in ("learned", "euclidean", None)
    assert found["command"].startswith("seraph fit table.csv")
    assert "http://127.0.0.1:1/token/" in kept["done"].err
    quiet = run("ask", "table.csv", "--id", "file", "--quiet", n=0)["done"]
    assert quiet.out == "http://127.0.0.1:1/token/\n"


def test_embeddings_with_a_table_of_ids_are_asked_about_and_fitted_at_unit_length(run):
    arguments = ("--table", "table.csv", "--id", "file", "--scale", "unit", "--no-browser")
    kept = run("ask", "vectors.npy", *arguments, "--port", "8123")
    assert (kept["browser"], kept["port"]) == (False, 8123)
    wanted = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(kept["session"].setting.points, wanted, rtol=1e-6)
    assert learn(kept).startswith("seraph fit vectors.npy --scale unit --pairs answers.csv")
    assert load("answers.skops")[0].__class__.__name__ == "Normalizer"
    assert pd.read_csv("answers.csv")["id_i"].str.startswith("p").all()


@pytest.mark.parametrize("classes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_line_at_the_end_makes_the_model_that_the_page_offers(run, classes):
    options = ["--classes", "a, b"] if classes else []
    arguments = ("--id", "file", "--drop", "note", "--scale", "minmax")
    kept = run("ask", "table.csv", *arguments, *options, n=2)
    line = line_of(kept)
    assert line == kept["session"].finish.command
    assert seraph(*shlex.split(line)[1:]).code == 0
    model = load("answers.skops")
    assert model[0].scale == "minmax"
    learner = model[-1].named_learners_.seraph
    n_marked = learner.n_similar_ + learner.n_dissimilar_
    said = pd.read_csv("answers.csv")
    assert n_marked == (120 if classes else len(said))


@pytest.mark.slow
def test_answers_about_records_find_the_duplicates(run):
    table, person = people(90, 60)
    table.insert(0, "id", [f"P{k}" for k in range(len(table))])
    table.to_csv("people.csv", index=False)
    kept = run("ask", "people.csv", "--id", "id", "--duplicates", n=40, classes=person)
    cells = kept["state"]["question"]["things"][0]["cells"]
    assert [name for name, _, _ in cells] == ["name", "street", "town", "code", "age"]
    answers = pd.read_csv("answers.csv")
    assert 6 <= answers["similar"].sum() <= 30  # random pairs would hardly have one
    line = line_of(kept)
    assert line == (
        "seraph duplicates people.csv --id id --pairs answers.csv -o answers-found.csv"
    )
    assert kept["session"].finish.report is None
    assert seraph(*shlex.split(line)[1:]).code == 0
    found = pd.read_csv("answers-found.csv")
    groups = found.groupby("group")["row"].apply(lambda rows: set(person[rows]))
    assert (groups.map(len) == 1).mean() > 0.95
    assert len(groups) > 54  # of 60


@pytest.mark.slow
def test_two_tables_are_asked_about_across(run):
    """The ids of the two tables may be the same; each row is found in its own."""
    table, person = people(90, 60)
    first = np.array([np.flatnonzero(person == p)[0] for p in range(90)])
    second = np.setdiff1d(np.arange(len(table)), first)
    for name, rows in (("a.csv", first), ("b.csv", second)):
        part = table.iloc[rows].copy()
        part.insert(0, "id", [f"P{k}" for k in range(len(part))])
        part.to_csv(name, index=False)
    command = ["ask", "a.csv", "--against", "b.csv", "--id", "id", "--duplicates"]
    classes = np.concatenate([person[first], person[second]])
    kept = run(*command, n=30, classes=classes)
    answers = pd.read_csv("answers.csv")
    alike = person[first][answers["i"]] == person[second][answers["j"]]
    assert (alike == answers["similar"]).all()
    assert answers["j"].max() < len(second)
    assert [f"P{j}" for j in answers["j"]] == answers["id_j"].tolist()
    line = line_of(kept)
    assert line.startswith("seraph duplicates a.csv --id id --against b.csv --pairs answers.csv")
    assert seraph(*shlex.split(line)[1:]).code == 0
    again = run(*command, n=10, classes=classes)
    assert "Going on after 30 answers" in again["done"].out
    assert len(pd.read_csv("answers.csv")) == 40


REFUSED = [
    ("nothing.csv", "No such file"),
    ("table.csv --id nobody", "no column 'nobody'"),
    ("table.csv --id note", "line 3: '' in 'note' cannot name a row"),
    (
        "same.csv --id file",
        "line 2 and line 7: both have the id 'p0' in 'file', and ids must be unique",
    ),
    ("table.csv --show nowhere", "neither such a folder nor such a column. Columns: file, a"),
    ("vectors.npy", "An array has nothing to show"),
    ("vectors.npy --id file", "pass a table with --table"),
    ("vectors.npy --table few.csv", "few.csv has 2 rows, and vectors.npy has 20"),
    ("few.csv --id file", "few.csv has 2 rows: at least 3"),
    ("table.csv --id file --drop note --show empty", "something to show for only 0 of 20 rows"),
    ("photos", "photos is a folder. Pass a table of numbers"),
    ("texts.csv", "no column is left as a feature: 'note' (text, different in every row)"),
    ("table.csv -o answers.txt", "must end in .csv"),
    ("table.csv -o table.csv", "is an input and would be replaced"),
    ("table.csv -o other.csv", "is not a file of answers"),
    ("table.csv --against few.csv", "--against has a meaning only with --duplicates"),
    ("table.csv --duplicates --classes a", "--classes has no meaning with --duplicates"),
    ("table.csv --sort --classes a", "--classes has no meaning with --sort"),
    ("vectors.npy --duplicates --show photos", "is an array of numbers: duplicates are found by"),
    ("numbers.csv --duplicates", "numbers.csv: No column holds text"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[r[0][:40] for r in REFUSED])
def test_bad_input_is_refused_in_one_line(here, arguments, said):
    table = pd.read_csv("table.csv")
    table.assign(file=[f"p{k % 5}" for k in range(20)]).to_csv("same.csv", index=False)
    table[:2].to_csv("few.csv", index=False)
    table[NAMES].to_csv("numbers.csv", index=False)
    table[["note"]].assign(note=[f"remark {k} on it" for k in range(20)]).to_csv(
        "texts.csv", index=False
    )
    (here / "empty").mkdir()
    (here / "other.csv").write_text("x,y\n1,2\n")
    assert said in refusal("ask", *arguments.split())


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(_ask, "find_spec", lambda name: None)
    assert "pip install 'seraph-learn[ask]'" in refusal("ask", "table.csv")


def test_a_session_is_closed_when_the_port_is_taken(here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        err = refusal("ask", "table.csv", "--id", "file", "--port", port)
    assert f"Port {port} cannot be used" in err
    assert not any(thread.name == "seraph-refit" for thread in threading.enumerate())
