"""Run the samplings in parallel; write each result at once, so that a run can be resumed."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy
import sklearn
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from benchmarks._stamp import make_stamp
from seraph.persist._write import write_whole

from ._data import load_task
from ._methods import METHODS
from ._protocol import Sampling, Scaling, sample_task


@dataclass(frozen=True)
class Record:
    """The result of one method on one sampling of one task."""

    task: str
    method: str
    sampling: int
    error: float  # of 1-NN on the test points, in %
    seconds: float  # to learn the metric
    rank: int
    converged: bool  # the learner's converged_; True for learners without it


@dataclass(frozen=True)
class Plan:
    """What to run. Equal plans give equal errors, whatever the number of jobs."""

    tasks: tuple[str, ...]
    methods: tuple[str, ...] = tuple(METHODS)
    samplings: int = 50  # of each task
    seed: int = 0
    scaling: Scaling = "zscore"  # of the UCI features

    def size(self) -> int:
        """Total number of records."""
        return len(self.tasks) * len(self.methods) * self.samplings


def run(plan: Plan, folder: Path, jobs: int = 1) -> Iterator[Record]:
    """Run what is missing in `folder`, and yield every record, old ones first.

    Each finished sampling is written to ``records.jsonl`` at once, one line per record; with
    another scaling, to ``records-SCALING.jsonl``.
    """
    path = log_of(folder, plan.scaling)
    found = {(r.task, r.method, r.sampling): r for r in load_records(path, plan)}
    work = []
    for number, task in product(range(plan.samplings), plan.tasks):  # tasks advance together
        keys = [(task, method, number) for method in plan.methods]
        yield from (found[key] for key in keys if key in found)
        missing = [method for _, method, _ in keys if (task, method, number) not in found]
        if missing:
            work.append((task, number, missing))
    if not work:
        return
    folder.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        if new:
            _write(file, [{"format": 1, **describe(plan)}])
        parallel = Parallel(jobs, return_as="generator_unordered", batch_size=1)
        for records in parallel(delayed(_run_sampling)(plan, *one) for one in work):
            _write(file, [asdict(record) for record in records])
            yield from records


def log_of(folder: Path, scaling: Scaling) -> Path:
    """Return the log of a scaling."""
    return folder / ("records.jsonl" if scaling == "zscore" else f"records-{scaling}.jsonl")


def load_records(path: Path, plan: Plan) -> list[Record]:
    """Read the records of an earlier run of the same seed and scaling.

    If the last line was cut off by an interruption, it is also removed from the file.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_whole(path, whole)
    lines = [json.loads(line) for line in whole.splitlines()]
    if not lines:
        path.unlink()
        return []
    header, *records = lines
    for name in ("seed", "scaling"):
        if header.get(name) != getattr(plan, name):
            raise ValueError(
                f"{path} holds a run with {name} {header.get(name)!r}, not "
                f"{getattr(plan, name)!r}: choose another output folder."
            )
    return [Record(**record) for record in records]


def describe(plan: Plan) -> dict[str, object]:
    """Return the seed, the scaling, the stamp, the library versions and the machine."""
    return {
        "seed": plan.seed,
        "scaling": plan.scaling,
        "stamp": make_stamp(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def evaluate(sampling: Sampling, method: str) -> tuple[float, float, int, bool]:
    """Learn one metric and return its 1-NN error in %, the seconds, its rank, and convergence.

    Only the labeled points serve as neighbors.
    """
    learner = METHODS[method][1]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # expected with lam = 0 and few labels
        start = time.perf_counter()
        learner.fit(sampling.X, sampling.y_partial)
        seconds = time.perf_counter() - start
    error = sampling.nearest_neighbor_error(learner)
    return error, seconds, len(learner.components_), bool(getattr(learner, "converged_", True))


_load = cache(load_task)


def _run_sampling(plan: Plan, task: str, number: int, methods: list[str]) -> list[Record]:
    sampling = sample_task(_load(task), plan.seed, number, plan.scaling)
    with threadpool_limits(1):
        return [Record(task, m, number, *evaluate(sampling, m)) for m in methods]


def _write(file: TextIO, lines: Iterable[dict[str, object]]) -> None:
    file.writelines(json.dumps(line) + "\n" for line in lines)
    file.flush()
    os.fsync(file.fileno())
