"""The documentation names everything that is public, and its tools notice what is wrong."""

import importlib.util
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import seraph
import seraph.classic
import seraph.datasets
import seraph.plot
from seraph import SERAPH

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
MODULES = (seraph, seraph.classic, seraph.datasets, seraph.plot)
PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in MODULES
    for name in module.__all__
}
CALLED = {value: name for name, value in PUBLIC.items() if callable(value)}


def tool(name):
    """A script of tools/, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def listed_names():
    """Full names of what docs/api.rst has an entry for."""
    names, module = set(), ""
    for line in (DOCS / "api.rst").read_text().splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"(?:   |\.\. data:: )([\w.]+)", line):
            names.add(f"{module}.{match[1]}")
    return names


def documented_parameters(documentation):
    """Names in the section "Parameters" of a docstring in numpydoc's form."""
    sections = re.split(
        r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(documentation), flags=re.MULTILINE
    )
    body = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Parameters", "")
    heads = re.findall(r"^\**(\w.*?)(?: :.*)?$", body, flags=re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


def own_methods(cls):
    """Public methods that are ours, not scikit-learn's."""
    for name, member in inspect.getmembers(cls, inspect.isroutine):
        if not name.startswith("_") and member.__module__.partition(".")[0] == "seraph":
            yield member


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_the_reference_lists_every_public_name(name):
    listed = listed_names()
    same = name.replace("seraph.plot.", "seraph.")  # the displays are listed where they are used
    assert name in listed or same in listed, f"{name} is missing from docs/api.rst"


def test_the_reference_lists_nothing_that_is_gone():
    for name in listed_names():
        module, *rest = name.removeprefix("seraph.").split(".")
        value = getattr(seraph, module)
        for part in rest:
            value = getattr(value, part)


@pytest.mark.parametrize("public", CALLED, ids=CALLED.values())
def test_docstrings_name_the_parameters_of_the_signature_and_no_others(public):
    functions = [public, *own_methods(public)] if inspect.isclass(public) else [public]
    for function in functions:
        assert function.__doc__, f"{function.__qualname__} has no docstring"
        found = documented_parameters(function.__doc__)
        expected = [name for name in inspect.signature(function).parameters if name != "self"]
        assert sorted(found) == sorted(expected), function.__qualname__


def test_parameters_are_read_from_a_docstring():
    """Names of this one.

    Parameters
    ----------
    a, b : int
        Both, with text
        of two lines.
    c
        As elsewhere.

    Returns
    -------
    int
    """
    text = test_parameters_are_read_from_a_docstring.__doc__
    assert documented_parameters(text) == ["a", "b", "c"]
    assert documented_parameters("Nothing.") == []


def test_the_user_guide_tells_of_every_parameter_of_seraph():
    guide = (DOCS / "user_guide.md").read_text()
    for parameter in SERAPH().get_params():
        assert re.search(rf"^\|.*`{parameter}`", guide, re.MULTILINE), parameter


def test_the_learners_page_counts_the_bold_figures_of_the_papers_table():
    table = (DOCS / "paper.md").read_text().split("## Table 2")[1].split("## The claims")[0]
    best = {}
    for name, cells in re.findall(r"^\| ([\w][^|]*) \|(.*)\|$", table, re.MULTILINE):
        best[name] = best.get(name, 0) + cells.count(" **")
    page = (DOCS / "learners.md").read_text().replace("`", "")
    counted = dict(re.findall(r"^\| ([^|]*) \| (\d+) of 12 \|$", page, re.MULTILINE))
    assert len(counted) == 8
    assert counted == {name: str(best[name]) for name in counted}


def test_the_user_guide_quotes_the_benchmark():
    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    _, usps, digits = re.split(r"^USPS$|^scikit-learn's digits$", results, flags=re.MULTILINE)
    figure = r"([\d.]+ ± [\d.]+)"
    row = rf"^ +(\d+) +(\d+) +(\d+) +\d+ +{figure} +{figure} +{figure}"
    expected = [
        [*sizes, euclidean, auto, *others]
        for (*sizes, euclidean, _, auto), others in zip(
            re.findall(row, usps, re.MULTILINE),
            [(e, a) for *_, e, _, a in re.findall(row, digits, re.MULTILINE)],
            strict=True,
        )
    ]
    guide = (DOCS / "user_guide.md").read_text().replace("*", "")
    quoted = [
        line.strip("| ").split(" | ") for line in guide.splitlines() if line.count(" ± ") == 4
    ]
    assert quoted == expected


@pytest.mark.parametrize(
    ("page", "trouble"),
    [
        ("<!-- python\nx = 1\n-->\n\n```python\n>>> x + 1\n2\n\n```\n\n```sh\ntrue\n```\n", None),
        ("```python\n>>> 1 + 1\n3\n\n```\n", "Expected:"),
        ("text\n\n```python\n1 / 0\n```\n", "page.md:4: ZeroDivisionError"),
        ("```python\nimport warnings\nwarnings.warn('old')\n```\n", "UserWarning: old"),
        ("```sh\nfalse\ntrue\n```\n", "exit status 1"),
        ("```python\n1\n```\n\n```{code-block} sh\nfalse\n```\n", None),
    ],
    ids=["right", "wrong output", "error", "warning", "failing command", "left alone"],
)
def test_pages_are_run_and_what_is_wrong_is_noticed(page, trouble, tmp_path):
    shutil.copy(DOCS / "conftest.py", tmp_path)
    (tmp_path / "page.md").write_text(page)
    run = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error",
        "-p",
        "no:cacheprovider",
        "page.md",
    ]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == (trouble is not None), done.stdout
    assert (trouble or "passed") in done.stdout


def test_broken_links_and_anchors_are_found(tmp_path):
    check_links = tool("check_links")
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.html").write_text(
        '<h1 id="top">A</h1><a href="sub/b.html#here">b</a><a href="#top">up</a>'
        '<a href="https://example.org/nowhere">far</a>'
        '<img src="p.png" srcset="p.png 1x, q.png 2x">'
    )
    (tmp_path / "sub" / "b.html").write_text('<p id="here"><a href="../a.html#gone">a</a></p>')
    (tmp_path / "p.png").write_bytes(b"")
    assert check_links.broken_links(tmp_path) == [
        "a.html:1: q.png (no such file)",
        "sub/b.html:1: ../a.html#gone (no such anchor)",
    ]
