"""The commands: sets, demo, run, report."""

import argparse
import signal
import sys
from pathlib import Path

from benchmarks.evidence._fetch import Unavailable
from benchmarks.evidence._run import Records, run

from . import _report
from ._run import available, plan, work
from ._tasks import SETS, SETTINGS, load

OUT = Path(__file__).parents[1] / "out" / "embeddings"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.embeddings", description=__doc__)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("sets", help="fetch the packages, embed, and list the sets")
    command.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    command.set_defaults(call=list_sets)

    command = commands.add_parser("demo", help="a table and a picture of one set")
    command.add_argument(
        "set", nargs="?", choices=SETS, help="by default, the shipped definitions"
    )
    command.add_argument("--samplings", type=int, default=5)
    command.add_argument("--picture", type=Path, default=Path("demo.png"))
    command.set_defaults(call=demonstrate)

    command = commands.add_parser("run", help="run all methods and keep the records")
    command.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    command.add_argument("--settings", nargs="+", default=SETTINGS, choices=SETTINGS)
    command.add_argument("--samplings", type=int, default=20)
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument("--out", type=Path, default=OUT)
    command.set_defaults(call=run_methods)

    command = commands.add_parser("report", help="write the tables and the picture")
    command.add_argument("--out", type=Path, default=OUT, help="where the records are")
    command.add_argument("--docs", type=Path, default=Path("docs"), help="where the pages are")
    command.set_defaults(call=write_report)

    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # ends the other processes too
    try:
        chosen.call(chosen)
    except (Unavailable, ValueError) as error:
        sys.exit(f"{parser.prog}: {error}")


def list_sets(chosen):
    for name in available(chosen.sets):
        X, y = load(name)
        print(f"{name:24}{len(X):>6}{X.shape[1]:>6}{len(set(y)):>6}")


def demonstrate(chosen):
    from ._demo import demonstrate, main

    if chosen.set is None:
        main(chosen.samplings, chosen.picture)
        return
    X, y = load(chosen.set)
    names = tuple(str(k) for k in range(y.max() + 1))
    about = f"{chosen.set}: {len(X):,} vectors of {X.shape[1]} features, {len(names)} classes."
    demonstrate(X, y, names, about, chosen.samplings, chosen.picture)


def run_methods(chosen):
    names = available(chosen.sets)
    records = Records(chosen.out / "records.jsonl")
    units = plan(names, chosen.samplings, records.found, chosen.settings)
    run(units, chosen.jobs, records.add, work)


def write_report(chosen):
    records = Records(chosen.out / "records.jsonl").found.values()
    for path in _report.write(records, chosen.docs):
        print(path)


if __name__ == "__main__":
    main()
