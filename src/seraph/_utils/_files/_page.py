"""HTML pages that need no other file: their style, tables and pictures, as jinja2 templates."""

from __future__ import annotations

import base64
import io
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{ title }}</title>
<link rel="icon" href="data:,">
<style>
body { font: 15px/1.5 system-ui, sans-serif; color: #1a202c; margin: 2rem auto; max-width: 76rem;
       padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.86rem; }
th, td { padding: 0.3rem 0.65rem; text-align: right; border-bottom: 1px solid #e2e8f0; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
thead th { border-bottom: 2px solid #4a5568; }
table.facts td { text-align: left; } table.facts td:first-child { color: #4a5568; }
td small { display: block; color: #718096; max-width: 40rem; }
td.best { background: #ebf8f0; font-weight: 600; } td.best small { font-weight: 400; }
p.verdict { border-left: 4px solid #3182ce; padding: 0.2rem 0 0.2rem 0.8rem; max-width: 50rem; }
figure { margin: 0; } figcaption { color: #4a5568; max-width: 50rem; }
img { max-width: 100%; height: auto; }
footer { margin-top: 3rem; color: #718096; font-size: 0.85rem; }
</style>
</head>
<body>
{% block body %}{% endblock %}
<footer>{{ footer }}</footer>
</body>
</html>
"""

_MACROS = """\
{% macro lines(rows) %}
{% for row in rows %}
<tr>{% for text in row %}<td>{{ text }}</td>{% endfor %}</tr>
{% endfor %}
{% endmacro %}

{% macro plain_table(rows) %}
<div class="wide"><table>
<thead><tr>{% for text in rows[0] %}<th>{{ text }}</th>{% endfor %}</tr></thead>
<tbody>
{{ lines(rows[1:]) -}}
</tbody>
</table></div>
{% endmacro %}

{% macro facts_table(rows) %}
<div class="wide"><table class="facts">
<tbody>
{{ lines(rows) -}}
</tbody>
</table></div>
{% endmacro %}

{% macro explained_table(rows, meanings) %}
<div class="wide"><table class="facts">
<tbody>
{% for name, text in rows %}
<tr><td>{{ name }}</td><td>{{ text }}
{%- if name in meanings %}<small>{{ meanings[name] }}</small>{% endif %}</td></tr>
{% endfor %}
</tbody>
</table></div>
{% endmacro %}

{% macro image(png, description) -%}
<img alt="{{ description }}" src="data:image/png;base64,{{ png }}">
{%- endmacro %}
"""


@cache
def _environment() -> Environment:
    try:
        from jinja2 import DictLoader, Environment, StrictUndefined
    except ImportError as error:
        raise ImportError("Report pages need jinja2: pip install 'seraph-learn[cli]'.") from error
    environment = Environment(
        loader=DictLoader({"page.html": _PAGE, "macros.html": _MACROS}),
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

    Parameters
    ----------
    template : str
        Template. It may extend "page.html", which has a block `body` and takes `title` and
        `footer`, import from "macros.html", and use the filter `png` for figures.
    **values : object
        Values for the template.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> render("<p>{{ text }}</p>", text="Tables & figures")
    '<p>Tables &amp; figures</p>'
    """
    return _environment().from_string(template).render(values)
