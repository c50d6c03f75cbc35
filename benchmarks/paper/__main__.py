"""Reproduce the tables and figures of Niu et al. (2012), from data that ships with the package.

An interrupted run resumes where it stopped. The same seed gives the same table, whatever the
number of jobs.
"""

import argparse
import sys
from pathlib import Path

from seraph.datasets import TASKS

from . import PARTS, Plan, claims, reproduce
from ._methods import IN_TABLE, METHODS
from ._protocol import SCALINGS
from ._tables import grid, to_markdown


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("part", choices=(*PARTS, "all"))
    parser.add_argument("--samplings", type=int, default=50, help="of each task; 50 by default")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS, metavar="NAME")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(IN_TABLE), metavar="NAME"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the samplings")
    parser.add_argument("--scaling", choices=SCALINGS, default="zscore", help="of UCI features")
    parser.add_argument("--out", type=Path, default=Path("reproduced"), help="folder of results")
    chosen = parser.parse_args(arguments)
    if chosen.samplings < 2:
        parser.error(f"--samplings must be 2 or more; got {chosen.samplings}")
    plan = Plan(
        tasks=tuple(chosen.tasks),
        methods=tuple(chosen.methods),
        samplings=chosen.samplings,
        seed=chosen.seed,
        scaling=chosen.scaling,
    )
    parts = PARTS if chosen.part == "all" else (chosen.part,)
    n_done = 0

    def watch(_):
        nonlocal n_done
        n_done += 1
        if sys.stderr.isatty():
            print(f"\r{n_done} of {plan.size()} fits", end="", file=sys.stderr)

    try:
        sizes, table, paths = reproduce(parts, plan, chosen.out, jobs=chosen.jobs, watch=watch)
    except ValueError as error:
        sys.exit(f"{parser.prog}: {error}")
    if n_done and sys.stderr.isatty():
        print(file=sys.stderr)
    if sizes is not None:
        print("Table 1: our numbers, and the paper's in brackets\n\n" + to_markdown(sizes))
    if table is not None:
        print("Table 2: error in % (the paper's, and the difference in standard errors)\n")
        print(to_markdown(grid(table, "{cell} ({paper}, {away})", bold="**{0}**")))
        if "hyper" in plan.methods:
            for claim, held, total, others in claims(table):
                without = f" (not: {', '.join(others)})" if others else ""
                print(f"SERAPH hyper: {claim}: {held} of {total}{without}")
    print(*paths, sep="\n")


if __name__ == "__main__":
    main()
