"""The page, from its template: with links to its parts, or with all of them inside."""

from __future__ import annotations

import re
from importlib.resources import files

from jinja2 import Environment

from ..._utils._version import __version__
from ._session import Session

_FOLDER = files("seraph._apps.ask")
STATIC = _FOLDER / "static"
# After those that they import.
_MODULES = ("page", "cells", "transport", "things", "chart", "map", "pair", "screen", "ask")


def page_of(session: Session, *, whole: bool = False) -> str:
    """Return the page of a session; a `whole` one loads nothing else."""
    template = (_FOLDER / "templates" / "page.html").read_text(encoding="utf-8")
    page = Environment(autoescape=True).from_string(template)
    return page.render(
        setting=session.setting,
        n_missing=session.n_missing,
        answers=session.file.path.name,
        version=__version__,
        style=_read("ask.css") if whole else "",
        script="\n".join(map(_bundled, _MODULES)) if whole else "",
    )


def _read(name: str) -> str:
    return (STATIC / name).read_text(encoding="utf-8")


def _bundled(name: str) -> str:
    """Return a module as a function that is called at once and returns what it exports."""
    text = _read(f"{name}.js")
    text = re.sub(r'^import (\{.*\}) from "\./(\w+)\.js";$', r"const \1 = $\2;", text, flags=re.M)
    exports = re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", text, re.M)
    text = re.sub(r"^export ", "", text, flags=re.M)
    return f"const ${name} = (() => {{\n{text}\nreturn {{ {', '.join(exports)} }};\n}})();"
