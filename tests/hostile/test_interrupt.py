"""Ctrl-C at any moment: one line that says what was written, code 130, and no traceback.

The moments are hooks that raise the signal, so that a test strikes where it says it does.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from seraph import save
from seraph.classic import Euclidean

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="Windows sends no SIGINT to one process"
)

BEFORE = "seraph: interrupted before any file was written.\n"
AFTER = "seraph: interrupted after writing out.csv.\n"

# Prepares the moment that its first argument names, then runs the rest as `seraph` does.
HOOKED = """
import atexit, builtins, importlib.abc, os, signal, sys
from pathlib import Path
import seraph.__main__ as command

def strike(*_):
    signal.raise_signal(signal.SIGINT)

class Trap:
    def __del__(self, strike=strike):
        strike()

def before(owner, name, act):
    plain = getattr(owner, name)
    def hooked(*arguments, **options):
        act()
        return plain(*arguments, **options)
    setattr(owner, name, hooked)

def after(owner, name, act):
    plain = getattr(owner, name)
    def hooked(*arguments, **options):
        try:
            return plain(*arguments, **options)
        finally:
            act()
    setattr(owner, name, hooked)

def strike_twice():
    try:
        strike()
    finally:
        strike()

def strike_in_vain():
    try:
        strike()
    except BaseException:
        pass

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "seraph._utils._files":
            strike()

def light():
    from seraph._utils._files import write_whole
    write_whole(Path("out.csv"), "a,b")
    print("done")
    sys.exit(0)

moment = sys.argv.pop(1)
if sys.argv[1:] == ["light"]:
    command._run = light
{
    "first line": lambda: before(command, "_run", strike),
    "code from a text": lambda: before(command, "_run", lambda: exec("strike()", globals())),
    "import": lambda: sys.meta_path.insert(0, Finder()),
    "before the move": lambda: before(os, "fsync", strike),
    "twice before the move": lambda: before(os, "fsync", strike_twice),
    "swallowed": lambda: before(os, "fsync", strike_in_vain),
    "in a destructor": lambda: before(os, "fsync", Trap),
    "after the move": lambda: after(Path, "replace", strike),
    "in a destructor after the move": lambda: after(Path, "replace", Trap),
    "at exit()": lambda: before(sys, "exit", strike),
    "as the command returns": lambda: after(command, "_run", strike),
    "atexit": lambda: atexit.register(strike),
    "end of the interpreter": lambda: setattr(builtins, "trap", Trap()),
}[moment]()
sys.argv[0] = "seraph"
command.main()
"""
MOMENTS = {
    "first line": (130, BEFORE),
    "code from a text": (130, BEFORE),
    "import": (130, BEFORE),
    "before the move": (130, BEFORE),
    "twice before the move": (130, BEFORE),
    "in a destructor": (130, BEFORE),
    "after the move": (130, AFTER),
    "in a destructor after the move": (130, AFTER),
    "at exit()": (130, AFTER),
    "as the command returns": (130, AFTER),
    # The command goes on to its end, or has ended: it is as if nobody had interrupted it.
    "swallowed": (0, ""),
    "atexit": (0, ""),
    "end of the interpreter": (0, ""),
}


@pytest.fixture(scope="module")
def struck(tmp_path_factory):
    # Run as a module, as `python -m seraph` is: its end differs from that of `python -c`.
    place = tmp_path_factory.mktemp("hooked")
    (place / "hooked.py").write_text(HOOKED)

    def run(folder, moment, *arguments):
        path = os.pathsep.join(filter(None, [str(place), os.environ.get("PYTHONPATH")]))
        return subprocess.run(
            [sys.executable, "-m", "hooked", moment, *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_at_any_moment_says_what_was_written(struck, tmp_path, moment):
    (tmp_path / "out.csv").write_text("old")
    done = struck(tmp_path, moment, "light")
    code, line = MOMENTS[moment]
    assert done.stderr == line
    assert done.returncode == code
    written = line != BEFORE
    assert (tmp_path / "out.csv").read_text() == ("a,b" if written else "old")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupted")
    save(Euclidean().fit(np.eye(3)), folder / "m.skops")
    np.save(folder / "data.npy", np.eye(3))
    return folder


TRANSFORM = ("transform", "m.skops", "data.npy", "-o", "out.csv")


@pytest.mark.slow
def test_a_transform_interrupted_at_random_ends_with_a_line_or_well(made):
    rng = random.Random(0)
    for trial in range(20):
        out = made / "out.csv"
        out.unlink(missing_ok=True)
        with subprocess.Popen(
            [sys.executable, "-X", "importtime", "-m", "seraph", *TRANSFORM],
            cwd=made, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        ) as running:  # fmt: skip
            # Before that, the interpreter itself is starting.
            lines = iter(running.stderr.readline, "")
            assert any("typer" in line for line in lines)
            # Read on, or the program waits for room to write.
            said = []
            reader = threading.Thread(target=said.extend, args=(lines,))
            reader.start()
            while trial % 2 and not out.exists() and running.poll() is None:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.3))
            running.send_signal(signal.SIGINT)
            reader.join()
        rest = "".join(line for line in said if not line.startswith("import time:"))
        assert running.returncode in (0, 130), rest
        if running.returncode == 0:
            assert rest == ""
        else:
            assert rest == (AFTER if out.exists() else BEFORE)
