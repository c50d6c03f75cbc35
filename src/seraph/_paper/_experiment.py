"""Run the samplings: in parallel, each one written as it ends, resumed where it stopped."""

from __future__ import annotations

import json
import os
import platform
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import cache
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TextIO

import numpy as np
import scipy
import sklearn
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from .._version import __version__
from ..datasets import Task, load_task
from ._methods import METHODS
from ._protocol import Sampling, Scaling, draw


@dataclass(frozen=True)
class Record:
    """What one method did on one sampling of one task.

    Parameters
    ----------
    task, method : str
        Names, as `load_task` and `METHODS` know them.
    sampling : int
        Number of the sampling.
    error : float
        1-NN misclassification rate on the test points, in %.
    seconds : float
        Time to learn the metric.
    rank : int
        Rank of the metric.
    converged : bool
        Whether the learner said so.
    """

    task: str
    method: str
    sampling: int
    error: float
    seconds: float
    rank: int
    converged: bool


@dataclass(frozen=True)
class Plan:
    """What is to be run; equal plans give equal records, whatever the number of jobs.

    Parameters
    ----------
    tasks, methods : tuple of str
        Names.
    samplings : int
        Number of samplings of each task.
    seed : int
        Seed of them all.
    scaling : {"zscore", "unit", "symmetric", "raw"}
        Scaling of the UCI features.
    """

    tasks: tuple[str, ...]
    methods: tuple[str, ...] = tuple(METHODS)
    samplings: int = 50
    seed: int = 0
    scaling: Scaling = "zscore"

    def size(self) -> int:
        """Number of records in all."""
        return len(self.tasks) * len(self.methods) * self.samplings


def run(plan: Plan, folder: Path, jobs: int = 1) -> Iterator[Record]:
    """Run what `folder` does not hold yet; yields every record, old ones first.

    Records go to ``records.jsonl``, a line each, as soon as a sampling is through.

    Parameters
    ----------
    plan : Plan
        What to run.
    folder : Path
        Where the records are.
    jobs : int, default=1
        Number of processes.

    Yields
    ------
    Record
    """
    path = folder / "records.jsonl"
    done = [r for r in load_records(path, plan) if _wanted(r, plan)]
    yield from done
    finished = {(r.task, r.method, r.sampling) for r in done}
    work = []
    for number in range(plan.samplings):  # all tasks grow at the same pace
        for task in plan.tasks:
            missing = [m for m in plan.methods if (task, m, number) not in finished]
            if missing:
                work.append((task, number, missing, plan.seed, plan.scaling))
    if not work:
        return
    folder.mkdir(parents=True, exist_ok=True)
    new = not path.exists()
    with path.open("a", encoding="utf-8") as file:
        if new:
            _write(file, [_header(plan)])
        for records in _map(work, jobs):
            _write(file, [asdict(record) for record in records])
            yield from records


def load_records(path: Path, plan: Plan) -> list[Record]:
    """Read the records of an earlier run of the same seed and scaling.

    A last line that was cut off by an interruption is dropped, in the file too.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole, encoding="utf-8")
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
    """Versions and machine, for the record."""
    return {
        "seed": plan.seed,
        "scaling": plan.scaling,
        "seraph": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def evaluate(sampling: Sampling, method: str) -> tuple[float, float, int, bool]:
    """Learn one metric: the 1-NN error in %, the seconds, the rank, and if it converged.

    Neighbours are the labelled points alone.
    """
    learner = METHODS[method][1]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # lam = 0, few labels: known here, and recorded
        start = time.perf_counter()
        learner.fit(sampling.X, sampling.y_partial)
        seconds = time.perf_counter() - start
    near = learner.transform(sampling.X[sampling.labelled])
    far = learner.transform(sampling.X_test)
    rank = near.shape[1]
    if rank == 0:  # every distance is zero; the first labelled point is as near as any
        near, far = np.zeros((len(near), 1)), np.zeros((len(far), 1))
    nearest = KNeighborsClassifier(1).fit(near, sampling.y[sampling.labelled])
    error = 100.0 * float(np.mean(nearest.predict(far) != sampling.y_test))
    return error, seconds, rank, bool(getattr(learner, "converged_", True))


_load = cache(load_task)


def _sampling(work: tuple[str, int, list[str], int, Scaling]) -> list[Record]:
    name, number, methods, seed, scaling = work
    task: Task = _load(name)
    sampling = draw(task, seed, number, scaling)
    with threadpool_limits(1):
        return [Record(name, m, number, *evaluate(sampling, m)) for m in methods]


def _map(work: list, jobs: int) -> Iterator[list[Record]]:
    """Results in the order in which they end."""
    if jobs == 1:
        yield from map(_sampling, work)
        return
    # Fresh interpreters, so that no thread of the parent is copied half-way.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = iter(work)
        running = {pool.submit(_sampling, w) for w in islice(waiting, 2 * jobs)}
        try:
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield future.result()
                    running |= {pool.submit(_sampling, w) for w in islice(waiting, 1)}
        finally:
            pool.shutdown(cancel_futures=True)


def _wanted(record: Record, plan: Plan) -> bool:
    return (
        record.task in plan.tasks
        and record.method in plan.methods
        and record.sampling < plan.samplings
    )


def _header(plan: Plan) -> dict[str, object]:
    return {"format": 1, **describe(plan)}


def _write(file: TextIO, lines: Iterable[dict]) -> None:
    file.writelines(json.dumps(line) + "\n" for line in lines)
    file.flush()
    os.fsync(file.fileno())
