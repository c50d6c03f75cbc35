"""The end of a session: run the line that the page shows, ``seraph fit`` or ``duplicates``.

The line runs in a process of its own, so whoever runs it again gets the same model. It writes
beside files that exist, and replaces none of them.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

_LONGEST_MESSAGE = 2000


@dataclass
class Finish:
    """The command that makes the model and the report."""

    arguments: Sequence[str]  # ``fit`` or ``duplicates`` with its own, without the files to write
    model: Path  # to write with ``-o``: a model, or the groups that ``duplicates`` finds
    report: Path | None = None  # to write with ``--report``
    then: Sequence[str] = ()  # arguments of ``seraph predict`` after the model, to go on with
    _made_from: int = field(default=-1, init=False)
    _status: str = field(default="none", init=False)
    _message: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)
    _files: dict[str, Path] = field(default_factory=dict, init=False)
    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)

    @property
    def files(self) -> dict[str, Path]:
        """The files to write: those of the last run, or else names that are free."""
        if self._status not in ("running", "done"):
            wanted = {"model": self.model, "report": self.report}
            for number in count(1):
                end = "" if number == 1 else f"-{number}"
                self._files = {
                    name: path.with_stem(path.stem + end) for name, path in wanted.items() if path
                }
                if not any(path.exists() for path in self._files.values()):
                    break
        return self._files

    @property
    def is_done(self) -> bool:
        """Whether the files are there."""
        return self._status == "done"

    @property
    def command(self) -> str:
        """The line to type in a shell."""
        return shlex.join(["seraph", *self._line()])

    def state(self, stamp: int) -> dict[str, Any]:
        """Return how far it is, for JSON; files made from other answers do not count.

        `stamp` is a number that changes with the answers.
        """
        with self._lock:
            running = self._status == "running"
            if not running and self._made_from != stamp:
                self._status, self._message = "none", ""
            then = shlex.join(["seraph", "predict", str(self.files["model"]), *self.then])
            return {
                "status": self._status,
                "message": self._message,
                "seconds": round(time.monotonic() - self._since) if running else 0,
                "files": {name: path.name for name, path in self.files.items()},
                "command": self.command,
                "then": then if self.then else "",
            }

    def start(self, stamp: int) -> None:
        """Start to make the files, unless that is under way or done for the same answers."""
        with self._lock:
            if self.state(stamp)["status"] in ("running", "done"):
                return
            line = self._line()
            self._made_from, self._since = stamp, time.monotonic()
            self._status, self._message = "running", ""
            self._process = subprocess.Popen(
                [sys.executable, "-m", "seraph", *line],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
            threading.Thread(
                target=self._watch, args=(self._process,), name="seraph-finish", daemon=True
            ).start()

    def close(self) -> None:
        """End the process, if it runs."""
        with self._lock:
            if self._process is not None:
                self._process.terminate()

    def _line(self) -> list[str]:
        options = {"model": "-o", "report": "--report"}
        named = (word for name, path in self.files.items() for word in (options[name], str(path)))
        return [*self.arguments, *named]

    def _watch(self, process: subprocess.Popen[str]) -> None:
        """Wait until the process ends, and keep the end of its output."""
        output = process.communicate()[0]
        with self._lock:
            self._process = None
            self._status = "failed" if process.returncode else "done"
            self._message = output.strip()[-_LONGEST_MESSAGE:]
