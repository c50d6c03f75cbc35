"""Run methods on tasks in several processes, and keep a record of each result.

Records are lines of JSON. A run that was stopped goes on where it ended.
"""

import json
import sys
import time
from dataclasses import dataclass

from joblib import Parallel, delayed, parallel_config

from . import _data
from ._rivals import RIVALS, from_expression, measure
from ._tabpfn import TooLarge
from ._tasks import SETTINGS, sample


def key(record):
    """Return what a record is found by."""
    return tuple(record[part] for part in ("set", "setting", "seed", "method"))


class Records:
    """Records in a file, one line each; the last one with a key counts."""

    def __init__(self, path):
        self.path = path
        self.found = {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    record = json.loads(line)
                except json.JSONDecodeError:  # cut off when a run was killed
                    continue
                self.found[key(record)] = record

    def forget(self, methods):
        """Drop the records of some methods, so that they are run again."""
        self.found = {k: r for k, r in self.found.items() if k[3] not in methods}
        if self.path.exists():
            part = self.path.with_suffix(".part")
            part.write_text("".join(json.dumps(r) + "\n" for r in self.found.values()))
            part.replace(self.path)

    def add(self, records):
        """Append records."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # A killed run may have left half a line: start a new one.
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, 2)
                if file.read(1) != b"\n":
                    file.write(b"\n")
            for record in records:
                file.write((json.dumps(record) + "\n").encode())
        self.found.update({key(record): record for record in records})


@dataclass(frozen=True)
class Unit:
    """Work of one process: some methods on one sampling. Expressions stand for candidates."""

    set: str
    setting: str
    seed: int
    methods: tuple[str, ...]


def method_of(word):
    """Return name and method of a known name or of ``name=expression``."""
    if word in RIVALS:
        return word, RIVALS[word]
    if "=" not in word:
        raise SystemExit(f"There is no method {word!r}; the methods are {', '.join(RIVALS)}.")
    return from_expression(word)


def work(unit):
    """Run the methods of a unit; return a record for each."""
    X, y, kind = _data.load(unit.set)
    task = sample(X, y, kind, unit.setting, unit.seed)
    records = []
    for word in unit.methods:
        name, rival = method_of(word)
        record = {"set": unit.set, "setting": unit.setting, "seed": unit.seed, "method": name}
        if task is None or not rival.takes(kind, unit.setting):
            records.append({**record, "skipped": True})
            continue
        start = time.process_time()
        try:
            record |= measure(rival.fit, task)
        except TooLarge:
            records.append({**record, "skipped": True})
            continue
        except _data.Unavailable:
            raise
        except Exception as error:
            # A method that fails leaves its user with the distance he had.
            record |= measure(RIVALS["euclidean"].fit, task)
            record["failed"] = f"{type(error).__name__}: {error}"[:200]
        records.append({**record, "seconds": round(time.process_time() - start, 4)})
    return records


def plan(sets, settings, samplings, words, done=()):
    """List the units that are left to do, one sampling of everything before the next."""
    units = []
    for seed in range(samplings):
        for name in sets:
            for setting in settings:
                left = tuple(
                    word
                    for word in words
                    if (name, setting, seed, word.partition("=")[0]) not in done
                )
                if left:
                    units.append(Unit(name, setting, seed, left))
    return units


def run(units, jobs, keep, work=work):
    """Run units in several processes with one thread each; hand the records to `keep`."""
    start = time.monotonic()
    step = max(1, len(units) // 20)  # a line for every 5 % where no terminal shows progress
    with parallel_config("loky", inner_max_num_threads=1):
        results = Parallel(jobs, return_as="generator_unordered", batch_size=1)(
            delayed(work)(unit) for unit in units
        )
        for count, records in enumerate(results, 1):
            keep(records)
            if sys.stderr.isatty() or count % step == 0 or count == len(units):
                spent = time.monotonic() - start
                left = spent / count * (len(units) - count)
                print(
                    f"{count} of {len(units)} tasks, {spent:.0f} s, about {left:.0f} s left   ",
                    end="\r" if sys.stderr.isatty() and count < len(units) else "\n",
                    file=sys.stderr,
                    flush=True,
                )


def prepare(words):
    """Return the names of the sets that are here; say which are not, and why."""
    names, missing = _data.available(_data.chosen_sets(words))
    for name, reason in missing.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    return names, missing


def check_settings(words):
    """Return the settings that the words mean: labels, pairs, all, or names."""
    chosen = []
    for word in words:
        found = [s for s in SETTINGS if word in ("all", s, s.partition("-")[0])]
        if not found:
            raise SystemExit(f"There is no setting {word!r}; they are {', '.join(SETTINGS)}.")
        chosen += found
    return list(dict.fromkeys(chosen))
