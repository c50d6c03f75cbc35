"""Run the methods on samplings of the sets, and log every result.

The log is a table with a row for each set, setting, sampling and method. Its first line says which
tree made it; a run that was stopped goes on where it ended, but not with another tree.
"""

import csv
import datetime
import sys
import time
from pathlib import Path

from joblib import Parallel, delayed, parallel_config

from benchmarks._stamp import make_stamp

from . import _data
from ._methods import choose_methods, measure, wanted
from ._order import CHOICE, LIST, last_commit
from ._tasks import NEW_CLASSES, SETTINGS, UNTIDY, sample

FIELDS = ("set", "setting", "seed", "method", "error", "auc", "map", "seconds", "note")
LOOKS = Path(__file__).with_name("looks.csv")


def run(sets, samplings, jobs, log, settings=None, methods=None):
    """Run what the log lacks, one sampling of everything before the next."""
    choose_methods(methods)  # a wrong name ends it before any set is read
    names, missing = _data.available(_data.chosen_sets(sets))
    for name, reason in missing.items():
        print(f"left out: {name}: {reason}", file=sys.stderr)
    done = open_log(log)
    units = [
        (name, setting, seed)
        for seed in range(samplings)
        for name in names
        for setting in settings or settings_of(name)
        if (name, setting, str(seed)) not in done
    ]
    judging = _data.GROUPS["judging"]
    if judging.keys() & names and not judging.keys() & {name for name, *_ in done}:
        count_look(log, sys.argv[1:])
    start = time.monotonic()
    with parallel_config("loky", inner_max_num_threads=1), log.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        results = Parallel(jobs, return_as="generator_unordered", batch_size=1)(
            delayed(work)(*unit, methods) for unit in units
        )
        for count, records in enumerate(results, 1):
            writer.writerows(records)  # a task is whole in the log, or not there
            file.flush()
            spent = time.monotonic() - start
            left = spent / count * (len(units) - count)
            if count % max(1, len(units) // 20) == 0 or count == len(units):
                print(f"{count} of {len(units)} tasks, {spent:.0f} s, about {left:.0f} s left")


def settings_of(name):
    """Return the settings that a set is run in."""
    return UNTIDY if _data.SETS[name]["kind"] == "untidy" else (*SETTINGS, NEW_CLASSES)


def work(name, setting, seed, methods=None):
    """Return the records of one task; one empty record where the set is too small for it."""
    X, y, kind = _data.load(name)
    task = sample(X, y, kind, setting, seed)
    about = {"set": name, "setting": setting, "seed": seed}
    if task is None:
        return [about | {"method": "", "note": "too small"}]
    chosen = choose_methods(methods)
    names = wanted(setting, seed, kind, chosen)
    return [about | record for record in measure(task, names, chosen)]


def open_log(path):
    """Return the tasks that a log has; begin it if it is not there."""
    stamp = make_stamp()
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {stamp}\n{','.join(FIELDS)}\n", encoding="utf-8")
    first, rows = read_log(path)
    if first.rpartition(", ")[0] != stamp.rpartition(", ")[0]:  # but for the date
        raise SystemExit(
            f"{path} was made by {first}, and this is {stamp}: go on with that tree, or name "
            "another file with --log."
        )
    return {(row["set"], row["setting"], row["seed"]) for row in rows}


def read_log(path):
    """Return the stamp and the rows of a log."""
    with path.open(encoding="utf-8", newline="") as file:
        stamp = file.readline().removeprefix("# ").strip()
        rows = [row for row in csv.DictReader(file) if row["note"] is not None]
    return stamp, rows


def count_look(log, arguments):
    """Write down that the sets for judging are looked at, and what had been fixed before."""
    commits = last_commit(LIST), last_commit(*CHOICE)
    row = (
        datetime.date.today().isoformat(),
        make_stamp(),
        *commits,
        log.name,
        " ".join(arguments),
    )
    with LOOKS.open("a", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow(row)
