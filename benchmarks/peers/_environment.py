"""The virtual environment of the comparison, and a worker that runs there."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
# metric-learn's release does not run with a newer scikit-learn.
PACKAGES = ("scikit-learn==1.7.2", "metric-learn==0.7.0", "threadpoolctl")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
READY = "ready"  # what a worker says after its imports


def interpreter(folder):
    """Return the Python of the environment in `folder`; make it first if it is not there."""
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = folder / "ready"
    wanted = "\n".join(PACKAGES)
    if not ready.exists() or ready.read_text() != wanted:
        print(f"making an environment with {', '.join(PACKAGES)}", file=sys.stderr)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
        ready.write_text(wanted)
    return python


class Worker:
    """A process with one thread that fits learners one after another, each `cap` CPU seconds."""

    def __init__(self, python, cap):
        self.python, self.cap = python, cap
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self.environment = os.environ | ONE_THREAD | {"PYTHONPATH": path}
        self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def __call__(self, job):
        """Return the record of each library: its error and seconds, "capped", or "failed"."""
        if self.process is None:
            self._start()
        self.process.stdin.write(json.dumps({**job, "cap": self.cap}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            message = self._messages()
            self._stop()
            failed = {"failed": f"the process ended: {message[-200:]}"}
            return dict.fromkeys(job["libraries"], failed)
        return json.loads(line)

    def _start(self):
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115  (closed with the process)
        self.process = subprocess.Popen(
            [str(self.python), "-m", "benchmarks.peers._worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=self.environment,
            cwd=ROOT,
        )
        if self.process.stdout.readline().strip() != READY:
            raise SystemExit(f"The worker did not start:\n{self._messages()}")

    def _messages(self):
        self.log.seek(0)
        return self.log.read()

    def _stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.log.close()
            self.process = None
