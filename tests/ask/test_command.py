"""The command: what it takes, what it refuses, and what it leaves behind."""

import json
import re
import shlex
import socket
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from seraph import load
from seraph._apps.ask._answers import AnswerFile, PairFormat
from seraph._apps.ask._digits import demo_digits
from seraph._apps.cli import _ask
from tests.helpers.ask import answer_truly, clusters
from tests.helpers.command import refusal, seraph
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
            answer_truly(kept["session"], kept.get("y", y), kept.get("n", 8))
            raise KeyboardInterrupt

    def run(*arguments, n=8, classes=y):
        kept.update(n=n, y=classes)
        kept["done"] = seraph(*arguments)
        assert kept["done"].code == 0, kept["done"]
        return kept

    monkeypatch.setattr("seraph._apps.ask._server.Server", Person)
    return run


def learn(kept):
    """Run the line that the command printed, without the parts that take long."""
    line = kept["done"].out.split("Learn from them: ")[1].strip()
    words = shlex.split(line)[1:]
    assert words[-2:] == ["--report", "answers.html"] or words[-1].endswith("/answers.html")
    done = seraph(*words[:-2], "--no-check")
    assert done.code == 0, done.err
    return line


def test_a_table_with_a_folder_of_pictures(run):
    kept = run("ask", "table.csv", "--id", "file", "--show", "photos", "--drop", "note")
    out = kept["done"].out
    assert "table.csv: 20 rows, 2 of them without a file and not asked." in out
    assert "http://127.0.0.1:1/token/\n" in out
    assert "8 answers in answers.csv. Learn from them: seraph fit table.csv --id file" in out
    assert kept["browser"]
    assert kept["port"] is None
    things = kept["state"]["question"]["things"]
    assert [thing["kind"] for thing in things] == ["image", "image"]
    assert kept["session"].setting.X.shape == (20, 4)
    asked = pd.read_csv("answers.csv")
    assert not asked[["id_i", "id_j"]].isin(["p18", "p19"]).any(axis=None)


def test_a_table_in_another_encoding(run):
    table = pd.read_csv("table.csv").assign(note="café")
    table.to_csv("table.csv", index=False, encoding="cp1252")
    kept = run("ask", "table.csv", "--id", "file", "--encoding", "cp1252", n=0)
    assert "café" in str(kept["state"]["question"])
    assert kept["session"].finish.command.startswith("seraph fit table.csv --id file")
    assert " --encoding cp1252 " in kept["session"].finish.command


def test_what_was_odd_in_the_table_is_said_before_the_page_opens(run):
    table = pd.read_csv("table.csv").astype({"a": object})
    table.loc[3, "a"] = "-"
    table.to_csv("table.csv", index=False)
    kept = run("ask", "table.csv", "--id", "file")
    assert "'-' in line 5 is read as missing" in kept["noted"]
    assert kept["done"].err == kept["noted"]


def test_the_same_command_goes_on(run):
    arguments = ("ask", "table.csv", "--id", "file", "--no-browser", "--port", "8123")
    run(*arguments)
    kept = run(*arguments)
    assert "Going on after 8 answers." in kept["done"].out
    assert not kept["browser"]
    assert kept["port"] == 8123
    assert len(pd.read_csv("answers.csv")) == 16


def numbered(path, seed):
    """Write a table whose ids are numbers from 0, as those of many others."""
    frame = pd.DataFrame(clusters(20, seed=seed)[0], columns=NAMES)
    frame.insert(0, "id", range(20))
    frame.to_csv(path, index=False)


@pytest.mark.parametrize("classes", [[], ["--classes", "a,b"]], ids=["pairs", "classes"])
def test_another_table_with_the_same_ids_does_not_adopt_the_answers(run, classes):
    numbered("one.csv", 0)
    numbered("other.csv", 1)
    run("ask", "one.csv", "--id", "id", *classes, n=10)
    before = Path("answers.csv").read_text()
    err = refusal("ask", "other.csv", "--id", "id", *classes)
    assert "answers.csv has answers about another table" in err
    assert "choose another file with -o" in err
    assert Path("answers.csv").read_text() == before
    use = "--labels" if classes else "--pairs"
    err = refusal("fit", "other.csv", "--id", "id", use, "answers.csv", "-o", "m.skops")
    assert "answers.csv has answers about another table" in err


