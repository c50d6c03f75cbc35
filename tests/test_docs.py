"""The documentation covers everything public, and its tools notice what is wrong."""

import ast
import importlib
import inspect
import pkgutil
import re
from inspect import signature

import pytest

import seraph
from tests.helpers.public import PACKAGES, PUBLIC, ROOT
from tests.test_docstrings import DOCUMENTED

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
# Blocks whose output, if they have one, is not on the page.
QUIET = r"sh|\{code-block\} (sh|python)|\{(include|literalinclude|image|toctree)\}.*"


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


def test_the_api_page_lists_every_public_object_and_nothing_else():
    listed = listed_names()
    assert len(listed) == len(set(listed))
    assert set(listed) <= PUBLIC
    # A name exported from two packages needs one entry.
    shown = {id(resolve(name)) for name in listed}
    missing = [name for name in PUBLIC if id(resolve(name)) not in shown]
    assert not missing, f"missing from docs/api.rst: {sorted(missing)}"


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


# Calls in the text


def called(function):
    """Return the public object that a call names, and whether it is a method of an instance."""
    text = ast.unparse(function)
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Call):
        owner, _ = called(function.value.func)
        return getattr(owner, function.attr) if inspect.isclass(owner) else None, True
    names = [name for name in sorted(PUBLIC) if name == text or name.endswith(f".{text}")]
    return resolve(min(names, key=len)) if names else None, False


def misfits(text, quote):
    """Yield the calls between quotes that do not fit the signature of what they call."""
    for code in re.findall(rf"(?<!`){quote}([^`]+){quote}(?!`)", text):
        try:
            tree = ast.parse(" ".join(code.split()), mode="eval")
        except SyntaxError:
            continue
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            target, is_method = called(call.func)
            if not callable(target):
                continue
            arguments = [None] * (len(call.args) + is_method)
            try:
                signature(target).bind_partial(*arguments, **{k.arg: 0 for k in call.keywords})
            except TypeError as error:
                yield f"{code}: {error}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_calls_in_the_text_of_a_page_can_be_made(page):
    text = re.sub(r"```.*?```|<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert list(misfits(text, "`")) == []


def test_calls_in_the_text_of_docstrings_can_be_made():
    wrong = {name: list(misfits(value.__doc__, "``")) for name, value in DOCUMENTED.items()}
    assert {name: calls for name, calls in wrong.items() if calls} == {}


# Examples


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


def test_the_site_stays_small():
    pages = [path for path in PAGES if path.parent == DOCS]
    assert len(pages) <= 16  # with the landing page
    # Everything counts, as `cat docs/*.md | wc -w` does: code, tables and comments.
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 16_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_shows_no_output_that_is_not_checked(page):
    # docs/conftest.py runs the pages, and pytest itself the README, which has no console.
    compared = {"python"} if page.name == "README.md" else {"python", "console"}
    for kind, text in fenced_blocks(page):
        if kind not in compared:
            assert re.fullmatch(QUIET, kind)
            assert not re.search(r"^ *(\$|>>>) ", text, re.MULTILINE), text
