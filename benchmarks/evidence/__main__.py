"""The commands: sets, try, run, report, classes."""

import argparse
import signal
import sys
from pathlib import Path

from . import _classes, _data, _report
from ._rivals import RIVALS
from ._run import Records, check_settings, method_of, plan, prepare, run

OUT = Path(__file__).parents[1] / "out" / "evidence"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    commands = parser.add_subparsers(required=True)

    command = commands.add_parser("sets", help="fetch the data sets and list them")
    command.add_argument("--sets", nargs="+", default=["all"])
    command.set_defaults(call=list_sets)

    command = commands.add_parser("try", help="compare candidates on the same samplings")
    _common(command, samplings=8)
    command.add_argument(
        "--method", action="append", default=[], help='a rival, or "name=SERAPH(...)"'
    )
    command.add_argument("--each", action="store_true", help="a line for every set as well")
    command.set_defaults(call=try_methods)

    command = commands.add_parser("run", help="run all methods and keep the records")
    _common(command, samplings=20)
    command.add_argument("--methods", nargs="+", default=list(RIVALS))
    command.add_argument("--again", nargs="+", default=[], help="methods to run afresh")
    command.set_defaults(call=run_methods)

    command = commands.add_parser("report", help="write tables, pictures and the page")
    command.add_argument("--sets", nargs="+", default=["judging"])
    command.add_argument("--out", type=Path, default=OUT)
    command.add_argument("--docs", type=Path, help="folder of the pages to fill")
    command.set_defaults(call=write_report)

    command = commands.add_parser("classes", help="print the section on class probabilities")
    command.add_argument("--out", type=Path, default=OUT)
    command.add_argument("--docs", type=Path, help="folder of the pages to fill")
    command.set_defaults(call=print_classes)

    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # ends the other processes too
    chosen.call(chosen)


def _common(command, samplings):
    command.add_argument("--sets", nargs="+", default=["choosing"])
    command.add_argument("--settings", nargs="+", default=["all"])
    command.add_argument("--samplings", type=int, default=samplings)
    command.add_argument("--jobs", type=int, default=2)
    command.add_argument("--out", type=Path, default=OUT)


def list_sets(chosen):
    names, _ = prepare(chosen.sets)
    for name in names:
        X, y, kind = _data.load(name)
        print(f"{name:22}{kind:12}{len(X):>6}{X.shape[1]:>6}{len(set(y)):>6}")


def try_methods(chosen):
    """Run candidates and print means; known rivals are taken from the records and kept there."""
    names, _ = prepare(chosen.sets)
    words = list(dict.fromkeys(["euclidean", *chosen.method]))
    records = Records(chosen.out / "records.jsonl")
    # The library changes while candidates are tried: only its rivals' records can be reused.
    kept = {w for w in words if w in RIVALS and not w.startswith("seraph")}
    done = {k for k in records.found if k[3] in kept}
    settings = check_settings(chosen.settings)
    fresh = []

    def keep(found):
        records.add([record for record in found if record["method"] in kept])
        fresh.extend(record for record in found if record["method"] not in kept)

    titles = [method_of(word)[0] for word in words]
    run(plan(names, settings, chosen.samplings, words, done), chosen.jobs, keep)
    wanted = [
        record
        for record in records.found.values()
        if record["method"] in kept
        and record["set"] in names
        and record["setting"] in settings
        and record["seed"] < chosen.samplings
    ]
    _report.print_means(wanted + fresh, titles, each=chosen.each)


def run_methods(chosen):
    for word in chosen.methods:
        method_of(word)
    names, _ = prepare(chosen.sets)
    records = Records(chosen.out / "records.jsonl")
    if chosen.again:
        records.forget(chosen.again)
    settings = check_settings(chosen.settings)
    units = plan(names, settings, chosen.samplings, chosen.methods, records.found)
    run(units, chosen.jobs, records.add)


def write_report(chosen):
    records = Records(chosen.out / "records.jsonl").found.values()
    parts = _report.report(records, chosen.out, _data.chosen_sets(chosen.sets), chosen.docs)
    print(parts["aims"])


def print_classes(chosen):
    parts = _classes.report(Records(chosen.out / "records.jsonl").found.values())
    if chosen.docs is not None:
        _report.fill_pages(chosen.docs, parts)
    print(*parts.values(), sep="\n\n")


if __name__ == "__main__":
    main()