def test_rows_that_were_added_and_moved_keep_their_answers(run):
    numbered("one.csv", 0)
    run("ask", "one.csv", "--id", "id", n=10)
    run("ask", "one.csv", "--drop", "id", "-o", "by_number.csv", n=4)
    frame = pd.read_csv("one.csv")
    more = frame.assign(id=frame["id"] + 20, **{name: frame[name] + 0.5 for name in NAMES})
    pd.concat([more, frame]).iloc[::-1].to_csv("one.csv", index=False)
    classes = np.r_[y, y][::-1]
    kept = run("ask", "one.csv", "--id", "id", n=2, classes=classes)
    assert "Going on after 10 answers." in kept["done"].out
    found = pd.read_csv("answers.csv")
    assert (found["similar"] == (classes[found["i"]] == classes[found["j"]])).all()
    err = refusal("ask", "one.csv", "--drop", "id", "-o", "by_number.csv")
    assert "by_number.csv has answers about another table" in err
    assert "with its rows in the same order" in err


def test_a_pair_with_two_answers_is_asked_again(run):
    arguments = ("ask", "table.csv", "--id", "file")
    run(*arguments, n=6)
    header, first, *rest = Path("answers.csv").read_text().splitlines()
    i, j, similar, a, b, *_ = first.split(",")
    turned = first.replace(f"{i},{j},{similar}", f"{i},{j},{'no' if similar == '1' else 'yes'}")
    Path("answers.csv").write_text("\n".join([header, first, *rest, turned, "", ""]))
    kept = run(*arguments, n=1)
    assert f"Answered in two ways: {a} and {b}. The last answer counts" in kept["done"].out
    assert kept["state"]["question"]["key"] == f"{i}-{j}"
    found = pd.read_csv("answers.csv")
    assert len(found) == 6
    assert found.iloc[-1][["i", "j", "similar"]].tolist() == [int(i), int(j), int(similar)]
    learn(run(*arguments, n=0))


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
    assert setting.X.shape == (20, 6)
    said = dict(setting.features)
    assert said["numbers"] == "a, b, c, d"
    assert said["missing: filled in by the median"] == "a (1)"
    assert said["categories"] == "kind"
    assert said["left out: text, different in every row"] == "text"
    assert said["features in all"] == "6"
    assert learn(kept).startswith("seraph fit table.csv --id file --drop note --pairs answers.csv")


def test_numbers_are_rounded_and_measured_by_the_spread_of_their_column(run):
    cells = run("ask", "table.csv", "--id", "file")["state"]["question"]["things"][0]["cells"]
    name, text, size = cells[0]
    table = pd.read_csv("table.csv")
    assert (name, len(text) <= 7) == ("a", True)
    assert size == pytest.approx(float(text) / table["a"].std(ddof=0), rel=1e-2, abs=2e-3)
    assert cells[-1][2] is None


def test_the_question_is_yours_and_json_tells_the_verdict(run):
    kept = run("ask", "table.csv", "--id", "file", "--question", "Same maker?", "--json", n=24)
    assert kept["session"].setting.question == "Same maker?"
    found = json.loads(kept["done"].out)
    assert found["n_answers"] == 24
    assert found["better"] in ("learned", "euclidean", None)
    assert found["command"].startswith("seraph fit table.csv")
    assert "http://127.0.0.1:1/token/" in kept["done"].err
    quiet = run("ask", "table.csv", "--id", "file", "--quiet", n=0)["done"]
    assert quiet.out == "http://127.0.0.1:1/token/\n"


def test_somebody_who_is_logged_in_by_ssh_is_told_of_the_tunnel(run, monkeypatch):
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22")
    assert "ssh -L 1:127.0.0.1:1" in run("ask", "table.csv", "--id", "file", n=0)["done"].out


def test_classes_are_predicted_from_the_answers_in_one_command(run):
    kept = run("ask", "table.csv", "--id", "file", "--drop", "note", "--classes", "a,b", n=12)
    line = learn(kept)
    assert "--labels answers.csv" in line
    finish = kept["session"].finish
    assert kept["session"].file.path.name == "answers.csv"
    assert seraph(*shlex.split(finish.then)[1:]).code == 0
    found = pd.read_csv("answers-classes.csv")
    assert len(found) == 20
    label = next(name for name in found.columns if name == "class" or name.startswith("class"))
    assert np.mean(found[label] == np.array(list("abc"))[y]) > 0.8


