"""The end of a session: run the line that the page shows, ``seraph fit`` or ``duplicates``.

The line runs as it stands, in a process of its own, so whoever runs it again gets the same model.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_KEPT = 20  # last lines of what it prints


@dataclass
class Finish:
    """What makes the model and the report.

    Parameters
    ----------
    arguments : sequence of str
        ``fit`` or ``duplicates``, and its arguments.
    model, report : Path
        Files that they write; ``duplicates`` writes its groups, and no report.
    then : str
        Line to go on with; empty for none.
    """

    arguments: Sequence[str]
    model: Path
    report: Path | None
    then: str = ""
    _made_from: int = field(default=-1, init=False)
    _status: str = field(default="none", init=False)
    _message: str = field(default="", init=False)
    _since: float = field(default=0.0, init=False)
    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def command(self) -> str:
        """The line to type in a shell."""
        return shlex.join(["seraph", *self.arguments])

    def state(self, stamp: int) -> dict[str, Any]:
        """Return how far it is, for JSON; files made from other answers do not count.

        `stamp` is a number that changes with the answers.
        """
        with self._lock:
            running = self._status == "running"
            fresh = running or self._made_from == stamp
            return {
                "status": self._status if fresh else "none",
                "message": self._message if fresh else "",
                "seconds": round(time.monotonic() - self._since) if running else 0,
            }

    def start(self, stamp: int) -> None:
        """Start to make the files, unless that is under way or done for the same answers."""
        with self._lock:
            done = self._status == "done" and self._made_from == stamp
            if self._closed or self._status == "running" or done:
                return
            self._made_from = stamp
            self._status, self._message = "running", ""
            self._since = time.monotonic()
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "seraph", *self.arguments],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                )
            except OSError as error:
                self._status, self._message = "failed", f"{error.filename}: {error.strerror}"
                return
            threading.Thread(
                target=self._watch, args=(self._process,), name="seraph-finish", daemon=True
            ).start()

    def cancel(self) -> None:
        """Stop making the files; those of an earlier run stay as they are."""
        with self._lock:
            if self._process is not None:
                self._process.terminate()
                self._process = None
                self._status = "canceled"

    def close(self) -> None:
        """End the process, if it runs, and start no other."""
        self._closed = True
        self.cancel()

    def _watch(self, process: subprocess.Popen[str]) -> None:
        """Follow what the process prints until it ends."""
        said: deque[str] = deque(maxlen=_KEPT)
        with process:
            said.extend(process.stdout or ())
        with self._lock:
            if self._process is process:  # it was not canceled
                self._process = None
                self._status = "failed" if process.returncode else "done"
                self._message = "".join(said).strip()[-2000:]
