"""Compare the learners that seraph and metric-learn share, on the same splits.

Makes a virtual environment with scikit-learn 1.7.2 and metric-learn 0.7.0, in which both
libraries run. Writes errors and seconds side by side to docs/results/peers.md. A run that was
stopped goes on where it ended.
"""

import argparse
import signal
import sys
from pathlib import Path

from benchmarks._records import Records
from benchmarks.evidence import _data

from ._environment import ROOT, interpreter
from ._methods import METHODS
from ._report import page
from ._run import plan, run
from ._tasks import ROWS

OUT = ROOT / "benchmarks" / "out" / "peers"


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["choosing"], help="names of sets")
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS), help="labeled rows")
    parser.add_argument("--samplings", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--cap", type=float, default=60.0, help="CPU seconds of a fit, at most")
    parser.add_argument("--again", nargs="+", default=[], help='such as "seraph ITML"; run afresh')
    parser.add_argument("--report", action="store_true", help="only write the tables")
    parser.add_argument("--out", type=Path, default=OUT)
    chosen = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # ends the workers too

    records = Records(chosen.out / "records.jsonl")
    if not chosen.report:
        if chosen.again:
            records.forget(chosen.again)
        names = [
            name
            for name in _data.chosen_sets(chosen.sets)
            if _data.SETS[name]["kind"] != "embedding"
        ]
        tables, missing = _data.available(names)
        for name, reason in missing.items():
            print(f"left out: {name}: {reason}", file=sys.stderr)
        jobs = plan(tables, chosen.rows, chosen.samplings, chosen.methods)
        run(jobs, records, interpreter(chosen.out / "environment"), chosen.cap)
    path = ROOT / "docs" / "results" / "peers.md"
    path.write_text(page(records.found.values()), encoding="utf-8")


if __name__ == "__main__":
    main()
