"""Imports run one way: each room may import those below it, and no others."""

import ast
import runpy
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest

import seraph

ROOT = Path(seraph.__file__).parent
# From the ground up: what each room may import.
MAY_IMPORT = {
    "_utils": set(),
    "_pairs": {"_utils"},
    "_solvers": {"_pairs", "_utils"},
    "_points": {"_pairs", "_utils"},
    "tables": {"_utils"},
    "_marks": {"_points", "_utils", "tables"},
    "metrics": {"_marks", "_pairs", "_points", "_utils"},
    "_clustering": {"_marks", "_utils", "metrics"},
    "plot": {"_marks", "_utils"},
    "_learner": {"_marks", "_points", "_utils", "metrics"},
    "_forest": {"_points", "_utils"},
    "_objective": {"_marks", "_pairs", "_points", "_utils"},
    "_fit": {"_marks", "_objective", "_points", "_solvers", "_utils"},
    "_advice": {"_marks", "_points", "_solvers", "_utils"},
    "_seraph": {
        "_advice",
        "_fit",
        "_learner",
        "_marks",
        "_objective",
        "_pairs",
        "_points",
        "_solvers",
        "_utils",
    },
    "classic": {
        "_forest",
        "_learner",
        "_marks",
        "_pairs",
        "_points",
        "_solvers",
        "_utils",
        "metrics",
    },
    "_mean": {"_learner", "_marks", "_objective", "_points", "_seraph", "_utils", "classic"},
    "_decide": {"_forest", "_learner", "_marks", "_mean", "_points", "_utils", "metrics"},
    "compat": {"_marks", "_utils", "classic"},
    "persist": {
        "_decide",
        "_forest",
        "_learner",
        "_mean",
        "_seraph",
        "_utils",
        "classic",
        "tables",
    },
    # Applications: nothing below imports them, and they import what users do (see below).
    "records": {"_utils", "tables"},
    "_apps": {"_marks", "_utils", "classic", "persist", "plot", "records", "tables"},
    "__main__": {"_apps"},
}
APPLICATIONS = {"_apps", "records"}
# Beside public names, an application may import these, because it is in the same wheel.
MADE_FOR_APPLICATIONS = (
    "seraph._marks",
    "seraph._utils",
    "seraph.tables",
    "seraph.persist._archive",
    "seraph.persist._heads",
    "seraph.persist._write",
)
# The shop window: it names what users import, and loads it when it is first used.
MAY_IMPORT["__init__"] = set(MAY_IMPORT) - {"__main__"}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def imported_names(path: Path) -> list[list[str]]:
    """Full dotted names that a file imports from this package, at any level of the file."""
    package = ["seraph", *path.relative_to(ROOT).parts[:-1]]
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names += [alias.name.split(".") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            names += [[*module, alias.name] for alias in node.names]
    return [name for name in names if name[0] == "seraph"]


def imported_rooms(path: Path) -> set[str]:
    return {name[1] for name in imported_names(path) if len(name) > 1} - {room_of(path)}


def file_of(name: list[str]) -> Path:
    """The file that defines a dotted name: a module, a package, or the module of an object."""
    if len(name) == 2 and name[1] in seraph._HOME_OF:
        return file_of(["seraph", *seraph._HOME_OF[name[1]].split(".")])
    place = ROOT.joinpath(*name[1:])
    if place.with_suffix(".py").is_file():
        return place.with_suffix(".py")
    if place.is_dir():
        return place / "__init__.py"
    return file_of(name[:-1])


def circles(graph: dict[str, set[str]]) -> Iterator[list[str]]:
    """One shortest way from each node back to itself, where there is one."""
    for start in sorted(graph):
        ways = [[start]]
        seen = set()
        while ways:
            way = ways.pop(0)
            for target in sorted(graph[way[-1]] - seen):
                seen.add(target)
                if target == start:
                    yield [*way, target]
                ways.append([*way, target])


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_room_imports_only_what_it_may(path):
    room = room_of(path)
    assert room in MAY_IMPORT, f"{room} is a new room: say in MAY_IMPORT what it may import"
    rooms = {r for r in imported_rooms(path) if r in MAY_IMPORT}
    assert rooms <= MAY_IMPORT[room]


def test_every_arrow_is_used():
    """What a room may import is what it does import."""
    used = {room: set() for room in MAY_IMPORT}
    for path in ROOT.rglob("*.py"):
        used[room_of(path)] |= {r for r in imported_rooms(path) if r in MAY_IMPORT}
    del used["__init__"]
    assert used == {room: MAY_IMPORT[room] for room in used}


def test_nothing_below_imports_an_application():
    for room in set(MAY_IMPORT) - APPLICATIONS - {"__main__", "__init__"}:
        assert not MAY_IMPORT[room] & APPLICATIONS, room


def is_public(name: list[str]) -> bool:
    """Whether users may import a dotted name: a public package, or what one lists as public."""
    *package, last = name
    module = import_module(".".join(package))
    return (
        not any(part.startswith("_") and part != "__version__" for part in name)
        and (last in module.__all__ or file_of(name).name == "__init__.py")
    )  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [path for room in sorted(APPLICATIONS) for path in sorted((ROOT / room).rglob("*.py"))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_an_application_imports_public_names_its_own_room_and_what_is_made_for_it(path):
    """So it is an example of what users can build on the library."""
    foreign = [name for name in imported_names(path) if name[1] != room_of(path)]
    private = [".".join(name) for name in foreign if not is_public(name)]
    made = tuple(f"{module}." for module in MADE_FOR_APPLICATIONS)
    assert not [name for name in private if not f"{name}.".startswith(made)]


def test_no_file_imports_itself_by_way_of_others():
    graph = {
        str(path.relative_to(ROOT)): {
            str(file_of(name).relative_to(ROOT)) for name in imported_names(path)
        }
        for path in ROOT.rglob("*.py")
    }
    found = [" -> ".join(way) for way in circles(graph)]
    assert not found, "\n".join(found)


def test_no_file_has_more_than_450_lines_and_no_function_more_than_60():
    """Without signatures and docstrings."""
    long = []
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 450:
            long.append(f"{path}: {text.count(chr(10))}")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                n_lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if n_lines > 60:
                    long.append(f"{path}, {node.name}: {n_lines}")
    assert not long, "\n".join(long)


def test_no_learner_of_the_model_has_more_than_15_parameters():
    assert len(signature(seraph.SERAPH).parameters) <= 15


def test_the_drawing_shows_every_room_and_imports_run_downward():
    tool = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "draw_architecture.py"))
    floor = {room: n for n, (_, rooms) in enumerate(tool["FLOORS"]) for room in rooms}
    assert set(floor) == set(MAY_IMPORT) - {"__init__"}
    for room, others in MAY_IMPORT.items():
        assert all(floor[other] > floor.get(room, -1) for other in others), room
    assert tool["TARGET"].read_text() == tool["drawing"](), "run tools/draw_architecture.py"
