"""Ctrl-C ends a command with one line, code 130, no traceback, and files that are whole."""

import os
import subprocess
import sys

import numpy as np
import pytest

from seraph import save
from seraph.classic import Euclidean

pytest.importorskip("typer")

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="Windows sends no SIGINT to one process"
)

# Raises the signal at the moment that its first argument names, and runs the rest as `seraph`.
HOOKED = """
import os, pathlib, signal, sys
from seraph.__main__ import main

moment = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, if in the background

def strike(event, arguments):
    global moment
    module, renamed = (event == "import" and arguments[0]), (event == "os.rename")
    if moment and (moment == module or (moment == "writing" and renamed)):
        moment = None  # once
        signal.raise_signal(signal.SIGINT)

sys.addaudithook(strike)
main()
"""


@pytest.mark.parametrize(
    "moment", ["typer", "sklearn.base", pytest.param("writing", marks=pytest.mark.slow)]
)
def test_an_interrupt_at_any_moment_ends_with_one_line(moment, tmp_path):
    save(Euclidean().fit(np.eye(3)), tmp_path / "m.skops")
    np.save(tmp_path / "data.npy", np.eye(3))
    (tmp_path / "out.csv").write_text("old")
    before = sorted(tmp_path.iterdir())
    transform = ("transform", "m.skops", "data.npy", "-o", "out.csv")
    done = subprocess.run(
        [sys.executable, "-c", HOOKED, moment, *transform],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (130, "seraph: interrupted.\n")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "out.csv").read_text() == "old"
