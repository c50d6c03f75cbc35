"""Damaged input of every kind: exit code 0 or 2, one line if 2, no traceback, no half file."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from seraph import load
from tests.helpers.command import assert_refused, seraph
from tests.helpers.tables import CSV, FILES

# Of the profile's number of examples; a fit is dearer than a sum.
SHARE = settings.default.max_examples // 20
# Lengths to which a file is cut.
CUTS = 8 if SHARE < 25 else 25


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    (folder / "data.csv").write_bytes(CSV)
    done = seraph("fit", folder / "data.csv", "--label", "class", "-o", folder / "m.skops")
    assert done.code == 0, done.err
    return (folder / "m.skops").read_bytes()


def assert_well_ended(done, folder, output):
    """Done, with a whole file; or refused, with none. Notes have a line each."""
    left = sorted(path.name for path in folder.iterdir() if path.name.startswith((".", "out")))
    if done.code == 0:
        assert left == [output]
        assert all(line.startswith("seraph: note: ") for line in done.err.splitlines())
    else:
        assert_refused(done)
        assert left == []


def fit(name, content, *options):
    """Fit on a file of this content, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / name).write_bytes(content)
        done = seraph("fit", folder / name, *options, "--no-check", "-o", folder / "out.skops")
        assert_well_ended(done, folder, "out.skops")
        if done.code == 0:
            load(folder / "out.skops")
    return done


def transform(content, data=("data.csv", CSV)):
    """Map a table by a model of this content."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "m.skops").write_bytes(content)
        (folder / data[0]).write_bytes(data[1])
        done = seraph("transform", folder / "m.skops", folder / data[0], "-o", folder / "out.csv")
        assert_well_ended(done, folder, "out.csv")
    return done


# Files cut short


@pytest.mark.parametrize("kind", ["csv.gz", "parquet", "npz", "npy"])
def test_a_file_cut_short_anywhere_is_refused(kind):
    whole = FILES[kind]
    options = ["--label", "class"] if kind in ("csv.gz", "parquet") else []
    for length in np.linspace(0, len(whole) - 1, CUTS).astype(int):
        done = fit(f"data.{kind}", whole[:length], *options)
        assert done.code == 2, length


@pytest.mark.slow
def test_files_under_each_others_names_are_refused(model):
    for kind, content in {**FILES, "skops": model}.items():
        for other in FILES:
            if other != kind:
                done = fit(f"data.{other}", content, "--label", "class")
                assert done.code == 2, (kind, other)
        if kind != "skops":
            assert transform(content).code == 2
