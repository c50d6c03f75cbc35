"""Write one self-contained HTML page with the tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..._utils._files import render
from ._methods import METHODS
from ._tables import ErrorTable, claims, methods_of, tasks_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Tasks side by side in one table.
_COLUMNS = 6
_TEMPLATE = Path(__file__).with_name("report.html")


def paper_report(
    *,
    description: dict[str, object],
    sizes: list[list[str]] | None = None,
    table: ErrorTable | None = None,
    figures: dict[str, Figure] | None = None,
) -> str:
    """Build the self-contained HTML page of table 1 (`sizes`), table 2, and figures by caption.

    `description` is that of the run, for the footer.
    """
    table = table or {}
    tasks = tasks_of(table)
    return render(
        _TEMPLATE.read_text(encoding="utf-8"),
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
