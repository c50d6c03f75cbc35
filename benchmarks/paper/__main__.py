"""Reproduce the tables and figures of Niu et al. (2012).

First ``python -m benchmarks.paper fetch`` gets the data that a clone does not hold. An interrupted
run resumes where it stopped. The same seed gives the same table, whatever the number of jobs.
"""

import argparse
import sys
from pathlib import Path

from . import PARTS, Plan, claims, reproduce
from ._data import TASKS
from ._fetch import fetch
from ._methods import METHODS
from ._pages import write_pages
from ._protocol import SCALINGS
from ._tables import grid, to_markdown


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument(
        "part", choices=(*PARTS, "all", "fetch"), help="fetch: the data that a clone lacks"
    )
    parser.add_argument("--samplings", type=int, default=50, help="of each task; 50 by default")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, metavar="NAME")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the samplings")
    parser.add_argument("--scaling", choices=SCALINGS, default="zscore", help="of UCI features")
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder of results")
    parser.add_argument("--pages", action="store_true", help="fill the pages from --out")
    chosen = parser.parse_args(arguments)
    if chosen.part == "fetch":
        return fetch()
    if chosen.samplings < 2:
        parser.error(f"--samplings must be 2 or more; got {chosen.samplings}")
    what = tuple(chosen.tasks), tuple(chosen.methods), chosen.samplings
    plan = Plan(*what, seed=chosen.seed, scaling=chosen.scaling)
    parts = PARTS if chosen.part == "all" else (chosen.part,)
    n_done = 0

    def watch(_):
        nonlocal n_done
        n_done += 1
        if sys.stderr.isatty():
            print(f"\r{n_done} of {plan.size()} fits", end="", file=sys.stderr)

    try:
        sizes, table, paths = reproduce(parts, plan, chosen.out, jobs=chosen.jobs, watch=watch)
        if chosen.pages:
            write_pages(chosen.out, chosen.seed)
    except ValueError as error:
        sys.exit(f"{parser.prog}: {error}")
    if n_done and sys.stderr.isatty():
        print(file=sys.stderr)
    if sizes is not None:
        print("Table 1: our numbers, and the paper's in brackets\n\n" + to_markdown(sizes))
    if table is not None:
        print("Table 2: error in % (the paper's, and the difference in standard errors)\n")
        print(to_markdown(grid(table)))
        for row in (row for row in ("hyper", "seraph") if row in plan.methods):
            for claim, held, total, others in claims(table, row):
                without = f" (not: {', '.join(others)})" if others else ""
                print(f"{METHODS[row][0]}: {claim}: {held} of {total}{without}")
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
