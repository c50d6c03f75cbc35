"""Each benchmark script starts, and measures for a second without an error."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

pytest.importorskip("pandas")

ROOT = Path(__file__).parents[2]
# Arguments with which a script runs here: without a network, a GPU or packages of rivals. FOLDER
# is an empty folder.
SCRIPTS = {
    "duplicates_scale": ["300"],
    "evidence": ["run", "--sets", "iris", "--jobs", "1", "--log", "FOLDER/log.csv"],
    "paper": ["table2", "--samplings", "2", "--tasks", "iris", "--out", "FOLDER"],
    "speed": [],
}
# Ends the script with 0 after a second of its own processor time, or after ten by the clock, in
# which it may wait for its workers.
DRIVER = """
import os, runpy, signal, sys
import numpy, pandas, scipy, sklearn.ensemble
import seraph.classic
for kind, number, seconds in (
    (signal.ITIMER_PROF, signal.SIGPROF, 1.0), (signal.ITIMER_REAL, signal.SIGALRM, 10.0)
):
    signal.signal(number, lambda *_: os._exit(0))
    signal.setitimer(kind, seconds)
name, *sys.argv[1:] = sys.argv[1:]
runpy.run_module(name, run_name="__main__", alter_sys=True)
os._exit(0)  # no timer rings while Python ends
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no such timer")
@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_script_runs_for_a_second(name, tmp_path):
    arguments = [argument.replace("FOLDER", str(tmp_path)) for argument in SCRIPTS[name]]
    # Some compare numbers of threads, which these settle.
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    with (tmp_path / "said.txt").open("w+") as said:
        done = subprocess.Popen(
            [sys.executable, "-c", DRIVER, f"benchmarks.{name}", *arguments],
            cwd=ROOT,
            env={**free, "XDG_CACHE_HOME": str(tmp_path)},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        code = done.wait()
        with suppress(ProcessLookupError):
            os.killpg(done.pid, signal.SIGKILL)  # its workers
    assert code == 0, (tmp_path / "said.txt").read_text()[-2000:]
