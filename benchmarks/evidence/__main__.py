"""The commands: fetch, run, report, order."""

import argparse
import signal
import sys
from pathlib import Path

from . import _data, _order, _report, _run

DOCS = Path(__file__).parents[2] / "docs"
LOG = DOCS / "results" / "evidence.csv"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("fetch", help="fetch and prepare sets; runs nothing on them")
    command.add_argument("--sets", nargs="+", default=["judging"])
    command.set_defaults(call=fetch_sets)

    command = commands.add_parser("run", help="run all methods, and log the results")
    command.add_argument("--sets", nargs="+", default=["choosing"])
    command.add_argument("--samplings", type=int, default=20)
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument("--methods", nargs="+", help="such as itml mean my_module:MyLearner")
    command.add_argument("--settings", nargs="+", help="such as labels-30 pairs-100-wrong-5")
    command.add_argument("--log", type=Path, default=LOG)
    command.set_defaults(
        call=lambda chosen: _run.run(
            chosen.sets, chosen.samplings, chosen.jobs, chosen.log, chosen.settings, chosen.methods
        )
    )

    command = commands.add_parser("report", help="write tables, picture and page from the log")
    command.add_argument("--log", type=Path, default=LOG)
    command.add_argument("--docs", type=Path, default=DOCS, help="folder of the pages to fill")
    command.set_defaults(call=lambda chosen: _report.write_report(chosen.log, chosen.docs))

    command = commands.add_parser("curves", help="print gains by setting, also for new classes")
    command.add_argument("--log", type=Path, required=True)
    command.add_argument("--picture", type=Path, help="draw gains by the number of labels, pairs")
    command.set_defaults(call=lambda chosen: print(_report.curves(chosen.log, chosen.picture)))

    command = commands.add_parser("order", help="check that lists were committed before looks")
    command.set_defaults(call=print_order)

    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # ends the other processes too
    chosen.call(chosen)


def fetch_sets(chosen):
    """Print rows, features and classes of each set."""
    for name in _data.chosen_sets(chosen.sets):
        X, y, kind = _data.load(name)
        print(f"{name:24}{kind:12}{len(X):>6}{X.shape[1]:>6}{len(set(y)):>6}", flush=True)


def print_order(_):
    """Print the commits of each look; fail if their order is wrong."""
    lines, wrong = _order.check_order()
    print(*lines, sep="\n")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
