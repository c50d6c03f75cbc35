"""Print the test files that can be imported here, for an environment without all packages.

`python tools/installed_tests.py tests/base tests/sweep` prints the files of these folders, one a
line, that import nothing that is not installed. Helpers count with what they import anywhere,
modules of seraph with what they need at once.
"""

import ast
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = {"tests": ROOT / "tests", "seraph": ROOT / "src" / "seraph"}


def imported(path):
    """Yield the full names that a file imports: anywhere in a test, at once in the library."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if path.is_relative_to(ROOT / "src") else ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def importable(path):
    for name in imported(path):
        top, *rest = name.split(".")
        if top in OURS:
            module = OURS[top].joinpath(*rest).with_suffix(".py")
            if module.is_file() and not importable(module):
                return False
        elif find_spec(top) is None:
            return False
    return True


def main(folders):
    files = sorted(path for folder in folders for path in Path(folder).rglob("test_*.py"))
    print(*(path.as_posix() for path in files if importable(path.resolve())), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:] or [ROOT / "tests"])
