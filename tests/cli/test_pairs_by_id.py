"""Marked pairs find their rows by id, wherever the rows are now."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seraph import load
from seraph.tables._answers import answered_pairs
from seraph.tables._reading import typed_column
from seraph.tables._table import NamedColumns
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
    pairs = np.random.default_rng(0).permutation(60)[:24].reshape(-1, 2)
    asked = pd.DataFrame(pairs, columns=["i", "j"])
    for name in "ij":
        asked[f"id_{name}"] = frame["name"].to_numpy()[asked[name]]
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
    assert "part.csv has this id" in refusal(*command, "--id", "name")
    assert not output.exists()
    command, _ = fit(folder, "sorted.csv")
    assert "name the rows, which may have moved since" in refusal(*command)


def named(*ids):
    return NamedColumns(
        Path("data.csv"), {"id": typed_column(ids), "x": typed_column(range(len(ids)))}
    )


def test_ids_may_be_numbers(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("i,j,similar,id_i,id_j\n0,1,1,30,10\n0,1,0,20,30\n")
    pairs, similar = answered_pairs([named(10.0, 20.0, 30.0)], path, "id")
    assert pairs.tolist() == [[2, 0], [1, 2]]
    assert similar.tolist() == [True, False]
    with pytest.raises(ValueError, match="line 2: id_i is '30', and no row of data"):
        answered_pairs([named("a", "b", "c")], path, "id")
    path.write_text("i,j,similar\n0,1,1\n")
    assert answered_pairs([named("a", "b", "c")], path, "id")[0].tolist() == [[0, 1]]
