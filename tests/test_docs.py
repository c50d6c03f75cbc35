"""The documentation covers everything public, and its tools notice what is wrong."""

import ast
import importlib
import importlib.util
import json
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import typer

import seraph
from seraph import SERAPH
from seraph._apps.cli._app import app
from tests.helpers.public import PACKAGES, PUBLIC, ROOT, tool

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
# Blocks whose output, if they have one, is not on the page.
QUIET = r"sh|\{code-block\} (sh|python)|\{(include|image|toctree)\}.*"


def listed_names():
    """Return the full names that docs/api.rst has an entry for."""
    names, module = [], ""
    for line in (DOCS / "api.rst").read_text(encoding="utf-8").splitlines():
        if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = match[1]
        elif match := re.fullmatch(r"(?:   |\.\. data:: )([\w.]+)", line):
            names.append(f"{module}.{match[1]}")
    return names


def resolve(name):
    """Return the object behind a full public name."""
    package, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(package), attribute)


def test_the_api_page_lists_every_public_object():
    listed = listed_names()
    assert len(listed) == len(set(listed))
    # A name exported from two packages needs one entry.
    shown = {id(resolve(name)) for name in listed}
    missing = [name for name in PUBLIC if id(resolve(name)) not in shown]
    assert not missing, f"missing from docs/api.rst: {sorted(missing)}"


def test_the_api_page_lists_nothing_private():
    assert set(listed_names()) <= PUBLIC


@pytest.mark.parametrize("name", PACKAGES)
def test_what_looks_public_is_exported(name):
    package = importlib.import_module(name)
    reachable = {attribute for attribute in dir(package) if not attribute.startswith("_")}
    subpackages = {full.removeprefix(f"{name}.") for full in PACKAGES}
    assert reachable - subpackages == set(package.__all__) - {"__version__"}


def test_every_other_module_is_private():
    found = pkgutil.walk_packages(seraph.__path__, "seraph.", onerror=lambda name: None)
    assert {m.name for m in found if "._" not in m.name} == set(PACKAGES) - {"seraph"}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_an_object_names_a_public_package_as_its_module(name):
    value = resolve(name)
    if callable(value):
        assert f"{value.__module__}.{value.__qualname__}" in PUBLIC


def test_the_user_guide_covers_every_parameter_of_seraph():
    guide = (DOCS / "user_guide.md").read_text()
    for parameter in SERAPH().get_params():
        assert re.search(rf"^\|.*`{parameter}`", guide, re.MULTILINE), parameter


def test_the_learners_page_has_a_row_for_every_learner():
    page = (DOCS / "learners.md").read_text()
    for name in seraph.classic.__all__:
        assert f"| {{class}}`~seraph.classic.{name}` |" in page, name


def test_a_page_shows_every_command():
    pages = "\n".join(page.read_text() for page in PAGES)
    for name, command in typer.main.get_command(app).commands.items():
        assert command.hidden or f"seraph {name}" in pages, name


def test_the_papers_page_counts_the_bold_figures_of_its_table():
    log = (DOCS / "results" / "paper.md").read_text()
    table = log.split("## Table 2")[1].split("## The claims")[0]
    best = {}
    for name, cells in re.findall(r"^\| ([\w][^|]*) \|(.*)\|$", table, re.MULTILINE):
        best[name] = best.get(name, 0) + cells.count(" **")
    page = (DOCS / "paper.md").read_text().replace("`", "")
    counted = dict(re.findall(r"^\| ([^|]*) \| (\d+) of 12 \|$", page, re.MULTILINE))
    assert len(counted) == 8
    assert counted == {name: str(best[name]) for name in counted}


def fenced_blocks(page):
    """Return kind and text of each fenced block on a page."""
    found, kind, lines = [], None, []
    for line in page.read_text(encoding="utf-8").splitlines():
        if not line.lstrip().startswith("```"):
            lines.append(line)
        elif kind is None:
            kind, lines = line.strip().removeprefix("```"), []
        else:
            found.append((kind, "\n".join(lines)))
            kind = None
    assert kind is None
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_no_output_that_is_not_checked(page):
    # docs/conftest.py runs the pages, and pytest itself the README, which has no console.
    compared = {"python"} if page.name == "README.md" else {"python", "console"}
    for kind, text in fenced_blocks(page):
        if kind not in compared:
            assert re.fullmatch(QUIET, kind)
            assert not re.search(r"^ *(\$|>>>) ", text, re.MULTILINE), text


