"""Write one self-contained HTML page with the tables and figures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .._page import image, page, plain_table
from ._methods import METHODS
from ._tables import ErrorTable, claims, methods_of, tasks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def paper_report(
    *,
    description: dict[str, object],
    sizes: list[list[str]] | None = None,
    table: ErrorTable | None = None,
    figures: dict[str, Figure] | None = None,
) -> str:
    """Build the page of the reproduced tables and figures.

    Parameters
    ----------
    description : dict
        Seed, scaling, versions and machine.
    sizes : list of list of str, optional
        Rows of table 1.
    table : dict of (method, task) to Cell, optional
        Table 2.
    figures : dict of str to Figure, optional
        Figures by caption.

    Returns
    -------
    str
        The HTML; it needs no other file.
    """
    parts = ["<h1>SERAPH: the tables and figures of Niu et al. (2012), reproduced</h1>"]
    if sizes:
        parts += [
            "<h2>Table 1. The tasks</h2>",
            "<p>Mean numbers of similar and dissimilar pairs in our samplings, with the paper's "
            "in parentheses.</p>",
            plain_table(sizes),
        ]
    if table:
        parts += _table2(table)
    for caption, figure in (figures or {}).items():
        parts += [f"<h2>{escape(caption)}</h2>", image(figure, caption)]
    facts = ", ".join(f"{key} {value}" for key, value in description.items())
    return page("SERAPH reproduced", parts, facts)


def _table2(table: ErrorTable) -> list[str]:
    n = max(len(cell.errors) for cell in table.values())
    parts = [
        "<h2>Table 2. 1-NN error in %, with the labeled points as neighbors</h2>",
        f"<p>Means and standard errors over {n} samplings. Green: the best method and those not "
        "significantly worse (unpaired t-test at 5%). Small print: the paper's figure, and the "
        "difference from ours in pooled standard errors.</p>",
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


def _cell(table: ErrorTable, method: str, task: str) -> str:
    cell = table.get((method, task))
    if cell is None:
        return "<td>-</td>"
    note = ""
    if cell.published is not None:
        note = f"<small>{cell.published[0]:.2f}, {cell.difference:+.1f}</small>"
    kind = " class='best'" if cell.best else ""
    return f"<td{kind}>{cell.mean:.2f} ± {cell.spread:.2f}{note}</td>"
