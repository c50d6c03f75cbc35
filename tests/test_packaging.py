"""What is shipped: the wheel, the source archive, and the command in a bare installation."""

import ast
import importlib
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import requires
from pathlib import Path

import pytest

import seraph
from seraph import __main__ as command

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    pytest.importorskip("hatch_fancy_pypi_readme")
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(dist):
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Run the command as if no extra were installed."""
    for package in ("typer", "rich", "matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "seraph._apps.cli", raising=False)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["seraph", *arguments])
        command.main()

    return run


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    package = ROOT / "src" / "seraph"
    files = {
        f"seraph/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    held = {n for n in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in n}
    assert held == files
    assert "seraph/py.typed" in held
    assert not [name for name in held if name.endswith((".npz", ".csv"))]  # and no data
    assert wheel.stat().st_size < 1_000_000


@pytest.mark.slow
def test_the_source_archive_holds_its_tests_and_what_they_read(dist):
    (archive,) = dist.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        held = {name.partition("/")[2] for name in source.getnames()}
        size = sum(member.size for member in source.getmembers())
    patterns = (
        "tests/**/*",
        "tools/*",
        "benchmarks/**/*",
        "docs/*.md",
        "docs/results/*.md",
        "*.md",
    )
    needed = {
        path.relative_to(ROOT).as_posix()
        for pattern in patterns
        for path in ROOT.glob(pattern)
        if path.is_file() and "__pycache__" not in path.parts
    } - {f"benchmarks/paper/data/{name}.npz" for name in ("diabetes", "usps")}  # fetched
    assert len(needed) > 200
    assert needed <= held
    assert {".pre-commit-config.yaml", ".github/workflows/tests.yml", "docs/interface.txt"} <= held
    assert size < 20e6


@pytest.mark.parametrize("arguments", [["fit", "table.csv"], ["demo", "ask"], []])
def test_a_bare_installation_names_the_extra_in_one_line(arguments, bare):
    with pytest.raises(SystemExit, match=r"seraph: .*pip install 'seraph-learn\[cli\]'") as ended:
        bare(*arguments)
    assert "\n" not in ended.value.code
    with pytest.raises(ImportError, match=r"seraph-learn\[cli\]"):
        importlib.import_module("seraph._apps.cli")


def test_the_module_is_the_command():
    pytest.importorskip("typer")
    run = [sys.executable, "-m", "seraph"]
    version = subprocess.run([*run, "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.strip() == seraph.__version__
    help_text = subprocess.run([*run, "--help"], capture_output=True, text=True, check=True)
    assert "compare" in help_text.stdout


def test_versions_are_shown_of_all_that_a_user_may_install(capsys):
    seraph.show_versions()
    shown = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip()}
    for requirement in requires("seraph-learn"):
        name = re.match(r"[\w-]+", requirement)[0]
        assert name in shown or name == "seraph-learn"


def test_every_package_that_is_imported_is_declared():
    declared = {re.match(r"[\w-]+", requirement)[0] for requirement in requires("seraph-learn")}
    declared |= {
        "sklearn",
        "distributed",
        "triton",
        "llvmlite",
        "PIL",
        "python_calamine",
    }  # other names, or brought along
    imported = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.partition(".")[0])
    assert imported - set(sys.stdlib_module_names) - {"seraph"} <= declared


@pytest.mark.slow
def test_the_wheel_alone_in_an_empty_environment_runs_the_demo(wheel, tmp_path):
    environment = tmp_path / "empty"
    venv.create(environment, with_pip=True)
    programs = environment / ("Scripts" if sys.platform == "win32" else "bin")

    def run(*words):
        done = subprocess.run(
            [str(programs / words[0]), *words[1:]],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    run("python", "-m", "pip", "install", "--quiet", str(wheel))
    assert "typer" not in run("python", "-m", "pip", "list")
    said = run("seraph", "demo")
    assert re.search(r"MeanMetric +0\.9", said)
    assert "pip install 'seraph-learn[plot]'" in said
    assert "numpy" in run("python", "-c", "import seraph; seraph.show_versions()")
