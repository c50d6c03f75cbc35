"""The command ``seraph`` and ``python -m seraph``.

Without the packages of the ``cli`` extra, only the demo runs. Ctrl-C ends it with one line
at any time; so this file imports as little as it can before it handles the signal.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def main() -> None:
    """Run the command line, or only the demo if typer or rich is not installed.

    Ctrl-C ends with one line that names the files written, and code 130. Once the command has
    ended, Ctrl-C changes nothing any more.
    """
    end: SystemExit | None = None
    try:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _unraisable
        try:
            _run()
        except SystemExit as error:
            end = error
        _ignore_interrupts()
    except KeyboardInterrupt:
        _ignore_interrupts()
        # CPython notes a Ctrl-C within `exec` of a text (as dataclasses use it) and would end by
        # the signal, whatever the exit code. The next `exec` takes the note back.
        exec("")
        print(_interrupted(), file=sys.stderr)
        end = SystemExit(130)
    if end is not None:
        raise end


def _run() -> None:
    from importlib.util import find_spec

    if find_spec("typer") and find_spec("rich"):
        from ._apps.cli import main as run

        run()
    else:
        _demo_only(sys.argv[1:])


def _interrupt(*_: object) -> None:
    """Handle the first Ctrl-C: running code cleans up. The second one does not wait for that."""
    signal.signal(signal.SIGINT, _leave)
    raise KeyboardInterrupt


def _ignore_interrupts() -> None:
    # Not a function of Python: the interpreter forgets those before the process has ended.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _unraisable(unraisable: Any) -> None:
    """Leave where Python would print a traceback and go on: Ctrl-C within a ``__del__``, say."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        _leave()
    sys.__unraisablehook__(unraisable)


def _leave(*_: object) -> None:
    """End the process now."""
    if sys.stderr.isatty():
        os.write(2, b"\x1b[?25h")  # a progress bar may have hidden the cursor
    os.write(2, f"{_interrupted()}\n".encode(errors="replace"))
    os._exit(130)


def _interrupted() -> str:
    """Name the files that the command had written when it was interrupted."""
    # Not imported: an import may have been interrupted. Without the module, nothing was written.
    files = sys.modules.get("seraph._utils._files._whole")
    finished = getattr(files, "finished_writes", list)
    written: list[object] = finished()
    if not written:
        return "seraph: interrupted before any file was written."
    names = "".join(c if c.isprintable() else "?" for c in ", ".join(map(str, written)))
    return f"seraph: interrupted after writing {names}."


def _demo_only(arguments: Sequence[str]) -> None:
    """Run the demo, which needs none of the extras."""
    import argparse
    from pathlib import Path

    from ._utils._version import __version__

    parser = argparse.ArgumentParser(
        prog="seraph",
        description="Semi-supervised metric learning. Only the demo is installed: for the other "
        "commands, pip install 'seraph-learn[cli]'.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command")
    demo = commands.add_parser("demo", help="Learn a metric for digits from 10 labels.")
    demo.add_argument("--samplings", type=int, default=20, help="Number of random samplings.")
    demo.add_argument(
        "--picture", type=Path, default=Path("demo.png"), help="Write the picture here."
    )
    first = next((word for word in arguments if not word.startswith("-")), "demo")
    if first != "demo":
        parser.error(f"{first} needs more packages: pip install 'seraph-learn[cli]'")
    if "ask" in arguments:
        parser.error("demo ask needs more packages: pip install 'seraph-learn[ask]'")
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return
    if chosen.samplings < 1:
        demo.error(f"--samplings must be 1 or more; got {chosen.samplings}")
    from ._apps.demo._digits import main as run_demo

    run_demo(chosen.samplings, chosen.picture)


if __name__ == "__main__":
    main()
