"""Answers remember the content of their rows: rows that have moved or changed are refused."""

import numpy as np
import pandas as pd
import pytest

from seraph.tables._answers import row_contents
from seraph.tables._files import read_table
from tests.helpers.command import ok, refusal


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
    content = row_contents([read_table(tmp_path / "data.csv")], range(40))
    pairs = [(0, 1), (2, 4), (3, 5), (7, 9), (10, 13), (20, 23), (36, 39)]
    lines = [f"{i},{j},{int(i % 2 == j % 2)},{content[i]} {content[j]}" for i, j in pairs]
    (tmp_path / "pairs.csv").write_text("\n".join(["i,j,similar,content", *lines]))
    lines = [f"{k},{'uv'[k % 2]},{content[k]}" for k in (0, 1, 2, 3, 8, 9, 37, 38)]
    (tmp_path / "classes.csv").write_text("\n".join(["row,class,content", *lines]))
    return tmp_path


LEARN = [["--pairs", "pairs.csv"], ["--labels", "classes.csv"]]


@pytest.mark.parametrize("data", ["other.csv", "moved.csv"])
def test_answers_about_other_rows_are_refused_by_every_command(folder, data):
    ok("fit", "data.csv", *LEARN[1], "-o", "m.skops", "--no-check")
    ok("predict", "m.skops", "data.csv", *LEARN[1], "-o", "p.csv")
    for command, (option, name) in (
        (["fit", data, "--no-check"], LEARN[0]),
        (["fit", data, "--no-check"], LEARN[1]),
        (["duplicates", data], LEARN[0]),
        (["predict", "m.skops", data], LEARN[1]),
    ):
        output = "new.skops" if command[0] == "fit" else "new.csv"
        err = refusal(*command, option, name, "-o", output)
        assert f"{name} has answers about another table: " in err
        assert f"have other cells in {data}, line 2 first" in err
        assert "with its rows in the same order" in err
        assert not (folder / output).exists()
