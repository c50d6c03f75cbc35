"""A disk that is full: every command and every function says so, and leaves nothing half-written.

The limit of the size of a file (RLIMIT_FSIZE) stands for the disk: the system refuses to write
more, in the same call, at any number of bytes.
"""

import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seraph import SERAPH, save
from seraph._apps.ask._answers import Answer, AnswerFile, PairFormat
from seraph._utils._files import write_whole
from seraph.classic import Euclidean
from seraph.persist import export
from tests.helpers.command import assert_refused, seraph

resource = pytest.importorskip("resource", reason="Windows has no such limit")


@contextmanager
def full_disk(room):
    """No file may grow beyond `room` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    frame["class"] = np.where(np.arange(30) < 15, np.where(frame.a > 0, "x", "y"), "")
    frame.to_csv(folder / "t.csv", index=False)
    save(
        SERAPH().fit(frame[list("abc")], frame["class"].to_numpy() == "x"),
        folder / "m.skops",
    )
    return folder


def outputs(kinds, *words):
    return {f"{words[0]} {kind}": (*words, "-o", f"out.{kind}") for kind in kinds}


TABLES = ("csv", "tsv", "csv.gz", "jsonl", "parquet", "feather")
COMMANDS = {
    **outputs(("skops",), "fit", "t.csv", "--label", "class", "--no-check"),
    "fit report": (
        *("fit", "t.csv", "--label", "class", "--no-check", "--report", "out.html"),
        *("-o", "out.skops"),
    ),
    **outputs((*TABLES, "npy"), "transform", "m.skops", "t.csv"),
    **outputs(("csv",), "predict", "m.skops", "t.csv", "--label", "class"),
    **outputs(("csv",), "query", "m.skops", "t.csv"),
    **outputs(("npy", "safetensors"), "export", "m.skops"),
    **outputs(("onnx",), "export", "m.skops", "--data", "t.csv"),
}
QUICK = ("transform csv", "transform parquet", "export npy", "fit skops")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in COMMANDS],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_command_on_a_full_disk_says_so_and_leaves_what_was_there(
    made, monkeypatch, name, exists
):
    monkeypatch.chdir(made)
    for path in made.glob("out.*"):
        path.unlink()
    words = COMMANDS[name]
    file = Path(words[-1])
    if exists and name != "index":  # it is read, and refused
        file.write_text("old")
    before = {path: path.read_bytes() for path in made.iterdir()}
    for room in (0, 20):
        with full_disk(room):
            done = seraph(*words)
        assert_refused(done)
        assert "File too large" in done.err
        assert file.name in done.err or "out." in done.err
        assert {path: path.read_bytes() for path in made.iterdir()} == before


SAVES = {
    "m.skops": save,
    "W.npy": export,
    "W.safetensors": export,
    "W.onnx": partial(export, X=np.eye(3)),
    "text.txt": lambda model, path: write_whole(Path(path), "text"),
}


@pytest.mark.parametrize("name", SAVES)
def test_a_function_on_a_full_disk_says_so_and_leaves_what_was_there(tmp_path, name):
    model = Euclidean().fit(np.eye(3))
    path = tmp_path / name
    path.write_text("old")
    for room in (0, 3):
        with full_disk(room), pytest.raises(OSError, match="File too large") as refusal:
            SAVES[name](model, path)
        assert refusal.value.filename == str(path)
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [(name, "old")]


def test_answers_on_a_full_disk_are_as_they_were(tmp_path):
    path = tmp_path / "answers.csv"
    ids = [f"row {k}" for k in range(6)]
    with AnswerFile(path, ids, PairFormat()) as file:
        file.add(Answer((0, 1), True))
        before = path.read_bytes()
        for room in range(len(before), len(before) + 30, 7):
            with full_disk(room), pytest.raises(OSError, match="File too large"):
                file.add(Answer((2, 3), False))
            assert path.read_bytes() == before
        file.add(Answer((2, 3), False))
    moved = ids[::-1]
    before = path.read_bytes()
    with full_disk(50), pytest.raises(OSError, match="File too large"):
        AnswerFile(path, moved, PairFormat())  # row numbers have changed: it is written again
    assert path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("transform", "m.skops", "t.csv"), ("inspect", "m.skops")])
def test_a_full_standard_output_is_told(made, words):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "seraph", *words],
            cwd=made, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("seraph: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1
