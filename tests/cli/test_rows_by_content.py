"""Answers without ids name rows by their content: other data are refused, moved rows are found."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seraph import load
from seraph._apps.ask._answers import Answer, AnswerFile, ClassFormat, PairFormat
from seraph._apps.cli._answered import rows_by_content
from seraph._apps.cli._ask_rows import row_contents, row_ids
from seraph._apps.cli._tables import read_table
from tests.helpers.command import ok, refusal


def write_answers(path, data, form, answers):
    """Write answers about a table as `seraph ask` does."""
    table = read_table(data)
    ids = row_ids(table, None)
    with AnswerFile(path, ids, form, row_contents([table])) as file:
        for answer in answers:
            file.add(answer)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a table, the same with a row on top, another one, and answers to the first."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 3)).round(3), columns=list("abc"))
    frame["c"] += 4.0 * (np.arange(40) % 2)
    frame.loc[39] = frame.loc[37]  # equal rows
    frame.to_csv("data.csv", index=False)
    top = pd.DataFrame([[0.5, 0.5, 0.5]], columns=frame.columns)
    pd.concat([top, frame]).to_csv("moved.csv", index=False)
    (frame + 1.0).to_csv("other.csv", index=False)
    pairs = [(0, 1), (2, 4), (3, 5), (7, 9), (10, 13), (20, 23), (36, 39)]
    answers = [Answer((i, j), i % 2 == j % 2) for i, j in pairs]
    write_answers(tmp_path / "pairs.csv", tmp_path / "data.csv", PairFormat(), answers)
    classes = [Answer((k,), "uv"[k % 2]) for k in (0, 1, 2, 3, 8, 9, 37, 38)]
    write_answers(tmp_path / "classes.csv", tmp_path / "data.csv", ClassFormat(), classes)
    return tmp_path


LEARN = [["--pairs", "pairs.csv"], ["--labels", "classes.csv"]]


def test_answers_about_other_data_are_refused_by_every_command(folder):
    ok("fit", "data.csv", *LEARN[1], "-o", "m.skops", "--no-check")
    ok("predict", "m.skops", "data.csv", *LEARN[1], "-o", "p.csv")
    for command, (option, name) in (
        (["fit", "other.csv", "--no-check"], LEARN[0]),
        (["fit", "other.csv", "--no-check"], LEARN[1]),
        (["ask", "other.csv", "--no-browser"], LEARN[0]),
        (["duplicates", "other.csv"], LEARN[0]),
        (["predict", "m.skops", "other.csv"], LEARN[1]),
    ):
        n = 7 if name == "pairs.csv" else 8
        output = "new.skops" if command[0] == "fit" else "new.csv"
        err = refusal(*command, option, name, "-o", output)
        assert f"{name}: {n} of its {n} answers are about rows that are not in other" in err
        assert not (folder / output).exists()


@pytest.mark.parametrize("answers", LEARN, ids=str)
def test_answers_follow_rows_that_have_moved(folder, answers):
    for data in ("data", "moved"):
        result = ok(
            "fit", f"{data}.csv", *answers, "-o", f"{data}.skops", "--no-check", "--scale", "none"
        )
        assert ("rows have moved" in result.err) == (data == "moved")
    learned = [load(f"{name}.skops")[-1].get_mahalanobis_matrix() for name in ("data", "moved")]
    # The row on top is one more unlabeled point, which changes little.
    np.testing.assert_allclose(learned[1], learned[0], rtol=0.2, atol=0.02)
    # By number, the answers would be about the rows before.
    for name in ("pairs", "classes"):
        frame = pd.read_csv(f"{name}.csv").drop(columns="content")
        frame.to_csv(f"{name}.csv", index=False)
    ok("fit", "moved.csv", *answers, "-o", "n.skops", "--no-check", "--scale", "none")
    by_number = load("n.skops")[-1].get_mahalanobis_matrix()
    off = np.linalg.norm(by_number - learned[0])
    assert off > 3 * np.linalg.norm(learned[1] - learned[0])


def test_a_line_that_was_typed_by_hand_goes_by_its_numbers_and_the_others_by_content(folder):
    table = read_table(Path("moved.csv"))
    answers = pd.read_csv("pairs.csv")
    typed = pd.DataFrame({"i": [5], "j": [6], "similar": [0]})
    pd.concat([answers, typed]).to_csv("pairs.csv", index=False)
    rows = np.vstack([answers[["i", "j"]].to_numpy(), [[5, 6]]])
    with pytest.warns(UserWarning, match="the answers follow them, but for those without"):
        found = rows_by_content([table], rows, read_table(Path("pairs.csv")))
    assert found.tolist() == [*(rows[:-1] + 1).tolist(), [5, 6]]
    refusal("fit", "other.csv", "--pairs", "pairs.csv", "-o", "m.skops")
