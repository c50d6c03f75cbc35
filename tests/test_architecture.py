"""Imports run one way: each room may import those below it, and no others."""

import ast
import runpy
from pathlib import Path

import pytest

import seraph

ROOT = Path(seraph.__file__).parent
# From the ground up: what stands on which floor, and what each room may import.
MAY_IMPORT = {
    "_typing": set(),  # every room may import it
    "_version": set(),
    "_public": set(),
    "_validation": set(),
    "_files": set(),
    "_page": set(),
    "_sweep": set(),
    "_solvers": set(),
    "_versions": {"_version"},
    "_pairs": {"_sweep"},
    "_base": {"_sweep"},
    "plot": {"_public"},
    "datasets": {"_public"},
    "_engine": {"_files", "_pairs", "_solvers", "_sweep", "_version"},
    "_estimators": {"_base", "_engine", "_pairs", "_solvers", "_sweep", "_validation"},
    "classic": {"_base", "_pairs", "_public", "_solvers", "_validation"},
    "persist": {"_base", "_estimators", "_files", "_public", "_version", "classic"},
    "_paper": {"_base", "_estimators", "_files", "_page", "_version", "classic", "datasets"},
    "_cli": {
        "_engine",
        "_estimators",
        "_files",
        "_page",
        "_pairs",
        "_paper",
        "_version",
        "datasets",
        "persist",
        "plot",
    },
    "__main__": {"_cli", "_paper", "_version"},
    "__init__": {
        "_base",
        "_engine",
        "_estimators",
        "_public",
        "_version",
        "_versions",
        "persist",
        "plot",
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
    assert rooms - {"_typing"} <= MAY_IMPORT[room]


def test_the_drawing_shows_every_room_and_imports_run_downward():
    tool = runpy.run_path(str(ROOT.parents[1] / "tools" / "draw_architecture.py"))
    floor = {room: n for n, (_, rooms) in enumerate(tool["FLOORS"]) for room in rooms}
    assert set(floor) == set(MAY_IMPORT) - {"__init__"}
    for room, others in MAY_IMPORT.items():
        assert all(floor[other] > floor.get(room, -1) for other in others), room
    assert tool["TARGET"].read_text() == tool["drawing"](), "run tools/draw_architecture.py"
