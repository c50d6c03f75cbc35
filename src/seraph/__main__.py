"""The command ``seraph`` and ``python -m seraph``."""

from __future__ import annotations

import sys
from collections.abc import Callable


def main() -> None:
    """Run the command line, or without its packages the demo; Ctrl-C ends it with one line."""
    run: Callable[[], object]
    try:
        try:
            from ._apps.cli import main as run
        except ImportError as error:
            if sys.argv[1:] != ["demo"]:
                sys.exit(f"seraph: {error}")
            from ._apps.demo._penguins import main as run
        run()
    except KeyboardInterrupt:
        print("seraph: interrupted.", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