# Pages, each with what the run must complain of.
TRIED = {
    "right": (
        "```python\n>>> x = 1\n>>> x + 1\n2\n\n```\n\n```sh\ntrue\n```\n\n"
        "<!-- python\nz = x + 1\n-->\n\n<!-- python\nassert z == 2\n-->\n",
        None,
    ),
    "hidden_set_up": ("<!-- python\nx = 1\n-->\n\n```python\nx\n```\n", "NameError: name 'x'"),
    "changed_in_hiding": (
        "```python\nx = 1\n```\n\n<!-- python\nx = 2\n-->\n\n```python\nassert x == 1\n```\n",
        None,
    ),
    "wrong_check": ("text\n\n<!-- python\n1 / 0\n-->\n", "wrong_check.md:4: ZeroDivisionError"),
    "download": ("{download}`a <right.md>`\n\n```sh\ncat right.md\n```\n", None),
    "no_download": ("```sh\ncat right.md\n```\n", "exit status 1"),
    "wrong_output": ("```python\n>>> 1 + 1\n3\n\n```\n", "Expected:"),
    "error": ("text\n\n```python\n1 / 0\n```\n", "error.md:4: ZeroDivisionError"),
    "warning": ("```python\nimport warnings\nwarnings.warn('old')\n```\n", "UserWarning: old"),
    "failing_command": ("```sh\nfalse\ntrue\n```\n", "exit status 1"),
    "left_alone": ("```python\n1\n```\n\n```{code-block} sh\nfalse\n```\n", None),
    # A wrapped line, a failure that is shown, and a table whose rules are shorter.
    "right_console": (
        "```console\n$ printf '%s\\n' one \\\n    two\none two\n"
        "$ echo took 3.2 s; exit 2\ntook ... s\n"
        "$ echo '┌───┐'; echo '│ 1 │'\n┌─────┐\n│ 1   │\n```\n",
        None,
    ),
    "wrong_console": ("```console\n$ echo 12 %\n13 %\n```\n", "Expected:"),
    "more_on_console": ("```console\n$ echo 12; echo 13\n12\n```\n", "Expected:"),
    "failing_console": ("```console\n$ echo 1\n$ false\n```\n", "exit status 1"),
    "right_text": ("Of 15,\n12.\n\n<!-- python\nsays('15, 12')\n-->\n", None),
    "wrong_text": ("Of 15, 12.\n\n<!-- python\nsays('15, 13')\n-->\n", "not say '15, 13'"),
}


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """Run all of these pages at once; return what the run says about each."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copy(DOCS / "conftest.py", folder)
    for name, (page, _) in TRIED.items():
        (folder / f"{name}.md").write_text(page, encoding="utf-8")
    run = ["-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "--junitxml=found.xml"]
    pages = [f"{name}.md" for name in TRIED]
    subprocess.run(
        [sys.executable, *run, *pages],
        cwd=folder,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
        capture_output=True,
        check=False,
    )
    found = dict.fromkeys(TRIED, "")
    cases = list(ElementTree.parse(folder / "found.xml").iter("testcase"))
    for case in cases:
        name = case.get("classname").removesuffix(".md")
        found[name] += "".join(trouble.text for trouble in case)
    assert {case.get("classname") for case in cases} == set(pages)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", TRIED)
def test_pages_are_run_and_what_is_wrong_is_noticed(name, complaints):
    _, trouble = TRIED[name]
    if trouble is None:
        assert complaints[name] == ""
    else:
        assert trouble in complaints[name]


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
    assert check_links.broken_links(tmp_path, check_links.read_pages(tmp_path)) == [
        "a.html:1: q.png (no such file)",
        "sub/b.html:1: ../a.html#gone (no such anchor)",
    ]


def test_a_source_page_that_the_site_does_not_show_is_found(tmp_path, capsys):
    check_links = tool("check_links")
    headings = {
        "A guide": [[0, None]],
        "Step 1": [[0, "step-1"]],
        "How to search": [[1, None]],
        "An index": [[1, "an-index"]],
        "Gone": [[2, None]],
    }
    index = {"docnames": ["guide", "search", "gone"], "alltitles": headings}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    (tmp_path / "guide.html").write_text('<h1>A <em>guide</em></h1><h2 id="step-1">Step 1</h2>')
    (tmp_path / "search.html").write_text("<h1>Search</h1>")  # Sphinx's own
    assert check_links.main(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "gone.html (no such page)",
        "search.html (without 'How to search', which its source has)",
        "search.html (without 'An index', which its source has)",
        "2 pages, 3 lost pages or headings, 0 broken links",
    ]


def test_the_copy_button_leaves_out_prompts():
    settings = {
        node.targets[0].id: node.value
        for node in ast.parse((DOCS / "conf.py").read_text()).body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    assert "sphinx_copybutton" in ast.literal_eval(settings["extensions"])
    prompt = re.compile(ast.literal_eval(settings["copybutton_prompt_text"]))
    lines = [">>> x = 1", "... + 2", "$ seraph demo"]
    assert [prompt.sub("", line, count=1) for line in lines] == ["x = 1", "+ 2", "seraph demo"]
