"""The command ``seraph`` and ``python -m seraph``.

Without the packages of the ``cli`` extra, only the demo runs. Ctrl-C ends with one line, also
while packages are still being imported.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from ._version import __version__

_INTERRUPTED = "seraph: interrupted."


def main() -> None:
    """Run the command line, or only the demo if typer or rich is not installed."""
    try:
        if find_spec("typer") and find_spec("rich"):
            from ._cli import main as run

            run()
        else:
            _demo_only(sys.argv[1:])
    except KeyboardInterrupt:
        print(_INTERRUPTED, file=sys.stderr)
        sys.exit(130)


def _demo_only(arguments: Sequence[str]) -> None:
    """Run a demo that needs none of the extras."""
    parser = argparse.ArgumentParser(
        prog="seraph",
        description="Semi-supervised metric learning. Only the demo is installed: for the other "
        "commands, pip install 'seraph-learn[cli]'.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command")
    demo = commands.add_parser("demo", help="Learn a metric for digits from 10 labels.")
    demo.add_argument(
        "what",
        nargs="?",
        choices=["embeddings"],
        help="embeddings: adapt vectors of a language model from 100 marked pairs.",
    )
    demo.add_argument(
        "--faces", action="store_true", help="Adapt vectors of a face network, fetched first."
    )
    demo.add_argument("--samplings", type=int, help="Number of random samplings.")
    demo.add_argument("--picture", type=Path, help="Write the picture here.")
    first = next((word for word in arguments if not word.startswith("-")), "demo")
    if first != "demo":
        parser.error(f"{first} needs more packages: pip install 'seraph-learn[cli]'")
    if "ask" in arguments:
        parser.error("demo ask needs more packages: pip install 'seraph-learn[ask]'")
    chosen = parser.parse_args(arguments)
    if chosen.command is None:
        parser.print_help()
        return
    if chosen.samplings is not None and chosen.samplings < 1:
        demo.error(f"--samplings must be 1 or more; got {chosen.samplings}")
    if chosen.faces and chosen.what is None:
        demo.error("--faces is for demo embeddings")
    if chosen.what is None:
        from ._paper._demo import main as run_demo

        run_demo(chosen.samplings or 20, chosen.picture or Path("demo.png"))
    else:
        from ._paper import _embeddings

        name = "faces" if chosen.faces else "embeddings"
        run = _embeddings.main_faces if chosen.faces else _embeddings.main
        try:
            run(
                chosen.samplings or _embeddings.SAMPLINGS,
                chosen.picture or Path(f"demo-{name}.png"),
            )
        except ValueError as error:
            demo.error(str(error))


if __name__ == "__main__":
    main()
