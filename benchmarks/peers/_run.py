"""Run both libraries on the same tasks, and keep a record of each fit.

Records are lines of JSON. A run that was stopped goes on where it ended.
"""

import sys
import time
from dataclasses import asdict, dataclass, replace

from ._environment import Worker
from ._methods import LIBRARIES
from ._tasks import sample


@dataclass(frozen=True)
class Job:
    """A fit of one method on one task, by one or more libraries."""

    set: str
    rows: int
    seed: int
    libraries: tuple[str, ...]
    method: str

    def key(self, library):
        """Return the fields that the record of a library is found by."""
        return {
            "set": self.set,
            "setting": f"{self.rows} rows",
            "seed": self.seed,
            "method": f"{library} {self.method}",
        }


def plan(sets, rows, samplings, methods):
    """List all fits: one sampling of everything before the next."""
    jobs = []
    for seed in range(samplings):
        for name in sets:
            for n in rows:
                if sample(name, n, seed) is not None:
                    jobs.append(Job(name, n, seed, ("scikit-learn",), "Euclidean"))
                    jobs += [Job(name, n, seed, LIBRARIES, method) for method in methods]
    return jobs


def run(jobs, records, python, cap):
    """Run the fits that have no record yet; a method that was capped once is not tried again."""
    capped = {_cell(r) for r in records.found.values() if "capped" in r}
    start, step = time.monotonic(), max(1, len(jobs) // 20)
    with Worker(python, cap) as worker:
        for count, job in enumerate(jobs, 1):
            left = [
                library
                for library in job.libraries
                if tuple(job.key(library).values()) not in records.found
                and _cell(job.key(library)) not in capped
            ]
            if left:
                answers = worker(asdict(replace(job, libraries=tuple(left))))
                fits = [{**job.key(library), **answers[library]} for library in left]
                records.add(fits)
                capped |= {_cell(record) for record in fits if "capped" in record}
            if sys.stderr.isatty() or count % step == 0 or count == len(jobs):
                spent = time.monotonic() - start
                print(f"{count} of {len(jobs)} tasks, {spent:.0f} s", file=sys.stderr, flush=True)


def _cell(record):
    return record["set"], record["setting"], record["method"]
