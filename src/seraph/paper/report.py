"""One self-contained HTML page with the tables and the figures."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING

from .methods import METHODS
from .tables import Table, claims, methods_of, tasks_of

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
td small { display: block; color: #718096; }
td.best { background: #ebf8f0; font-weight: 600; } td.best small { font-weight: 400; }
img { max-width: 100%; height: auto; }
footer { margin-top: 3rem; color: #718096; font-size: 0.85rem; }
"""


def html_report(
    *,
    description: dict[str, object],
    sizes: list[list[str]] | None = None,
    table: Table | None = None,
    figures: dict[str, Figure] | None = None,
) -> str:
    """Build the page.

    Parameters
    ----------
    description : dict
        Seed, versions and machine.
    sizes : list of list of str, optional
        Rows of table 1.
    table : dict of (method, task) to Cell, optional
        Table 2.
    figures : dict of str to Figure, optional
        Figures by their caption.

    Returns
    -------
    str
        The page; it refers to no other file.
    """
    parts = ["<h1>SERAPH: the tables and figures of Niu et al. (2012), run again</h1>"]
    if sizes:
        parts += [
            "<h2>Table 1. The tasks</h2>",
            "<p>Mean numbers of similar and dissimilar pairs over our samplings; the paper's "
            "in brackets.</p>",
            _plain_table(sizes),
        ]
    if table:
        parts += _table2(table)
    for caption, figure in (figures or {}).items():
        parts += [f"<h2>{escape(caption)}</h2>", _image(figure, caption)]
    facts = ", ".join(f"{escape(k)} {escape(str(v))}" for k, v in description.items())
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>SERAPH reproduced</title>\n<link rel='icon' href='data:,'>\n"
        f"<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(parts)
        + f"\n<footer>{facts}</footer>\n</body>\n</html>\n"
    )


def _table2(table: Table) -> list[str]:
    n = max(len(cell.errors) for cell in table.values())
    parts = [
        "<h2>Table 2. Error of the nearest labelled neighbour, in %</h2>",
        f"<p>Means and standard errors of {n} samplings. Green: the best, and those not "
        "significantly worse (unpaired t-test at 5%). Small: the paper's figure, and how far ours "
        "lies from it in pooled standard errors.</p>",
    ]
    tasks = tasks_of(table)
    for start in range(0, len(tasks), 6):
        some = tasks[start : start + 6]
        head = "".join(f"<th>{escape(task)}</th>" for task in some)
        rows = []
        for method in methods_of(table):
            cells = [_cell(table, method, task) for task in some]
            rows.append(f"<tr><td>{escape(METHODS[method][0])}</td>{''.join(cells)}</tr>")
        parts.append(
            f"<div class='wide'><table><thead><tr><th></th>{head}</tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div><br>"
        )
    if any(method == "hyper" for method, _ in table):
        items = [
            f"<li>{escape(claim)}: {held} of {total} tasks"
            + (f" (not: {escape(', '.join(others))})" if others else "")
            + "</li>"
            for claim, held, total, others in claims(table)
        ]
        parts.append(f"<p>SERAPH hyper, the direct solution of (7):</p><ul>{''.join(items)}</ul>")
    return parts


def _cell(table: Table, method: str, task: str) -> str:
    cell = table.get((method, task))
    if cell is None:
        return "<td>-</td>"
    note = ""
    if cell.published is not None:
        note = f"<small>{cell.published[0]:.2f}, {cell.difference:+.1f}</small>"
    kind = " class='best'" if cell.best else ""
    return f"<td{kind}>{cell.mean:.2f} ± {cell.spread:.2f}{note}</td>"


def _plain_table(rows: list[list[str]]) -> str:
    head, *body = rows
    top = "".join(f"<th>{escape(text)}</th>" for text in head)
    lines = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in body
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<div class='wide'>{table}</div>"


def _image(figure: Figure, caption: str) -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=120)
    data = base64.b64encode(out.getvalue()).decode()
    return f"<img alt='{escape(caption, quote=True)}' src='data:image/png;base64,{data}'>"
