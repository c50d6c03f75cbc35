"""For every test, those in docstrings and on pages too.

An installation without all extras runs what it can: files that import what is not there are left
out, and the header names the packages. Warnings are errors in our own runs (SERAPH_STRICT=1, as
the Makefile and the workflows set it), since a new release of a dependency may add one.
"""

import ast
import os
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent
OURS = {
    "tests": ROOT / "tests",
    "seraph": ROOT / "src" / "seraph",
    "benchmarks": ROOT / "benchmarks",
}
MISSING = set()
UNDER_WAY = set()


def imported(path):
    """Yield the full names that a file imports: anywhere in a test, at once in the library."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from re.findall(r"^(?:>>> )?(?:from|import) (\w+)", text, re.MULTILINE)
        return
    package = next(
        [top, *path.relative_to(folder).parts[:-1]]
        for top, folder in (OURS | {"": ROOT}).items()
        if path.is_relative_to(folder)
    )
    nodes = [ast.parse(text)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *filter(None, [node.module])])
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))
        elif package[0] == "tests" or not isinstance(node, ast.FunctionDef | ast.If):
            nodes += ast.iter_child_nodes(node)


def files_of(name):
    """Return the files of ours that an import runs: those of its packages, and its own."""
    top, *rest = name.split(".")
    folder = OURS[top]
    places = [folder, *(folder.joinpath(*rest[: k + 1]) for k in range(len(rest)))]
    files = [
        file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")
    ]
    return [file for file in files if file.is_file()]


@cache
def is_importable(path):
    """Return whether all is there that a file, and those of ours that it imports, import."""
    UNDER_WAY.add(path)
    there = True
    for name in imported(path):
        top = name.partition(".")[0]
        if top in OURS:
            there &= all(is_importable(file) for file in files_of(name) if file not in UNDER_WAY)
        elif find_spec(top) is None:
            MISSING.add(top)
            there = False
    UNDER_WAY.discard(path)
    return there


def pytest_configure(config):
    """Make warnings errors in our own runs."""
    if os.environ.get("SERAPH_STRICT"):
        # An old matplotlib on a new pyparsing has the second; a look at a widget's attributes the
        # third.
        for line in (
            "error",
            "ignore:'.*deprecated:DeprecationWarning",
            r"ignore:Widget\.:DeprecationWarning",
        ):
            config.addinivalue_line("filterwarnings", line)


def pytest_ignore_collect(collection_path):
    """Leave out a file, or a folder of tests, that needs what is not installed.

    In our own runs nothing may be missing.
    """
    if os.environ.get("SERAPH_STRICT"):
        return None
    path = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    is_test = path.suffix in (".py", ".md") and path.is_file() and path != ROOT / "conftest.py"
    return True if is_test and not is_importable(path) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip a test that comes upon a package that is not installed; in our own runs, it fails."""
    try:
        return (yield)
    except ImportError as error:
        name = str(getattr(error.__cause__ or error, "name", None) or "")
        if not name or os.environ.get("SERAPH_STRICT") or find_spec(name.partition(".")[0]):
            raise
        pytest.skip(f"{name} is not installed")


def pytest_terminal_summary(terminalreporter):
    """Name the packages for want of which files were left out."""
    if MISSING:
        names = ", ".join(sorted(MISSING))
        terminalreporter.write_line(f"left out, for want of packages: {names}")


@pytest.fixture(autouse=True)
def _one_seed() -> None:
    """``random_state=None`` draws the same numbers in every run."""
    np.random.seed(0)  # noqa: NPY002 -- what random_state=None draws from
