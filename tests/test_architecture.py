"""Imports run one way: each room may import those below it, and no others."""

import ast
import re
import runpy
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import seraph
from seraph._solvers import SOLVERS

ROOT = Path(seraph.__file__).parent
# From the ground up: what each room may import.
MAY_IMPORT = {
    "_utils": set(),
    "_pairs": {"_utils"},
    "_points": {"_pairs", "_utils"},
    "_solvers": {"_pairs", "_utils"},
    "_marks": {"_points", "_utils"},
    "_objective": {"_marks", "_pairs", "_points", "_utils"},
    "_columns": {"_utils"},
    "metrics": {"_marks", "_points", "_utils"},
    "_clustering": {"_marks", "_utils", "metrics"},
    "datasets": {"_utils"},
    "plot": {"_marks", "_utils"},
    "_learner": {"_marks", "_points", "_utils", "metrics"},
    "_advice": {"_marks", "_points", "_solvers", "_utils"},
    "_fit": {"_marks", "_objective", "_points", "_solvers", "_utils"},
    "_seraph": {"_advice", "_fit", "_learner", "_marks", "_objective", "_pairs", "_points",
                "_solvers", "_utils"},
    "_kernel": {"_learner", "_marks", "_points", "_seraph", "_utils"},
    "_path": {"_marks", "_objective", "_points", "_seraph", "_utils"},
    "classic": {"_learner", "_marks", "_points", "_solvers", "_utils"},
    "_mean": {"_learner", "_marks", "_objective", "_points", "_seraph", "_utils", "classic"},
    "_decide": {"_learner", "_marks", "_mean", "_points", "_utils", "metrics"},
    "compat": {"_marks", "_utils", "classic"},
    "persist": {"_columns", "_decide", "_kernel", "_learner", "_mean", "_seraph", "_utils",
                "classic"},
    # Applications: nothing below imports them, and they import public names alone (see below).
    "records": {"_utils"},
    "_apps": {"_utils", "classic", "datasets", "persist", "plot", "records"},
    "__main__": {"_apps", "_utils"},
}  # fmt: skip
# The files of the estimators, which count as one room.
ESTIMATORS = {"_advice", "_fit", "_kernel", "_learner", "_mean", "_path", "_seraph"}
APPLICATIONS = {"_apps", "records"}
# The shop window: it names what users import, and loads it when it is first used.
MAY_IMPORT["__init__"] = set(MAY_IMPORT) - {"_apps", "__main__"}


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


def test_there_are_at_most_18_rooms_and_54_arrows():
    """The files of the estimators count as one room."""
    files = set(MAY_IMPORT) - {"__init__", "__main__"}
    assert files == {
        path.name.removesuffix(".py")
        for path in ROOT.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"__init__", "__main__"}
    room = {name: "estimators" if name in ESTIMATORS else name for name in files}
    arrows = {(room[name], room[other]) for name in files for other in MAY_IMPORT[name]}
    assert len(set(room.values())) <= 18, sorted(set(room.values()))
    assert len({(one, other) for one, other in arrows if one != other}) <= 54


def test_nothing_below_imports_an_application():
    for room in set(MAY_IMPORT) - APPLICATIONS - {"__main__", "__init__"}:
        assert not MAY_IMPORT[room] & APPLICATIONS, room


def is_public(name: list[str]) -> bool:
    """Whether users may import a dotted name: a public package, or what one lists as public."""
    *package, last = name
    module = import_module(".".join(package))
    return (
        not any(part.startswith("_") for part in name)
        and (last in module.__all__ or file_of(name).name == "__init__.py")
    )  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [path for room in sorted(APPLICATIONS) for path in sorted((ROOT / room).rglob("*.py"))],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_an_application_imports_public_names_its_own_room_and_utils(path):
    """So it is an example of what users can build on the library."""
    foreign = [name for name in imported_names(path) if name[1] not in (room_of(path), "_utils")]
    private = [".".join(name) for name in foreign if not is_public(name)]
    assert not private, private


def test_private_imports_of_an_application_would_be_found():
    for name in ("seraph._marks.PairLabels", "seraph.records._model.PairModel", "seraph._fit"):
        assert not is_public(name.split(".")), name
    for name in ("seraph.SERAPH", "seraph.classic", "seraph.classic.GMML", "seraph.persist.load"):
        assert is_public(name.split(".")), name


def test_no_file_imports_itself_by_way_of_others():
    graph = {
        str(path.relative_to(ROOT)): {
            str(file_of(name).relative_to(ROOT)) for name in imported_names(path)
        }
        for path in ROOT.rglob("*.py")
    }
    found = [" -> ".join(way) for way in circles(graph)]
    assert not found, "\n".join(found)


def test_no_file_has_more_than_500_lines_and_no_function_more_than_60():
    """Without signatures and docstrings."""
    long = []
    for path in ROOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 500:
            long.append(f"{path}: {text.count(chr(10))}")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                n_lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                if n_lines > 60:
                    long.append(f"{path}, {node.name}: {n_lines}")
    assert not long, "\n".join(long)


