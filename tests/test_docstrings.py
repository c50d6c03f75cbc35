"""Every public name has a numpydoc docstring that matches its signature and runs."""

import doctest
import importlib
import inspect
import re
from functools import cache

import matplotlib.pyplot as plt
import pytest

from tests.helpers.public import PACKAGES

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def public_callables():
    """Return the public classes and functions, each under its shortest public name."""
    names = {}
    for package in map(importlib.import_module, PACKAGES):
        for name in package.__all__:
            value = getattr(package, name)
            if callable(value):
                names.setdefault(value, f"{package.__name__}.{name}")
    return {name: value for value, name in names.items()}


def own_members(cls):
    """Yield the public methods and properties of a class that seraph itself defines."""
    for name, member in inspect.getmembers(cls):
        function = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isroutine(function):
            continue
        if (getattr(function, "__module__", None) or "").partition(".")[0] == "seraph":
            yield name, member


PUBLIC = public_callables()
# An inherited method is checked once.
MEMBERS = {
    value: f"{name}.{member}"
    for name, cls in PUBLIC.items()
    if inspect.isclass(cls)
    for member, value in own_members(cls)
}
DOCUMENTED = PUBLIC | {name: value for value, name in MEMBERS.items()}
WITH_SIGNATURE = [name for name, value in DOCUMENTED.items() if not isinstance(value, property)]


def sections(documentation):
    """Return the sections of a numpydoc docstring by title."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(documentation), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_parameters(documentation):
    """Return the names in the "Parameters" section of a numpydoc docstring."""
    body = sections(documentation).get("Parameters", "")
    heads = re.findall(r"^\**(\w.*?)(?: :.*)?$", body, flags=re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


def run_examples(documentation, name):
    """Run the examples in a docstring and return what went wrong."""
    said = []
    test = doctest.DocTestParser().get_doctest(documentation, {}, name, None, None)
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=said.append)
    return "".join(said)


@pytest.mark.parametrize("name", sorted(DOCUMENTED))
def test_a_docstring_starts_with_a_one_line_summary(name):
    documentation = DOCUMENTED[name].__doc__
    assert documentation, f"{name} has no docstring"
    summary, *rest = inspect.cleandoc(documentation).splitlines()
    assert summary.endswith(".")
    assert not rest or rest[0] == ""


@pytest.mark.parametrize("name", sorted(WITH_SIGNATURE))
def test_a_docstring_names_the_parameters_in_the_order_of_the_signature(name):
    expected = [name for name in inspect.signature(DOCUMENTED[name]).parameters if name != "self"]
    assert documented_parameters(DOCUMENTED[name].__doc__) == expected


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_class_or_function_has_an_example(name):
    assert ">>>" in sections(PUBLIC[name].__doc__).get("Examples", "")


@cache
def found_by_pytest(module):
    """Return the docstrings with examples of a file that ``--doctest-modules`` runs."""
    return {
        test.docstring for test in doctest.DocTestFinder().find(importlib.import_module(module))
    }


def left_over():
    """Yield the documented names whose examples ``--doctest-modules`` does not find."""
    for name, value in DOCUMENTED.items():
        function = value.fget if isinstance(value, property) else value
        homes = {*PACKAGES, function.__module__}
        documentation = value.__doc__ or ""
        if ">>>" in documentation and not any(documentation in found_by_pytest(m) for m in homes):
            yield name


def test_examples_that_pytest_does_not_find_run():
    names = set(left_over())
    assert "seraph.SERAPH.fit" in names  # a method of a class with a public name
    assert "seraph.SERAPH" not in names
    try:
        for name in names:
            assert run_examples(DOCUMENTED[name].__doc__, name) == ""
    finally:
        plt.close("all")


def test_no_seed_is_fixed_unless_the_caller_fixes_it():
    found = {
        name: parameters["random_state"].default
        for name in WITH_SIGNATURE
        if "random_state" in (parameters := inspect.signature(DOCUMENTED[name]).parameters)
    }
    assert len(found) > 20
    fixed = {name.rpartition(".")[2] for name, seed in found.items() if seed is not None}
    # The same data give the same model (the sample of pairs, the trees), and the same screens.
    assert fixed == {"AskWidget", "RFD", "SERAPH"}
