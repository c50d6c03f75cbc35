"""Fit each learner with one thread of BLAS and with the default number, and compare the times.

``python -m benchmarks.blas_threads [--points N] [--turns N]`` starts processes with
``OPENBLAS_NUM_THREADS=1`` and without it, in turns, and prints for each learner the least seconds
of the clock and of the CPU, and the ratios. Threads of BLAS that wait for each other cost seconds
of the CPU, on an idle machine and on a busy one; seconds of the clock mean little on a busy one.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, KernelSERAPH, classic

# A learner is fitted this often at least, and for as long as that in all: the least time of many
# short fits is steady.
REPEATS, SECONDS = 3, 1.0
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def learners():
    """Return all learners that take class labels, by name."""
    found = {"SERAPH": SERAPH(), "KernelSERAPH": KernelSERAPH()}
    for name in classic.__all__:
        found[name] = getattr(classic, name)()
    return found


def measure(n):
    """Print the least seconds of the clock and of the CPU of a fit, by learner."""
    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    found = {}
    for name, learner in learners().items():
        classes = np.where(np.arange(n) % 3 == 0, y[:n], -1) if "SERAPH" in name else y[:n]
        best, number, since = [np.inf, np.inf], 0, time.process_time()
        while number < REPEATS or time.process_time() - since < SECONDS:
            number += 1
            start = time.perf_counter(), time.process_time()
            learner.fit(X[:n], classes)
            now = time.perf_counter(), time.process_time()
            best = [min(b, e - s) for b, e, s in zip(best, now, start, strict=True)]
        found[name] = best
    print(json.dumps(found))


def run(environment, n):
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.blas_threads", "--points", str(n), "--measure"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--measure", action="store_true", help="measure in this process")
    options = parser.parse_args()
    if options.measure:
        measure(options.points)
        return
    free = {name: value for name, value in os.environ.items() if name not in THREADS}
    settings = {"one": {**free, **dict.fromkeys(THREADS, "1")}, "default": free}
    runs = {kind: [] for kind in settings}
    for _ in range(options.turns):
        for kind, environment in settings.items():
            runs[kind].append(run(environment, options.points))
    print(f"{'':>20}{'clock, one':>12}{'default':>10}{'CPU, one':>12}{'default':>10}{'ratio':>8}")
    worst = 0.0, ""
    for name in runs["one"][0]:
        one, default = (np.min([run[name] for run in runs[kind]], axis=0) for kind in settings)
        ratio = default[1] / one[1]
        worst = max(worst, (ratio, name))
        print(
            f"{name:>20}{one[0]:>12.3f}{default[0]:>10.3f}{one[1]:>12.3f}{default[1]:>10.3f}"
            f"{ratio:>8.2f}"
        )
    print(f"largest ratio of the CPU seconds: {worst[0]:.2f} ({worst[1]})")


if __name__ == "__main__":
    main()