def test_labels_that_name_no_row_are_refused(run):
    run("ask", "table.csv", "--id", "file", "--classes", "a,b", n=8)
    answers = pd.read_csv("answers.csv")
    answers.assign(id="p99").to_csv("other.csv", index=False)
    fit = "fit", "table.csv", "--id", "file", "--labels"
    assert "has no row 'p99'" in refusal(*fit, "other.csv")
    assert "no column 'class'" in refusal(*fit, "table.csv")


@pytest.mark.slow
def test_the_report_judges_by_the_test_answers(run):
    many, classes = clusters(60)
    np.save("many.npy", many)
    pd.DataFrame({"name": [f"r{k}" for k in range(60)]}).to_csv("names.csv", index=False)
    kept = run("ask", "many.npy", "--table", "names.csv", "--show", "name", n=60, classes=classes)
    line = kept["done"].out.split("Learn from them: ")[1].strip()
    done = seraph(*shlex.split(line)[1:], "--json")
    check = json.loads(done.out)["check"]
    assert check["held_out"] == "test answers"
    assert check["n"] == 30
    page = kept["session"].state()["learning"]["judgments"][-1]
    assert check["euclidean"]["value"] == pytest.approx(page["euclidean"]["value"], abs=1e-6)
    assert "questions were drawn at random" in Path("answers.html").read_text()


def test_a_column_of_text_is_shown_as_text(run):
    kept = run("ask", "table.csv", "--id", "file", "--show", "note")
    (thing, _) = kept["state"]["question"]["things"]
    assert thing["kind"] == "text"
    assert thing["text"] in ("<b>good</b>", "")


def test_an_array_with_a_table_of_ids(run):
    arguments = ("--table", "table.csv", "--id", "file", "--show", "photos")
    kept = run("ask", "vectors.npy", *arguments)
    assert kept["session"].setting.X.shape == (20, 4)
    assert "--id" not in kept["done"].out
    assert pd.read_csv("answers.csv")["id_i"].str.startswith("p").all()


def test_embeddings_are_asked_about_and_fitted_at_unit_length(run):
    arguments = ("--table", "table.csv", "--id", "file", "--scale", "unit")
    kept = run("ask", "vectors.npy", *arguments, n=12)
    wanted = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(kept["session"].setting.X, wanted, rtol=1e-6)
    assert learn(kept).startswith("seraph fit vectors.npy --scale unit --pairs answers.csv")
    assert load("answers.skops")[0].__class__.__name__ == "Normalizer"


