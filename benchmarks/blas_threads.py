"""Fit each learner with one thread of BLAS and with the default number, and compare the times.

``python -m benchmarks.blas_threads [--points N] [--seconds S]`` fits by turns with a limit of one
thread (which is what ``OPENBLAS_NUM_THREADS=1`` sets) and without, and prints for each learner the
least seconds of the clock and of the CPU, and the ratio. Threads of BLAS that wait for each other
cost seconds of the CPU, on an idle machine and on a busy one; seconds of the clock mean little on
a busy one. Do not set the variables that limit threads.
"""

import argparse
import os
import sys
import time
import warnings
from contextlib import nullcontext

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from seraph import SERAPH, KernelSERAPH, classic

# Each learner is fitted this often in either way, at least.
REPEATS = 5
VARIABLES = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def learners():
    """Return all learners that take class labels, by name."""
    found = {"SERAPH": SERAPH(), "KernelSERAPH": KernelSERAPH()}
    for name in classic.__all__:
        found[name] = getattr(classic, name)()
    return found


def timed(learner, X, y, limit):
    """Return the seconds of the clock and of the CPU of a fit."""
    with limit:
        start = time.perf_counter(), time.process_time()
        learner.fit(X, y)
        now = time.perf_counter(), time.process_time()
    return [end - begin for begin, end in zip(start, now, strict=True)]


def compare(learner, X, y, seconds):
    """Return the least times with one thread and with the default number."""
    found = {"one": [], "default": []}
    learner.fit(X, y)
    since = time.process_time()
    while len(found["one"]) < REPEATS or time.process_time() - since < seconds:
        found["one"].append(timed(learner, X, y, threadpool_limits(1)))
        found["default"].append(timed(learner, X, y, nullcontext()))
    return [np.min(times, axis=0) for times in found.values()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=2.0, help="for each learner, at least")
    options = parser.parse_args()
    limited = [name for name in VARIABLES if name in os.environ]
    if limited:
        sys.exit(f"{', '.join(limited)} is set: there is no other number of threads to compare.")
    warnings.simplefilter("ignore")
    n = options.points
    X, y = load_digits(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[:n], y[:n]
    print(f"{'':>20}{'clock, one':>12}{'default':>10}{'CPU, one':>12}{'default':>10}{'ratio':>8}")
    worst = 0.0, ""
    for name, learner in learners().items():
        classes = np.where(np.arange(n) % 3 == 0, y, -1) if "SERAPH" in name else y
        one, default = compare(learner, X, classes, options.seconds)
        ratio = default[1] / one[1]
        worst = max(worst, (ratio, name))
        print(
            f"{name:>20}{one[0]:>12.4f}{default[0]:>10.4f}{one[1]:>12.4f}{default[1]:>10.4f}"
            f"{ratio:>8.2f}",
            flush=True,
        )
    print(f"largest ratio of the CPU seconds: {worst[0]:.2f} ({worst[1]})")


if __name__ == "__main__":
    main()