def compared_values(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each string and attribute that a comparison or a case compares."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Compare | ast.MatchValue):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield node.lineno, part.value
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.Attribute):
                    yield node.lineno, f".{part.attr}"


def test_no_code_outside_the_table_compares_the_name_of_a_solver():
    names = set(SOLVERS) - {"auto"} | {".solver"}  # other parameters have "auto", too
    found = [
        f"{path.relative_to(ROOT)}:{line} {value}"
        for path in ROOT.rglob("*.py")
        for line, value in compared_values(path)
        if value in names
    ]
    assert not found, "\n".join(found)


def test_a_comparison_with_the_name_of_a_solver_would_be_found(tmp_path):
    for text in ('settings.solver == "x"', 'name in ("spg", "em")', 'a if "spg" != b else c'):
        (tmp_path / "one.py").write_text(text)
        found = {value for _, value in compared_values(tmp_path / "one.py")}
        assert found & {".solver", "spg"}, text


def test_nobody_looks_at_the_frames_of_callers_but_to_place_a_warning():
    looks = ("currentframe", "_getframe", "f_locals", "f_back", "inspect.stack")
    found = {
        str(path.relative_to(ROOT)): [word for word in looks if word in path.read_text()]
        for path in ROOT.rglob("*.py")
        if path.name != "_warnings.py"
    }
    assert not {name: words for name, words in found.items() if words}


def test_no_file_of_tests_is_imported():
    """What several of them need is in `tests/helpers`."""
    paths = list(Path(__file__).parent.rglob("*.py"))
    imported = re.compile(r"^ *from (tests[.\w]*\.test_.*|tests[.\w]* import .*\btest_.*)", re.M)
    assert imported.search("from tests.cli import a, test_b")
    assert len(paths) > 200
    found = {path.name: imported.findall(path.read_text()) for path in paths}
    assert not {name: lines for name, lines in found.items() if lines}


# How large the interface is


def test_the_package_has_at_most_19_names():
    assert len(seraph.__all__) <= 19


def test_no_learner_of_the_model_has_more_than_15_parameters_and_none_repeats_them():
    of_seraph = set(signature(seraph.SERAPH).parameters)
    assert len(of_seraph) <= 15
    own = {"gamma", "random_state"}  # of the kernel
    for name in ("KernelSERAPH", "seraph_path"):
        parameters = set(signature(getattr(seraph, name)).parameters)
        assert "learner" in parameters
        assert parameters & of_seraph <= own


def test_a_learner_has_at_most_15_public_methods():
    for name in ("SERAPH", "KernelSERAPH", "MeanMetric", "PairClassifier"):
        Learner = getattr(seraph, name)
        names = [
            name
            for name in dir(Learner())
            if not name.startswith("_") and callable(getattr(Learner(), name, None))
        ]
        assert len(names) <= 15, names


# How far the data travels

N_ROWS = 37  # no other array of a fit has as many rows


def holds_points(value: object) -> bool:
    """Whether `value` is a table of all points, or has one as an attribute."""
    return any(
        isinstance(part, np.ndarray) and part.ndim == 2 and len(part) == N_ROWS
        for part in (value, *getattr(value, "__dict__", {}).values())
    )


def test_a_row_passes_through_at_most_7_files_on_its_way_to_the_first_pair_term():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_ROWS, 3)), np.r_[np.arange(10) % 3, np.full(27, -1)]
    learner = seraph.SERAPH()
    last = "_pairs/_formulas.py"
    files = []

    def watch(frame, event, _):
        file, code = Path(frame.f_code.co_filename), frame.f_code
        if event != "call" or last in files or not file.is_relative_to(ROOT):
            return
        name = file.relative_to(ROOT).as_posix()
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        arguments = [frame.f_locals.get(argument) for argument in names]
        if name == last:  # has other functions of points, too
            sees_points = code.co_name in ("negative_entropy", "cross_entropy")
        else:
            sees_points = any(map(holds_points, arguments))
        if name not in files and sees_points:
            files.append(name)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        learner.fit(X, y)
    finally:
        sys.setprofile(before)
    assert files[0] == "_seraph.py"
    assert files.pop() == last
    assert len(files) <= 7, ", ".join(files)


def test_the_drawing_shows_every_room_and_imports_run_downward():
    tool = runpy.run_path(str(Path(__file__).parents[1] / "tools" / "draw_architecture.py"))
    floor = {room: n for n, (_, rooms) in enumerate(tool["FLOORS"]) for room in rooms}
    assert set(floor) == set(MAY_IMPORT) - {"__init__"}
    for room, others in MAY_IMPORT.items():
        assert all(floor[other] > floor.get(room, -1) for other in others), room
    assert tool["TARGET"].read_text() == tool["drawing"](), "run tools/draw_architecture.py"
