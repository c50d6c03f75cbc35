"""Write everything that ``python -m benchmarks.paper`` makes into one folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks._stamp import make_stamp
from seraph.persist._write import write_whole

from ._data import ROWS, load_task
from ._experiment import Plan, Record, run
from ._figures import draw_sparsity, draw_times
from ._protocol import sample_task
from ._tables import ErrorTable, table1, table2, to_markdown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PARTS = ("table1", "table2", "figure1", "figure2", "figure3")


def reproduce(
    parts: Sequence[str],
    plan: Plan,
    folder: Path,
    *,
    jobs: int = 1,
    watch: Callable[[Record], None] | None = None,
) -> tuple[list[list[str]] | None, ErrorTable | None, list[Path]]:
    """Make some of the `PARTS`.

    Records that are already in the folder are not computed again; `watch` is called with each
    record as soon as it is known. Returns the rows of table 1 and table 2, None where they are not
    among the parts, and the files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes = table = None
    figures: dict[str, Figure] = {}
    files: dict[str, str | bytes] = {}
    if "table1" in parts:
        sizes = table1({name: ROWS[name] for name in plan.tasks}, pair_counts(plan))
        files["table1.md"] = f"{to_markdown(sizes)}\n*{make_stamp()}.*\n"
    records: list[Record] = []
    if "table2" in parts or "figure3" in parts:
        for record in run(plan, folder, jobs):
            records.append(record)
            if watch is not None:
                watch(record)
        records.sort(key=lambda r: (r.task, r.sampling, list(plan.methods).index(r.method)))
    if "table2" in parts:
        table = table2(records)
    if "figure1" in parts:
        figures["figure1"] = draw_sparsity("posterior")
    if "figure2" in parts:
        figures["figure2"] = draw_sparsity("projection")
    if "figure3" in parts:
        figures["figure3"] = draw_times(records)
    paths = [write_whole(folder / name, content) for name, content in files.items()]
    for name, figure in figures.items():
        for kind in ("png", "svg"):
            draw = partial(figure.savefig, format=kind, dpi=150)
            paths.append(write_whole(folder / f"{name}.{kind}", draw))
    return sizes, table, paths


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
        total = task.row.n_labels * (task.row.n_labels - 1) // 2
        counts[name] = (float(np.mean(similar)), total - float(np.mean(similar)))
    return counts
