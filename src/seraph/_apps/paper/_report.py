"""Write one self-contained HTML page with the tables and figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._utils._files import render
from ._methods import METHODS
from ._tables import ErrorTable, claims, methods_of, tasks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Tasks side by side in one table.
_COLUMNS = 6

_TEMPLATE = """\
{% extends "page.html" %}
{% from "macros.html" import plain_table, image %}
{% block body %}
<h1>SERAPH: the tables and figures of Niu et al. (2012), reproduced</h1>
{% if sizes %}
<h2>Table 1. The tasks</h2>
<p>Mean numbers of similar and dissimilar pairs in our samplings, with the paper's in
parentheses.</p>
{{ plain_table(sizes) }}
{% endif %}
{% if table %}
<h2>Table 2. 1-NN error in %, with the labeled points as neighbors</h2>
<p>Means and standard errors over {{ n_samplings }} samplings. Green: the best method and those not
significantly worse (unpaired t-test at 5%). Small print: the paper's figure, and the difference
from ours in pooled standard errors.</p>
{% for tasks in blocks %}
<div class="wide"><table>
<thead><tr><th></th>{% for task in tasks %}<th>{{ task }}</th>{% endfor %}</tr></thead>
<tbody>
{% for method, title in methods %}
<tr><td>{{ title }}</td>
{% for task in tasks %}
{% set cell = table[method, task] %}
{% if cell is undefined %}
<td>-</td>
{% else %}
<td{% if cell.best %} class="best"{% endif %}>{{ "%.2f ± %.2f" | format(cell.mean, cell.spread) }}
{%- if cell.published is not none -%}
<small>{{ "%.2f, %+.1f" | format(cell.published[0], cell.difference) }}</small>
{%- endif %}</td>
{% endif %}
{% endfor %}
</tr>
{% endfor %}
</tbody>
</table></div><br>
{% endfor %}
{% if claims %}
<p>SERAPH hyper, the direct solution of (7):</p>
<ul>
{% for claim, held, total, others in claims %}
<li>{{ claim }}: {{ held }} of {{ total }} tasks{% if others %} (not: {{ others | join(", ") }})
{%- endif %}</li>
{% endfor %}
</ul>
{% endif %}
{% endif %}
{% for caption, figure in figures.items() %}
<h2>{{ caption }}</h2>
{{ image(figure | png, caption) }}
{% endfor %}
{% endblock %}
"""


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
    table = table or {}
    tasks = tasks_of(table)
    return render(
        _TEMPLATE,
        title="SERAPH reproduced",
        footer=", ".join(f"{key} {value}" for key, value in description.items()),
        sizes=sizes,
        table=table,
        n_samplings=max((len(cell.errors) for cell in table.values()), default=0),
        blocks=[tasks[start : start + _COLUMNS] for start in range(0, len(tasks), _COLUMNS)],
        methods=[(method, METHODS[method][0]) for method in methods_of(table)],
        claims=claims(table) if any(method == "hyper" for method, _ in table) else [],
        figures=figures or {},
    )
