"""Ctrl-C while the command ``seraph`` is still importing packages ends with one line.

Imported first of all, since the other imports take a second or two. A program that merely
imports seraph is left alone.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import TracebackType

MESSAGE = "seraph: interrupted."


def is_command() -> bool:
    """Say whether this process is ``seraph`` or ``python -m seraph``."""
    as_module = sys.argv[:1] == ["-m"] and "seraph" in sys.orig_argv
    return as_module or Path(next(iter(sys.argv), "")).stem == "seraph"


def _say_so(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print(MESSAGE, file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


if is_command():
    sys.excepthook = _say_so
