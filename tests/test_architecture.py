"""Imports run one way: each room may import those below it, and no others."""

import ast
from pathlib import Path

import pytest

import seraph

ROOT = Path(seraph.__file__).parent
MAY_IMPORT = {
    "_version": set(),
    "files": set(),
    "model": set(),
    "chunks": set(),
    "pairs": {"chunks"},
    "base": {"chunks"},
    "space": {"chunks"},
    "progress": set(),
    "solvers": set(),
    "sweep": {"chunks", "model"},
    "objective": {"sweep"},
    "graph": set(),
    "sampling": set(),
    "query": set(),
    "advice": {"chunks", "pairs"},
    "posterior": {"base", "model", "pairs", "query"},
    "problem": {"chunks", "graph", "objective", "pairs", "sampling", "space", "sweep"},
    "checkpoint": {"_version", "chunks", "files", "pairs", "sweep"},
    "callback": {"solvers"},
    "seraph": {
        "advice",
        "base",
        "callback",
        "checkpoint",
        "chunks",
        "objective",
        "pairs",
        "posterior",
        "problem",
        "progress",
        "solvers",
        "sweep",
    },
    "kernel": {
        "advice",
        "base",
        "callback",
        "checkpoint",
        "pairs",
        "posterior",
        "seraph",
        "sweep",
    },
    "folds": {"pairs"},
    "path": {
        "advice",
        "base",
        "checkpoint",
        "objective",
        "pairs",
        "problem",
        "progress",
        "solvers",
        "sweep",
    },
    "selection": {
        "advice",
        "base",
        "checkpoint",
        "folds",
        "pairs",
        "posterior",
        "problem",
        "seraph",
        "sweep",
    },
    "persist": {
        "_version",
        "base",
        "classic",
        "files",
        "kernel",
        "neighbors",
        "selection",
        "seraph",
    },
    "versions": {"_version"},
    "plot": set(),
    "datasets": set(),
    "neighbors": {"base", "pairs"},
    "classic": {"base", "pairs", "solvers"},
    "demo": {"datasets", "seraph"},
    "page": set(),
    "tabular": {"files"},
    "paper": {"_version", "base", "classic", "datasets", "files", "page", "seraph"},
    "cli": {
        "_version",
        "callback",
        "datasets",
        "demo",
        "files",
        "page",
        "pairs",
        "paper",
        "persist",
        "plot",
        "seraph",
        "tabular",
    },
    "__main__": {"_version", "cli", "demo"},
    "__init__": {
        "_version",
        "kernel",
        "neighbors",
        "path",
        "persist",
        "plot",
        "selection",
        "seraph",
        "versions",
    },
}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> set[str]:
    """Rooms of this package that a file imports, by reading it."""
    package = ["seraph", *path.relative_to(ROOT).parts[:-1]]
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [f"{module}.{alias.name}" for alias in node.names]
    parts = [name.split(".") for name in names]
    return {p[1] for p in parts if p[0] == "seraph" and len(p) > 1} - {room_of(path)}


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_room_imports_only_what_it_may(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in MAY_IMPORT what it may import"
    rooms = {r for r in imported_rooms(path) if r in MAY_IMPORT}
    assert rooms <= MAY_IMPORT[room]
