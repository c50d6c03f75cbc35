"""Marked pairs find their rows by id, wherever the rows are now."""

import numpy as np
import pandas as pd
import pytest

from seraph import load
from seraph._apps.cli._tables import read_pairs, read_table
from tests.helpers.command import ok, refusal
from tests.helpers.wines import wine_frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table, the same one sorted, a part of it, and answered questions about its rows."""
    folder = tmp_path_factory.mktemp("ids")
    frame = wine_frame()
    truth = frame.set_index("name")["truth"]
    data = frame.drop(columns=["truth", "remarks"])
    data.to_csv(folder / "data.csv", index=False)
    data.sort_values("hue").to_csv(folder / "sorted.csv", index=False)
    data.iloc[:20].to_csv(folder / "part.csv", index=False)
    for command in (
        ["fit", folder / "data.csv", "--label", "class", "--id", "name", "-o", folder / "m.skops"],
        ["query", folder / "m.skops", folder / "data.csv", "-n", "12", "--label", "class",
         "--id", "name", "-o", folder / "asked.csv"],
    ):  # fmt: skip
        ok(*command)
    asked = pd.read_csv(folder / "asked.csv")
    asked["similar"] = (truth[asked["id_i"]].values == truth[asked["id_j"]].values).astype(int)
    asked.to_csv(folder / "answered.csv", index=False)
    return folder


def fit(folder, data):
    """The command that learns from a table and the answers, and where the model goes."""
    output = folder / f"{data}.skops"
    pairs = "--pairs", folder / "answered.csv"
    return ("fit", folder / data, "--label", "class", "--no-check", *pairs, "-o", output), output


@pytest.mark.slow
def test_a_sorted_table_gives_the_same_model(folder):
    models = []
    for data in ("data.csv", "sorted.csv"):
        command, output = fit(folder, data)
        # (The bounds of ITML depend on the order of the rows.)
        ok(*command, "--id", "name", "--learner", "seraph")
        models.append(load(output))
    rows = pd.read_csv(folder / "data.csv")[models[0].feature_names_in_]
    first, second = (np.abs(model.transform(rows)) for model in models)
    np.testing.assert_allclose(second, first, atol=1e-3 * first.max())


def test_what_cannot_be_found_is_refused(folder):
    command, output = fit(folder, "part.csv")
    assert "no row of the data has this id" in refusal(*command, "--id", "name")
    assert not output.exists()
    command, _ = fit(folder, "sorted.csv")
    assert "name the rows, which may have moved since" in refusal(*command)


def test_ids_may_be_numbers(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,similar,id_i,id_j\n0,1,1,30,10\n0,1,0,20,30\n")
    pairs, similar = read_pairs(read_table(path), 3, ids=[10.0, 20.0, 30.0])
    assert pairs.tolist() == [[2, 0], [1, 2]]
    assert similar.tolist() == [True, False]
    with pytest.raises(ValueError, match="line 2: id_i is '30', and no row of the data"):
        read_pairs(read_table(path), 3, ids=["a", "b", "c"])
    path.write_text("i,j,similar\n0,1,1\n")
    assert read_pairs(read_table(path), 3, ids=["a", "b", "c"])[0].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "b", "a"], "Row 2 of the data has 'a', as row 0 does"),
        (["a", None, "c"], "Row 1 of the data has no id"),
        (["a", float("nan"), "c"], "Row 1 of the data has no id"),
    ],
)
def test_ids_that_do_not_tell_rows_apart_are_refused(ids, message, tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("id_i,id_j,similar\na,b,1\n")
    with pytest.raises(ValueError, match=message):
        read_pairs(read_table(path), 3, ids)
