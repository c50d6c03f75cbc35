"""Write docs/interface.txt: every public name, parameter, default, command and option, one a line.

``tests/test_interface.py`` compares the file with the code. A line reads

    seraph.Marks(pairs)               a parameter without a default
    seraph.Marks(*, rows=None)        a parameter that must be named, with its default
    seraph.Marks.values_              a method, a property, or an attribute in the docstring
    seraph.persist.load = seraph.load a second name
    seraph fit --label=None           an option of the command line
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType

import typer

import seraph
from seraph._apps.cli._app import app

RECORD = Path(__file__).parents[1] / "docs" / "interface.txt"
RENEW = "python tools/interface.py"


def public_modules() -> list[str]:
    found = pkgutil.walk_packages(seraph.__path__, "seraph.")
    return ["seraph", *sorted(m.name for m in found if "._" not in m.name)]


def default_of(value: object) -> str:
    # The text of a function has an address, which changes from run to run.
    if isinstance(value, type | FunctionType):
        return value.__name__
    return repr(str(value) if isinstance(value, Path) else value)


def parameters(name: str, function: object) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "self":
            continue
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        text = stars.get(parameter.kind, "") + parameter.name
        if parameter.default is not parameter.empty:
            text += f"={default_of(parameter.default)}"
        if parameter.kind == parameter.POSITIONAL_ONLY:
            text += ", /"
        yield f"{name}({'*, ' * (parameter.kind == parameter.KEYWORD_ONLY)}{text})"


def attributes(cls: type) -> list[str]:
    """Return the names in the "Attributes" section of a numpydoc docstring."""
    text = inspect.cleandoc(cls.__doc__ or "")
    section = re.search(r"^Attributes\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}\n|\Z)", text, re.M | re.S)
    heads = re.findall(r"^(\w[\w, ]*?)(?: :.*)?$", section[1], re.M) if section else []
    return [name for head in heads for name in head.split(", ")]


def members(name: str, cls: type) -> Iterator[str]:
    """Yield what seraph itself adds to a class; scikit-learn's methods are its own affair."""
    known = set(attributes(cls))
    methods = {}
    for member, value in inspect.getmembers_static(cls):
        function = value.fget if isinstance(value, property) else value
        function = getattr(function, "__func__", function)  # of a class or static method
        home = getattr(function, "__module__", None) or ""
        if member.startswith("_") or not home.startswith("seraph"):
            continue
        if inspect.isfunction(value) or isinstance(value, classmethod | staticmethod):
            methods[member] = getattr(cls, member)
        else:
            known.add(member)
    for member in sorted({*known, *methods}):
        yield f"{name}.{member}"
        if member in methods:
            yield from parameters(f"{name}.{member}", methods[member])


def python_lines() -> Iterator[str]:
    first: dict[int, str] = {}
    for module in map(importlib.import_module, public_modules()):
        yield module.__name__
        for public in sorted(module.__all__):
            name, value = f"{module.__name__}.{public}", getattr(module, public)
            if callable(value) and id(value) in first:
                yield f"{name} = {first[id(value)]}"
                continue
            first[id(value)] = name
            yield name
            if inspect.isclass(value) and issubclass(value, BaseException):
                continue
            if callable(value):
                yield from parameters(name, value)
            if inspect.isclass(value):
                yield from members(name, value)


def command_lines() -> Iterator[str]:
    for name, command in sorted(typer.main.get_command(app).commands.items()):
        if command.hidden:
            continue
        yield f"seraph {name}"
        for option in command.params:
            names = "/".join([*option.opts, *option.secondary_opts])
            if option.param_type_name == "argument":
                dots = "..." if option.nargs == -1 else ""
                names = (option.metavar or option.name.upper()) + dots
            default = "" if option.required else f"={default_of(option.default)}"
            yield f"seraph {name} {names}{default}"


def interface() -> list[str]:
    """Return the lines of the record, as the code is now."""
    return [*python_lines(), *command_lines()]


def changes(before: list[str], now: list[str]) -> list[str]:
    """Return lines for CHANGELOG.md that say how the interface has changed."""
    known, found = set(before), set(now)
    new = [line for line in now if line not in known]
    said = []
    for line in (line for line in before if line not in found):
        again = next((other for other in new if _key(other) == _key(line)), None)
        if again is None:
            said.append(f"- Removed: `{line}`.")
        else:
            new.remove(again)
            said.append(f"- Changed: `{again}`, which was `{line}`.")
    said += [f"- New: `{line}`." for line in new]
    if not said and before != now:
        moved = next(line for line, old in zip(now, before, strict=False) if line != old)
        said.append(f"- Changed: the order of parameters, `{moved}` first.")
    return said


def _key(line: str) -> str:
    """Return what stays the same when a default or a kind of parameter changes."""
    return line.partition("=")[0].replace("*, ", "").replace(", /", "").rstrip(" )")


if __name__ == "__main__":
    RECORD.write_text("\n".join(interface()) + "\n", encoding="utf-8")
