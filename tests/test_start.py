"""Start-up: nothing heavy is loaded before it is used, and every name is still there."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import seraph
from tests.helpers.quick import few

pytest.importorskip("typer")

HEAVY = {
    "dask", "joblib", "matplotlib", "numba", "numpy", "pandas", "pyarrow", "scipy", "skl2onnx",
    "sklearn", "skops", "threadpoolctl", "torch",
}  # fmt: skip


def modules_after(code):
    """The modules that code loads in a new process, beyond those of Python's own start."""
    lines = ["import sys", "before = set(sys.modules)", code, "print(*set(sys.modules) - before)"]
    run = [sys.executable, "-c", "\n".join(lines)]
    done = subprocess.run(run, capture_output=True, text=True, check=True, timeout=300)
    return set(done.stdout.splitlines()[-1].split())


def modules_of_command(words, code=0):
    """The packages that a command loads, which ends with a code; and how many modules."""
    loaded = modules_after(
        f"sys.argv = ['seraph', *{words!r}]\n"
        "from seraph.__main__ import main\n"
        f"try:\n    main()\nexcept SystemExit as end:\n    assert (end.code or 0) == {code}"
    )
    return {name.partition(".")[0] for name in loaded}, len(loaded)


def test_importing_the_package_loads_three_modules_beside_the_standard_library():
    loaded = modules_after("import seraph")
    assert {name for name in loaded if name.startswith("seraph")} == {
        "seraph",
        "seraph._utils",
        "seraph._utils._version",
    }
    others = {name.partition(".")[0] for name in loaded} - {"seraph"}
    assert others <= set(sys.stdlib_module_names)  # which ones depends on the version of Python


@pytest.mark.parametrize(
    "words", few([["--help"], ["fit", "--help"], ["--version"]], ["fit", "--help"].__eq__)
)
def test_the_help_loads_nothing_heavy(words):
    packages, n_modules = modules_of_command(words)
    assert not packages & HEAVY
    assert n_modules < 900


@pytest.mark.parametrize(
    ("words", "heavy"),
    few(
        [
            (["fit", "missing.csv", "--label", "kind"], HEAVY),
            (["fit", "t.csv", "--label", "nope"], HEAVY - {"numpy", "pandas", "pyarrow"}),
            (["compare", "t.csv", "--label", "nope"], HEAVY - {"numpy", "pandas", "pyarrow"}),
        ],
        lambda case: case[0][:2] == ["fit", "t.csv"],
    ),
)
def test_what_is_not_there_is_noticed_before_anything_heavy_is_loaded(
    tmp_path, monkeypatch, words, heavy
):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,kind\n1,2,u\n3,4,v\n")
    assert not modules_of_command(words, code=2)[0] & heavy


def test_a_fit_loads_nothing_that_it_does_not_use(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k % 5},{k % 3},{'uv'[k % 2]}" for k in range(40)]
    Path("t.csv").write_text("\n".join(["a,b,kind", *rows]))
    unused = {"dask", "matplotlib", "numba", "onnxruntime", "skl2onnx", "torch", "xlsxwriter"}
    command = ["fit", "t.csv", "--label", "kind", "-q", "-o", "m.skops"]
    assert not modules_of_command(command)[0] & unused
    assert Path("m.skops").exists()


def test_type_checkers_see_the_names_that_are_loaded_later():
    tree = ast.parse(Path(seraph.__file__).read_text())
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    seen = {
        node.module: {alias.name for alias in node.names}
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    }
    assert seen.pop(None) == set(seraph._PACKAGES)
    assert seen == {home: set(names) for home, names in seraph._HOMES.items()}
    named = {name for names in seraph._HOMES.values() for name in names}
    assert named | {"__version__"} == set(seraph.__all__)


def test_every_name_can_be_imported_and_listed():
    assert set(seraph.__all__) <= set(dir(seraph))
    for name in (*seraph.__all__, *seraph._PACKAGES):
        assert getattr(seraph, name) is not None
    with pytest.raises(AttributeError, match="module 'seraph' has no attribute 'SERAF'"):
        seraph.SERAF  # noqa: B018
    with pytest.raises(ImportError, match="SERAF"):
        from seraph import SERAF  # noqa: F401
