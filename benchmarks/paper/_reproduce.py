"""Write everything that ``python -m benchmarks.paper`` makes into one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from seraph._utils._files import render, save_whole, write_whole
from seraph.datasets import load_task

from ._experiment import Plan, Record, describe, run
from ._figures import draw_sparsity, draw_times
from ._methods import METHODS
from ._protocol import sample_task
from ._tables import (
    ErrorTable,
    claims,
    grid,
    methods_of,
    table1,
    table2,
    tasks_of,
    to_csv,
    to_latex,
    to_markdown,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("table1", "table2", "figure1", "figure2", "figure3")
_CAPTIONS = {
    "figure1": "Figure 1. Sparse and non-sparse posterior distributions",
    "figure2": "Figure 2. Sparse and non-sparse projections",
    "figure3": "Figure 3. Computation time",
}
_TEMPLATE = Path(__file__).with_name("report.html")
_COLUMNS = 6  # tasks side by side in one table of the report


def reproduce(
    parts: Sequence[str],
    plan: Plan,
    folder: Path,
    *,
    jobs: int = 1,
    watch: Callable[[Record], None] | None = None,
) -> tuple[list[list[str]] | None, ErrorTable | None, list[Path]]:
    """Make some of the `PARTS`, and a report about them.

    Records that are already in the folder are not computed again; `watch` is called with each
    record as soon as it is known. Returns the rows of table 1 and table 2, None where they are not
    among the parts, and the files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes = table = None
    figures: dict[str, Figure] = {}
    files: dict[str, str | bytes] = {}
    if "table1" in parts:
        sizes = table1([load_task(name) for name in plan.tasks], pair_counts(plan))
        files["table1.md"] = to_markdown(sizes)
    records: list[Record] = []
    if "table2" in parts or "figure3" in parts:
        for record in run(plan, folder, jobs):
            records.append(record)
            if watch is not None:
                watch(record)
        records.sort(key=lambda r: (r.task, r.sampling, list(plan.methods).index(r.method)))
    if "table2" in parts:
        table = table2(records)
        files["table2.csv"] = to_csv(table)
        files["table2.md"] = to_markdown(grid(table, "{cell} ({paper}, {away})", bold="**{0}**"))
        files["table2.tex"] = to_latex(table)
        everything = {"about": describe(plan), "records": [asdict(r) for r in records]}
        files["table2.json"] = json.dumps(everything, indent=1)
    if "figure1" in parts:
        figures["figure1"] = draw_sparsity("posterior")
    if "figure2" in parts:
        figures["figure2"] = draw_sparsity("projection")
    if "figure3" in parts:
        figures["figure3"] = draw_times(records)
    files["report.html"] = _report(describe(plan), sizes, table or {}, figures)
    paths = [write_whole(folder / name, content) for name, content in files.items()]
    for name, figure in figures.items():
        paths += [save_whole(figure, folder / f"{name}.{kind}") for kind in ("png", "svg")]
    return sizes, table, paths


def _report(
    about: dict[str, object],
    sizes: list[list[str]] | None,
    table: ErrorTable,
    figures: dict[str, Figure],
) -> str:
    """Build the self-contained HTML page of table 1 (`sizes`), table 2 and the figures."""
    tasks = tasks_of(table)
    return render(
        _TEMPLATE.read_text(encoding="utf-8"),
        title="SERAPH reproduced",
        footer=", ".join(f"{key} {value}" for key, value in about.items()),
        sizes=sizes,
        table=table,
        n_samplings=max((len(cell.errors) for cell in table.values()), default=0),
        blocks=[tasks[start : start + _COLUMNS] for start in range(0, len(tasks), _COLUMNS)],
        methods=[(method, METHODS[method][0]) for method in methods_of(table)],
        claims=claims(table) if "hyper" in methods_of(table) else [],
        figures={_CAPTIONS[name]: figure for name, figure in figures.items()},
    )


def pair_counts(plan: Plan) -> dict[str, tuple[float, float]]:
    """Count the similar and dissimilar pairs of each task, on average over its samplings."""
    counts = {}
    for name in plan.tasks:
        task = load_task(name)
        similar = []
        for number in range(plan.samplings):
            sampling = sample_task(task, plan.seed, number, plan.scaling)
            sizes = np.bincount(sampling.y[sampling.labeled])
            similar.append(float(np.sum(sizes * (sizes - 1) // 2)))
        total = task.n_labels * (task.n_labels - 1) // 2
        counts[name] = (float(np.mean(similar)), total - float(np.mean(similar)))
    return counts
