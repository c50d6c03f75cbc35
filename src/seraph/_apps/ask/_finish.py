"""The end of a session: run the line that the page shows, ``seraph fit`` or ``duplicates``.

The line runs as it stands, in a process of its own, so whoever runs it again gets the same model.
"""

from __future__ import annotations

import csv
import io
import shlex
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._utils._files import write_whole
from ._answers import Answer
from ._learning import Labels


@dataclass
class Finish:
    """What makes the model and the report.

    Parameters
    ----------
    arguments : sequence of str
        ``fit`` or ``duplicates``, and its arguments.
    pairs : Path
        File of pairs that they name.
    model, report : Path
        Files that they write; ``duplicates`` writes its groups, and no report.
    ids : sequence of str
        Name of each row.
    from_classes : bool
        Whether the answers are classes; `pairs` is written from them first.
    """

    arguments: Sequence[str]
    pairs: Path
    model: Path
    report: Path | None
    ids: Sequence[str]
    from_classes: bool = False
    _made_from: int = field(default=-1, init=False)
    _status: str = field(default="none", init=False)
    _message: str = field(default="", init=False)
    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _closed: bool = field(default=False, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def command(self) -> str:
        """The line to type in a shell."""
        return shlex.join(["seraph", *self.arguments])

    def state(self, n_answers: int) -> dict[str, Any]:
        """Return how far it is, for JSON; files made from other answers do not count."""
        with self._lock:
            fresh = self._status == "running" or self._made_from == n_answers
            return {
                "status": self._status if fresh else "none",
                "message": self._message if fresh else "",
                "command": self.command,
                "model": self.model.name,
                "report": None if self.report is None else self.report.name,
                "answers": self.pairs.name,
            }

    def start(self, answers: Sequence[Answer]) -> None:
        """Start to make the files, unless that is under way or done."""
        with self._lock:
            done = self._status == "done" and self._made_from == len(answers)
            if self._closed or self._status == "running" or done:
                return
            self._made_from = len(answers)
            self._status, self._message = "running", ""
        threading.Thread(
            target=self._run, args=(list(answers),), name="seraph-finish", daemon=True
        ).start()

    def close(self) -> None:
        """End the process, if it runs."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.terminate()

    def _run(self, answers: Sequence[Answer]) -> None:
        try:
            if self.from_classes:
                write_whole(self.pairs, implied_pairs(answers, self.ids))
            code, message = self._fit()
        except OSError as error:
            code, message = 1, f"{error.filename}: {error.strerror}"
        with self._lock:
            self._status = "failed" if code else "done"
            self._message = message

    def _fit(self) -> tuple[int, str]:
        """Run the line; return its exit code and what it printed."""
        with self._lock:
            if self._closed:
                return 1, ""
            self._process = process = subprocess.Popen(
                [sys.executable, "-m", "seraph", *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        with process:
            out = process.communicate()[0]
        with self._lock:
            self._process = None
        return process.returncode, out.strip()[-2000:]


def implied_pairs(answers: Sequence[Answer], ids: Sequence[str]) -> str:
    """Return the pairs that follow from classes as the table that ``seraph fit --pairs`` reads.

    Examples
    --------
    >>> from seraph._apps.ask._answers import ClassAnswer
    >>> answers = [ClassAnswer(0, "cat"), ClassAnswer(2, "dog"), ClassAnswer(1, "cat")]
    >>> print(implied_pairs(answers, ["a", "b", "c"]), end="")
    i,j,similar,id_i,id_j
    0,2,0,a,c
    0,1,1,a,b
    1,2,0,b,c
    """
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["i", "j", "similar", "id_i", "id_j"])
    pairs, same = Labels.of(answers).all_pairs()
    for (i, j), alike in zip(pairs.tolist(), same.tolist(), strict=True):
        writer.writerow([i, j, int(alike), ids[i], ids[j]])
    return out.getvalue()
