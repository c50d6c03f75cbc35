"""Run the methods on the tasks; stopped runs go on, as in benchmarks.evidence."""

import sys
import time

from benchmarks.evidence._fetch import Unavailable
from benchmarks.evidence._rivals import RIVALS, measure
from benchmarks.evidence._run import Unit

from ._tasks import METHODS, SETTINGS, load, sample


def available(names):
    """Return the sets that load; say which do not, and why."""
    found = []
    for name in names:
        try:
            load(name)
            found.append(name)
        except (Unavailable, ValueError) as error:
            print(f"left out: {name}: {error}", file=sys.stderr)
    return found


def plan(names, samplings, done=(), settings=SETTINGS):
    """List the units that are left to do, one sampling of everything before the next."""
    units = []
    for seed in range(samplings):
        for name in names:
            for setting in settings:
                methods = METHODS[setting.partition("-")[0]]
                left = tuple(m for m in methods if (name, setting, seed, m) not in done)
                if left:
                    units.append(Unit(name, setting, seed, left))
    return units


def work(unit):
    """Run the methods of a unit; return a record for each."""
    X, y = load(unit.set)
    task = sample(X, y, unit.setting, unit.seed)
    records = []
    for method in unit.methods:
        record = {"set": unit.set, "setting": unit.setting, "seed": unit.seed, "method": method}
        if task is None:
            records.append({**record, "skipped": True})
            continue
        start = time.process_time()
        try:
            record |= measure(RIVALS[method].fit, task)
        except Exception as error:
            # A method that fails leaves its user with the cosine.
            record |= measure(RIVALS["euclidean"].fit, task)
            record["failed"] = f"{type(error).__name__}: {error}"[:200]
        records.append({**record, "seconds": round(time.process_time() - start, 4)})
    return records
