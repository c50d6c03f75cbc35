"""Fill the blocks of the pages with the results of a run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from benchmarks._stamp import ROOT, fill, table

from ._data import TASKS
from ._experiment import Plan, load_records, log_of
from ._methods import METHODS
from ._protocol import SCALINGS
from ._tables import ErrorTable, claims, grid, methods_of, table2, to_markdown

PAGES = (ROOT / "docs/paper.md", ROOT / "docs/results/paper.md", ROOT / "paper/paper.md")
_RIVALS = ("gdm", "nca", "lmnn", "itml", "ldm", "mfda")


def write_pages(folder: Path, seed: int = 0) -> None:
    """Fill the pages from the logs in a folder."""
    results, stamps = {}, {}
    for scaling in SCALINGS:
        path = log_of(folder, scaling)
        records = load_records(path, Plan(tuple(TASKS), seed=seed, scaling=scaling))
        if records:
            results[scaling] = table2(records)
            header = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
            samplings = 1 + max(record.sampling for record in records)
            stamps[scaling] = f"*{samplings} samplings; {header.get('stamp', 'no stamp')}.*\n"
    if "zscore" not in results:
        raise ValueError(f"{folder} has no records of Table 2: run `table2 --out {folder}` first.")
    main, stamp = results["zscore"], stamps["zscore"]
    count, fitting = claims(main), claims(main, "seraph")
    blocks = {
        "table2": f"{short(main)}\n{stamp}",
        "best": f"{best(main)}\n{stamp}",
        "claims": f"{claims_table(count, fitting)}\n{stamp}",
        "figure1": f"![{_ALT[1]}](results/figure1.png)\n\n{stamp}",
        "figure2": f"![{_ALT[2]}](results/figure2.png)\n\n{stamp}",
        "figure3": f"![{_ALT[3]}](results/figure3.png)\n\n{stamp}",
        "full": f"{halves(main)}{stamp}",
        "scalings": "".join(
            f"`--scaling {scaling}`:\n\n{to_markdown(grid(results[scaling]))}\n{stamps[scaling]}\n"
            for scaling in results
            if scaling != "zscore"
        ),
        "summary": summary(count, fitting) + stamp,
    }
    for page in PAGES:
        fill(page, "paper", blocks)


_ALT = {
    1: "Four labels in the plane, and the directions that GDM and SERAPH find",
    2: "Two classes along one direction, and the metrics with and without the trace",
    3: "Seconds for one metric by the size of the task, for each method",
}


def short(results: ErrorTable) -> str:
    """Return a row for each task: Euclidean, the best rival, the paper's setting, the default."""
    header = ["", "Euclidean", "best other learner", "SERAPH hyper: lam=1", "SERAPH()"]
    rows = []
    for task in TASKS:
        cells = {m: results[m, task] for m in METHODS if (m, task) in results}
        rivals = [m for m in _RIVALS if m in cells]
        if {"euclidean", "hyper", "seraph"} <= cells.keys() and rivals:
            rival = min(rivals, key=lambda m: cells[m].mean)
            ours = [show(cells[m]) for m in ("euclidean", rival, "hyper", "seraph")]
            ours[1] += f", {METHODS[rival][0]}"
            mean, spread = cells["hyper"].published
            rows.append([task, *ours, f"{mean:.1f} ± {spread:.1f}"])
    return table([*header, "the paper's *hyper*"], rows)


def show(cell) -> str:
    """Write the mean and its standard error, bold for the best and those not surely worse."""
    text = f"{cell.mean:.1f} ± {cell.spread:.1f}"
    return f"**{text}**" if cell.best else text


def best(results: ErrorTable) -> str:
    """Count for each method the tasks on which it is the best, or not significantly worse."""
    counts = {
        m: [cell.best for (method, _), cell in results.items() if method == m]
        for m in methods_of(results)
    }
    order = sorted(counts, key=lambda m: -np.mean(counts[m]))
    rows = [[METHODS[m][0], f"{sum(counts[m])} of {len(counts[m])}"] for m in order]
    return table(["learner", "best, or not significantly worse, on"], rows)


def claims_table(*counts) -> str:
    """Return the claims, for the paper's setting and for the default."""
    rows = [[one[0][0], *(_held(*each[1:]) for each in one)] for one in zip(*counts, strict=True)]
    return table(["", METHODS["hyper"][0], METHODS["seraph"][0]], rows)


def _held(held: int, total: int, others: list[str]) -> str:
    return f"**{held} of {total}**" + (f" (not {', '.join(others)})" if others else "")


def halves(results: ErrorTable) -> str:
    """Return Table 2 in full, six tasks at a time."""
    rows = grid(results)
    starts = range(1, len(rows[0]), 6)
    return "".join(to_markdown([[row[0], *row[k : k + 6]] for row in rows]) + "\n" for k in starts)


def summary(count, fitting) -> str:
    """Return the claims in two sentences."""
    (lower, best_on, _, within), (also_lower, also_best, *_) = (
        [f"{held} of {total}" for _, held, total, _ in one] for one in (count, fitting)
    )
    return (
        f"With the paper's setting *hyper*, SERAPH has a lower mean error than the Euclidean "
        f"distance on {lower} tasks, is best or not significantly worse than the best on "
        f"{best_on}, and within 2.5 pooled standard errors of the published error on "
        f"{within} (not {', '.join(count[3][3]) or 'none'}). With the defaults of `SERAPH()` "
        f"the first two are {also_lower} and {also_best}.\n\n"
    )
