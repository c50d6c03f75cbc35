"""Self-contained HTML pages, from jinja2 templates."""

from __future__ import annotations

import base64
import io
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

# "page.html", with the style; "macros.html", for tables and pictures.
_TEMPLATES = Path(__file__).parent / "templates"


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise ImportError("Report pages need jinja2: pip install 'seraph-learn[cli]'.") from error
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    environment.filters["png"] = png
    return environment


def png(figure: Figure) -> str:
    """Return a matplotlib figure as a PNG file in base 64."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    return base64.b64encode(out.getvalue()).decode()


def render(template: str, **values: Any) -> str:
    """Render a jinja2 template, with every value escaped.

    It may extend "page.html", which has a block `body` and takes `title` and `footer`, import from
    "macros.html", and use the filter `png` for figures.

    Examples
    --------
    >>> render("<p>{{ text }}</p>", text="Tables & figures")
    '<p>Tables &amp; figures</p>'
    """
    return _environment().from_string(template).render(values)
