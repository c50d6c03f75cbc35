"""Make tables 1 and 2: errors, the best methods, and the difference from the paper."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind

from benchmarks._stamp import table as markdown

from ._data import TASKS, Row
from ._experiment import Record
from ._methods import COUNTERPART, METHODS

_LEVEL = 0.05  # significance level of the unpaired t-test


@dataclass(frozen=True)
class Cell:
    """The results of one method on one task."""

    errors: tuple[float, ...]  # of 1-NN, in %, in the order of the samplings
    seconds: float  # to learn the metric, on average
    best: bool  # or not significantly worse than the best
    published: tuple[float, float] | None  # mean and standard error in the paper

    @property
    def mean(self) -> float:
        """Mean error."""
        return float(np.mean(self.errors))

    @property
    def spread(self) -> float:
        """Standard error of the mean."""
        n = len(self.errors)
        return float(np.std(self.errors, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's, in pooled standard errors."""
        if self.published is None:
            return None
        mean, spread = self.published
        return (self.mean - mean) / float(np.hypot(spread, np.nan_to_num(self.spread)))


ErrorTable = dict[tuple[str, str], Cell]


@cache
def published() -> dict[tuple[str, str], tuple[float, float]]:
    """Return table 2 of Niu et al. (2012): by method and task, the mean and its standard error."""
    with Path(__file__).with_name("published.csv").open(encoding="utf-8") as file:
        return {
            (row["method"], row["task"]): (float(row["mean"]), float(row["standard_error"]))
            for row in csv.DictReader(file)
        }


def table2(records: Iterable[Record]) -> ErrorTable:
    """Summarize the records of each method on each task."""
    errors: dict[tuple[str, str], dict[int, float]] = defaultdict(dict)
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in records:
        errors[record.method, record.task][record.sampling] = record.error
        seconds[record.method, record.task].append(record.seconds)
    table: ErrorTable = {}
    for (method, task), by_sampling in errors.items():
        rivals = [list(found.values()) for (_, t), found in errors.items() if t == task]
        own = tuple(by_sampling[number] for number in sorted(by_sampling))
        table[method, task] = Cell(
            own,
            float(np.mean(seconds[method, task])),
            comparable(own, rivals),
            published().get((COUNTERPART.get(method, method), task)),
        )
    return table


def comparable(errors: Sequence[float], rivals: Sequence[Sequence[float]]) -> bool:
    """Return whether the mean of `errors` is the lowest, or not significantly above it."""
    lowest = min(rivals, key=np.mean)
    return bool(np.mean(errors) <= np.mean(lowest)) or not significant(lowest, errors)


def significant(low: Sequence[float], high: Sequence[float]) -> bool:
    """Return whether the mean of `low` is below that of `high` by the unpaired t-test."""
    if np.mean(low) >= np.mean(high) or min(len(low), len(high)) < 2:
        return False
    if np.std(low) == 0.0 and np.std(high) == 0.0:
        return True
    return bool(ttest_ind(low, high).pvalue < _LEVEL)


def claims(table: ErrorTable, row: str = "hyper") -> list[tuple[str, int, int, list[str]]]:
    """Count the tasks on which the paper's claims for SERAPH hyper hold for a row of the table.

    Returns for each claim its text, the number of tasks on which it holds, the number of tasks
    tested, and the names of those on which it does not hold.
    """
    tasks = [t for t in TASKS if {(row, t), ("euclidean", t)} <= table.keys()]
    ours, plain = ({t: table[m, t] for t in tasks} for m in (row, "euclidean"))
    rivals = {
        t: [table[m, t].errors for m in METHODS if m not in COUNTERPART and (m, t) in table]
        for t in tasks
    }
    holds = {
        "lower mean error than the Euclidean distance": {
            t: ours[t].mean < plain[t].mean for t in tasks
        },
        "best, or not significantly worse than the best": {
            t: comparable(ours[t].errors, rivals[t]) for t in tasks
        },
        "significantly better than the Euclidean distance on USPS": {
            t: significant(ours[t].errors, plain[t].errors) for t in tasks if t.startswith("usps")
        },
        "within 2.5 pooled standard errors of the paper's figure": {
            t: abs(ours[t].difference or 0.0) <= 2.5 for t in tasks
        },
    }
    return [
        (claim, sum(on.values()), len(on), [t for t, held in on.items() if not held])
        for claim, on in holds.items()
    ]


def methods_of(table: ErrorTable) -> list[str]:
    """Return the methods in the table, in the paper's order."""
    return [m for m in METHODS if any(method == m for method, _ in table)]


def tasks_of(table: ErrorTable) -> list[str]:
    """Return the tasks in the table, in the paper's order."""
    return [t for t in TASKS if any(task == t for _, task in table)]


def grid(table: ErrorTable) -> list[list[str]]:
    """Format the table as rows of text: a header, then one row per method.

    A cell has our mean and standard error, bold for the best methods, and in brackets the paper's
    mean and the difference in pooled standard errors. A missing cell is "-".
    """
    rows = [["", *tasks_of(table)]]
    for method in methods_of(table):
        row = [METHODS[method][0]]
        for task in tasks_of(table):
            cell = table.get((method, task))
            if cell is None:
                row.append("-")
                continue
            own = f"{cell.mean:.2f} ± {cell.spread:.2f}"
            paper = "-" if cell.published is None else f"{cell.published[0]:.2f}"
            away = "" if cell.difference is None else f"{cell.difference:+.1f}"
            row.append(f"{f'**{own}**' if cell.best else own} ({paper}, {away})")
        rows.append(row)
    return rows


def to_markdown(rows: list[list[str]]) -> str:
    """Format rows of text in Markdown."""
    return markdown(rows[0], rows[1:])


def table1(tasks: dict[str, Row], counts: dict[str, tuple[float, float]]) -> list[list[str]]:
    """Make the rows of table 1: the sizes, and our mean numbers of pairs beside the paper's.

    `counts` has the mean numbers of similar and dissimilar pairs in our samplings.
    """
    rows = [["", "classes", "features", "training", "test", "labels", "#S", "#D", "#U"]]
    for name, task in tasks.items():
        similar, dissimilar = counts[name]
        rows.append(
            [
                task.title,
                *map(str, (task.n_classes, task.n_features, task.n_train, task.n_test)),
                str(task.n_labels),
                f"{similar:.2f} ({task.n_similar:g})",
                f"{dissimilar:.2f} ({task.n_dissimilar:g})",
                str(task.n_unlabeled),
            ]
        )
    return rows
