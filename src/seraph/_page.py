"""Pages of HTML that refer to no other file: their style, their tables, their pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1a202c; margin: 2rem auto; max-width: 76rem;
       padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.86rem; }
th, td { padding: 0.3rem 0.65rem; text-align: right; border-bottom: 1px solid #e2e8f0; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
thead th { border-bottom: 2px solid #4a5568; }
table.facts td { text-align: left; } table.facts td:first-child { color: #4a5568; }
td small { display: block; color: #718096; }
td.best { background: #ebf8f0; font-weight: 600; } td.best small { font-weight: 400; }
p.verdict { border-left: 4px solid #3182ce; padding: 0.2rem 0 0.2rem 0.8rem; max-width: 50rem; }
figure { margin: 0; } figcaption { color: #4a5568; max-width: 50rem; }
img { max-width: 100%; height: auto; }
footer { margin-top: 3rem; color: #718096; font-size: 0.85rem; }
"""


def page(title: str, parts: Sequence[str], footer: str) -> str:
    """A page of its parts, which are HTML; `title` and `footer` are text.

    Examples
    --------
    >>> page("Tables & figures", ["<p>None.</p>"], "2026").count("&amp;")
    1
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<link rel='icon' href='data:,'>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<footer>{escape(footer)}</footer>\n</body>\n</html>\n"
    )


def plain_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text as a table, the headings first."""
    head, *body = rows
    top = "".join(f"<th>{escape(text)}</th>" for text in head)
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{_lines(body)}</tbody></table>"
    return f"<div class='wide'>{table}</div>"


def facts_table(rows: Sequence[Sequence[str]]) -> str:
    """Names and what there is to say of each, without headings."""
    return f"<div class='wide'><table class='facts'><tbody>{_lines(rows)}</tbody></table></div>"


def _lines(rows: Sequence[Sequence[str]]) -> str:
    return "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows
    )


def image(figure: Figure, description: str) -> str:
    """A figure of matplotlib within the page."""
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    data = base64.b64encode(out.getvalue()).decode()
    return f"<img alt='{escape(description, quote=True)}' src='data:image/png;base64,{data}'>"
