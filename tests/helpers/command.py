"""The command ``seraph`` within this process: what it printed, and how it ended."""

import io
import sys
from dataclasses import dataclass
from unittest.mock import patch

from seraph._apps.cli import main


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


def seraph(*arguments):
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    err = io.StringIO()
    with (
        patch.object(sys, "argv", ["seraph", *map(str, arguments)]),
        patch.object(sys, "stdout", out),
        patch.object(sys, "stderr", err),
    ):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
    return Done(code, out.buffer.getvalue().decode(), err.getvalue())


def assert_refused(done):
    """Exit code 2, one line on stderr, nothing on stdout, and no traceback."""
    assert done.code == 2, done
    assert done.out == ""
    assert done.err.startswith("seraph: ")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    assert "Traceback" not in done.err


def ok(*arguments):
    """Run a command that must succeed."""
    done = seraph(*arguments)
    assert done.code == 0, done.err
    return done


def refusal(*arguments):
    """Return the line with which a command is refused."""
    done = seraph(*arguments)
    assert_refused(done)
    return done.err