@pytest.mark.parametrize("classes", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_line_at_the_end_makes_the_model_that_the_page_offers(run, classes):
    options = ["--classes", "a, b"] if classes else []
    arguments = ("--id", "file", "--drop", "note", "--scale", "minmax")
    kept = run("ask", "table.csv", *arguments, *options, n=12)
    line = kept["done"].out.split("Learn from them: ")[1].strip()
    with_all = kept["session"].finish
    assert line == with_all.command
    assert seraph(*shlex.split(line)[1:]).code == 0
    model = load("answers.skops")
    assert model[0].scale == "minmax"
    learner = model[-1].named_learners_.seraph
    n_marked = learner.n_similar_ + learner.n_dissimilar_
    assert n_marked == (66 if classes else 12)  # the test's answers are learned from, too


def test_rows_of_many_are_fitted_by_a_sample(run, monkeypatch):
    asked = ("ask", "table.csv", "--id", "file", "--drop", "note")
    assert "--sample" not in learn(run(*asked))
    monkeypatch.setattr(_ask, "_MANY_ROWS", 18)
    assert "--sample 18 -o" in learn(run(*asked))


def test_the_line_at_the_end_works_for_rows_without_names(run):
    learn(run("ask", "table.csv", "--drop", "file"))
    assert load("answers.skops")[-1].named_learners_.seraph.n_similar_ > 0


def test_the_demo_needs_no_file_and_first_says_which_folder_it_leaves_behind(run, here):
    before = set(here.iterdir())
    kept = run("demo", "ask", "--no-browser", classes=demo_digits()[2])
    (left,) = set(here.iterdir()) - before
    assert left.is_dir()
    assert str(left.resolve()) in kept["done"].out.splitlines()[0]
    assert learn(kept).startswith("seraph fit seraph-demo/digits.npy --pairs")
    assert np.load("seraph-demo/digits.npy").shape == demo_digits()[0].shape


def test_answers_about_records_find_the_duplicates(run):
    table, person = people(90, 60)
    table.insert(0, "id", [f"P{k}" for k in range(len(table))])
    table.to_csv("people.csv", index=False)
    kept = run("ask", "people.csv", "--id", "id", "--duplicates", n=40, classes=person)
    cells = kept["state"]["question"]["things"][0]["cells"]
    assert [name for name, _, _ in cells] == ["name", "street", "town", "code", "age"]
    answers = pd.read_csv("answers.csv")
    assert 6 <= answers["similar"].sum() <= 30  # random pairs would hardly have one
    line = kept["done"].out.split("Learn from them: ")[1].strip()
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
    line = kept["done"].out.split("Learn from them: ")[1].strip()
    assert line.startswith("seraph duplicates a.csv --against b.csv --id id --pairs answers.csv")
    assert seraph(*shlex.split(line)[1:]).code == 0
    again = run(*command, n=10, classes=classes)
    assert "Going on after 30 answers" in again["done"].out
    assert len(pd.read_csv("answers.csv")) == 40


REFUSED = [
    ("nothing.csv", "No such file"),
    ("table.csv --id nobody", "no column 'nobody'"),
    ("table.csv --id note", "row 1: '' in 'note' cannot name a row"),
    ("same.csv --id file", "rows 0 and 5 have the same id 'p0' in 'file': ids must be unique"),
    ("table.csv --show nowhere", "neither such a folder nor such a column. Columns: file, a"),
    ("table.csv --show photos --show .", "names two folders"),
    ("vectors.npy", "An array has nothing to show"),
    ("vectors.npy --id file", "pass a table with --table"),
    ("vectors.npy --table few.csv", "few.csv has 2 rows, and vectors.npy has 20"),
    ("vectors.npy --table vectors.npy", "has no named columns"),
    ("table.csv --table few.csv", "--table is for arrays"),
    ("few.csv --id file", "few.csv has 2 rows: at least 3"),
    ("flat.csv --id file", "every feature has the same value"),
    ("table.csv --id file --drop note --show empty", "something to show for only 0 of 20 rows"),
    ("photos", "photos is a folder. Pass a table of numbers"),
    ("texts.csv", "has only text, and a distance needs numbers. Embed each text"),
    ("table.csv --scale log", "'log' is not one of 'standard'"),
    ("zero.npy --table table.csv --scale unit", "Row 3 of zero.npy has only zeros"),
    ("table.csv -o answers.txt", "must end in .csv"),
    ("table.csv -o table.csv", "is an input and would be replaced"),
    ("table.csv -o other.csv", "is not a file of answers"),
    ("table.csv --classes " + "x" * 61, "1 to 60 characters"),
    ("table.csv --port 0", "Invalid value"),
    ("table.csv --against few.csv", "--against has a meaning only with --duplicates"),
    ("table.csv --duplicates --scale unit", "--scale has no meaning with --duplicates"),
    ("table.csv --duplicates --classes a", "--classes has no meaning with --duplicates"),
    ("vectors.npy --duplicates --show photos", "is an array of numbers: duplicates are found by"),
    ("numbers.csv --duplicates", "numbers.csv: No column holds text"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[r[0][:40] for r in REFUSED])
def test_bad_input_is_refused_in_one_line(here, arguments, said):
    table = pd.read_csv("table.csv")
    table.assign(file=[f"p{k % 5}" for k in range(20)]).to_csv("same.csv", index=False)
    table[:2].to_csv("few.csv", index=False)
    table.drop(columns="note").assign(**dict.fromkeys(NAMES, 1.0)).to_csv("flat.csv", index=False)
    table[NAMES].to_csv("numbers.csv", index=False)
    np.save("zero.npy", X * (np.arange(20) != 3)[:, np.newaxis])
    table[["note"]].assign(note=[f"remark {k} on it" for k in range(20)]).to_csv(
        "texts.csv", index=False
    )
    (here / "empty").mkdir()
    (here / "other.csv").write_text("x,y\n1,2\n")
    assert said in refusal("ask", *arguments.split())


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setattr(_ask, "find_spec", lambda name: None)
    assert "pip install 'seraph-learn[ask]'" in refusal("ask", "table.csv")


def test_the_demo_knows_one_other_word():
    assert re.search("'sing' is not (one of )?'ask'", refusal("demo", "sing"))


def test_a_session_is_closed_when_the_port_is_taken(here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        err = refusal("ask", "table.csv", "--id", "file", "--port", port)
    assert f"Port {port} cannot be used" in err
    with AnswerFile(here / "answers.csv", [], PairFormat()) as free:
        assert free.answers == []
