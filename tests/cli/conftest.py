"""A folder with a table of wines and a model of them."""

import pandas as pd
import pytest

from tests.helpers.command import ok
from tests.helpers.wines import FIT, wine_frame


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table, a table of pairs, and a model of the former."""
    folder = tmp_path_factory.mktemp("cli")
    frame = wine_frame()
    frame.drop(columns="truth").to_csv(folder / "data.csv", index=False)
    frame.drop(columns=["truth", "class"]).to_csv(folder / "new.csv", index=False)
    pairs = pd.DataFrame({"i": [0, 2, 3, 40, 5, 7], "j": [1, 9, 30, 41, 59, 20]})
    truth = frame["truth"].to_numpy()
    pairs["similar"] = (truth[pairs["i"]] == truth[pairs["j"]]).astype(int)
    pairs.to_csv(folder / "pairs.csv", index=False)
    ok("fit", folder / "data.csv", *FIT[2:], "-o", folder / "model.skops")
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it, or of what a module makes instead, to work in."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path
