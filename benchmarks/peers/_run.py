"""Run both libraries on the same tasks, and keep a record of each fit.

Records are lines of JSON. A run that was stopped goes on where it ended.
"""

import sys
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace

from benchmarks.evidence import _data

from ._environment import Worker
from ._methods import LIBRARIES
from ._tasks import TIMED, sample

ONE, MANY = "one thread", "default threads"
LONG = 0.1  # seconds of a fit


@dataclass(frozen=True)
class Job:
    """A fit of one method on one task, by one or more libraries."""

    set: str
    rows: int
    seed: int
    libraries: tuple[str, ...]
    method: str
    threads: str

    def key(self, library):
        """Return the fields that the record of a library is found by."""
        return {
            "set": self.set,
            "setting": f"{self.rows} rows, {self.threads}",
            "seed": self.seed,
            "method": f"{library} {self.method}",
        }


def plan(sets, rows, samplings, methods, threads=(ONE, MANY)):
    """List all fits: one sampling of everything before the next.

    The errors do not depend on the threads: the default number of them is timed on the sets for
    judging alone, in the samplings that are timed.
    """
    judging = {one.name for one in _data.JUDGING}
    jobs = []
    for seed in range(samplings):
        for name in sets:
            for n in rows:
                if sample(name, n, seed) is None:
                    continue
                jobs.append(Job(name, n, seed, ("scikit-learn",), "Euclidean", ONE))
                for number in threads if name in judging and seed < TIMED else (ONE,):
                    jobs += [Job(name, n, seed, LIBRARIES, method, number) for method in methods]
    return jobs


def run(jobs, records, python, cap):
    """Run the fits that have no record yet.

    A method that was capped once is not tried again. With the default number of threads, whose
    seconds are those of the clock, only short fits are timed on more than one sampling.
    """
    capped = {_cell(r) for r in records.found.values() if "capped" in r}
    start, step = time.monotonic(), max(1, len(jobs) // 20)
    with ExitStack() as stack:
        workers = {t: stack.enter_context(Worker(python, t == ONE, cap)) for t in (ONE, MANY)}
        for count, job in enumerate(jobs, 1):
            left = [
                library
                for library in job.libraries
                if tuple(job.key(library).values()) not in records.found
                and _cell(job.key(library)) not in capped
                and not _took_long(job, library, records)
            ]
            if left:
                answers = workers[job.threads](asdict(replace(job, libraries=tuple(left))))
                found = [{**job.key(library), **answers[library]} for library in left]
                records.add(found)
                capped |= {_cell(record) for record in found if "capped" in record}
            if sys.stderr.isatty() or count % step == 0 or count == len(jobs):
                spent = time.monotonic() - start
                print(f"{count} of {len(jobs)} tasks, {spent:.0f} s", file=sys.stderr, flush=True)


def _took_long(job, library, records):
    if job.threads != MANY or job.seed == 0:
        return False
    first = records.found.get(tuple({**job.key(library), "seed": 0}.values()), {})
    return first.get("seconds", LONG) >= LONG


def _cell(record):
    return record["set"], record["setting"], record["method"]
