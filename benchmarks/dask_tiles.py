"""Measure what a tile costs a worker and a task the scheduler, and plan fits of 10^9 points.

``python -m benchmarks.dask_tiles`` measures both on one machine, checks them against a fit, and
predicts from them what fits of 10^6 to 10^9 points cost.
"""

import platform
import time
from collections import Counter
from dataclasses import dataclass, replace

import dask
import dask.array as da
import distributed
import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.core import blobs
from seraph import SERAPH
from seraph import _solvers as solvers
from seraph._engine import Settings
from seraph._engine._problem import Problem
from seraph._marks import PairLabels
from seraph._sweep import NumbaSweep, PairTerms, PointsInMemory
from seraph._sweep._chunks import ChunkedPoints, add_tree, compute, make_unique, persist
from seraph._sweep._dask import DaskSweep, cluster
from seraph._sweep._tasks import Request, add, sum_differences, sum_tile
from seraph._utils._threads import one_blas_thread

M, RANK = 64, 20  # features, and the rank that a fit starts with
UNLABELED = PairTerms(np.empty(0, dtype=np.intp), mu=0.1)
# Assumed, not measured: dollars per core-hour, and bytes that a core reads per second.
CORE_HOUR, READING = 0.05, 100e6


@dataclass
class Costs:
    """CPU seconds of one pair by factor or by metric, one sampled pair, one row and one task."""

    by_factor: float
    by_metric: float
    sampled: float
    row: float
    task: float = 0.0


def cpu(run, repeat=3):
    """Return the smallest CPU time of some runs, after one to warm up."""
    run()
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def costs_on_a_worker(dtype, side=8192, n_sampled=1 << 18):
    """Measure a pair of a tile, a sampled pair, and the moments of a row."""
    rng = np.random.default_rng(0)
    X, Y = ((rng.normal(size=(side, M)) / 8.0).astype(dtype) for _ in range(2))
    D = (rng.normal(size=(n_sampled + 1, M)) / 6.0).astype(dtype)
    P = 0.3 * rng.normal(size=(RANK, M))
    points = da.from_array(D, chunks=(n_sampled // 4, M))
    with one_blas_thread(), dask.config.set(scheduler="synchronous"):
        return Costs(
            *(
                cpu(lambda: sum_tile(Request(P, UNLABELED, wrt), 0, X, None, Y, None)) / side**2
                for wrt in ("factor", "metric")
            ),
            cpu(lambda: sum_differences(Request(P, UNLABELED, "factor"), D, 0, 1, 0.1))
            / n_sampled,
            cpu(lambda: ChunkedPoints.read(points)) / n_sampled,
        )


def _nothing(request, part, other):
    return 0.0, np.zeros_like(request.P)


def cost_of_a_task(n_parts=60):
    """Measure the CPU time of client, scheduler and worker for a tile with nothing to do."""
    (points,) = persist(da.zeros((n_parts, 1), chunks=1))
    tiles = [(a, b) for a in range(n_parts) for b in range(a, n_parts)]

    def run():
        name = make_unique("seraph-nothing")
        graph = dict(points.dask)
        graph[name] = Request(np.zeros((RANK, M)), UNLABELED, "factor")
        for a, b in tiles:
            graph[name, a, b] = (_nothing, name, (points.name, a, 0), (points.name, b, 0))
        keys = [(name, *both) for both in tiles]
        compute(graph, add_tree(graph, keys, add, make_unique("seraph-sum")))

    return cpu(run) / len(tiles)


class Counted:
    """A sweep that counts what its sums are differentiated by."""

    def __init__(self, X, kind):
        self.sweep, self.counts = kind(X), Counter()
        self.n_features, self.rounding = X.shape[1], self.sweep.rounding

    def __call__(self, P, terms, wrt):
        """Sweep, and count."""
        self.counts[wrt] += 1
        return self.sweep(P, terms, wrt)


def fit(n, kind):
    """Fit SERAPH; return CPU and wall seconds, the counts of its sweeps, and its objective."""
    X, y = blobs(n)
    points = PointsInMemory(X.astype(np.float32))
    problem = Problem.make(points, PairLabels.make(n, y), Settings(backend="numpy"))
    counted = Counted(problem.pairs.sweep.X, kind)
    problem = replace(problem, pairs=replace(problem.pairs, sweep=counted))
    start = problem.first_factor(None, narrow=True, eta=1.0)
    wall, used = time.perf_counter(), time.process_time()
    found = solvers.low_rank(
        problem.objective("auto"), start, max_iter=200, tol=1e-3, callback=lambda *_: None
    )
    wall, used = time.perf_counter() - wall, time.process_time() - used
    return used, wall, counted.counts, found.value


def samples(n=10_000):
    """Compare samples of the pairs with all, by the metric and by 1-NN errors."""
    X, y = blobs(n)
    classes = np.random.default_rng(0).integers(10, size=n)  # those of the blobs
    known = y >= 0

    def error(Z):
        nearest = KNeighborsClassifier(1).fit(Z[known], y[known])
        return 100 * (1 - nearest.score(Z[~known], classes[~known]))

    whole = SERAPH(shrinkage=0).fit(X, y)
    A = whole.get_mahalanobis_matrix()
    print(f"\nThe same {n} points: what a sample of the unlabeled pairs changes\n")
    print(f"{'pairs':>12}{'change of the metric':>22}{'1-NN error, %':>16}")
    print(f"{'(Euclidean)':>12}{'':>22}{error(X):>16.1f}\n{'all':>12}", end="")
    print(f"{'':>22}{error(whole.transform(X)):>16.1f}")
    for budget in (n // 10, n, 10 * n, 100 * n):
        learner = SERAPH(shrinkage=0, unlabeled_pairs=budget, random_state=0).fit(X, y)
        change = np.linalg.norm(learner.get_mahalanobis_matrix() - A) / np.linalg.norm(A)
        print(f"{budget:>12}{change:>22.2f}{error(learner.transform(X)):>16.1f}", flush=True)


def of_pairs(n, counts, costs):
    """Predict the CPU seconds of the tiles of all sweeps of a fit."""
    each = counts["factor"] * costs.by_factor + counts["metric"] * costs.by_metric
    return each * n * (n - 1) / 2


def plan(n, counts, costs, cores, budget=None):
    """Predict a fit of `n` points in single precision, with all pairs or a sample."""
    size, n_sweeps = 4 * M * n, sum(counts.values())
    if budget is None:
        parts = min(max(n / 8192, 8), 256)
        pairs, held, tasks = "all", size, parts * (parts + 1) / 2
        swept = of_pairs(n, counts, costs)
    else:
        pairs, held, tasks = f"{budget:.0e}", 4 * M * budget, max(256, M * budget / 2**25)
        swept = n_sweeps * budget * costs.sampled
    # Points are read once for the moments, and once to hold them or to sample from them.
    hours = (n * costs.row + 2 * size / READING + swept) / 3600
    wall = hours / cores + n_sweeps * tasks * costs.task / 3600
    print(
        f"{n:>8.0e}{pairs:>8}{size / 1e9:>9.1f}{held / 1e9:>10.1f}{tasks:>8.0f}"
        f"{swept / n_sweeps / 3600:>14.3g}{hours:>12.3g}{cores:>8}{wall:>8.2g}"
        f"{hours * CORE_HOUR:>12.2g}"
    )


def main():
    print(
        f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}, "
        f"dask {dask.__version__}, distributed {distributed.__version__}"
    )
    print(f"\nOne core, m = {M}, r = {RANK}: nanoseconds of CPU time\n")
    print(f"{'':>10}{'pair, d/dP':>14}{'pair, d/dA':>14}{'sampled pair':>14}{'moments, row':>14}")
    for dtype in (np.float64, np.float32):
        costs = costs_on_a_worker(dtype)
        figures = (costs.by_factor, costs.by_metric, costs.sampled, costs.row)
        print(f"{dtype.__name__:>10}" + "".join(f"{1e9 * x:>14.1f}" for x in figures), flush=True)

    with cluster(2), one_blas_thread():
        costs.task = cost_of_a_task()
        print(f"\nA task with nothing to do: {1e3 * costs.task:.2f} ms of CPU time, all together")
        n = 10_000
        print(f"\nTen Gaussian classes, {n} points, 100 labels, float32: seconds of a fit\n")
        head = f"{'':>8}{'CPU':>8}{'wall':>8}{'pairs alone':>14}{'sweeps: d/dP, d/dA':>22}"
        print(head + f"{'objective':>14}")
        for name, kind in (("numba", NumbaSweep), ("dask", DaskSweep)):
            used, wall, counts, value = fit(n, kind)
            by = f"{counts['factor']}, {counts['metric']}"
            predicted = of_pairs(n, counts, costs)
            print(f"{name:>8}{used:>8.1f}{wall:>8.1f}{predicted:>14.1f}{by:>22}{value:>14.4f}")

    samples()
    print(f"\nPlans: float32, m = {M}, as many sweeps as above. Assumed, not measured: a core")
    print(f"reads {READING / 1e6:.0f} MB a second and costs {CORE_HOUR} dollars an hour.\n")
    print(
        f"{'points':>8}{'pairs':>8}{'X, GB':>9}{'held, GB':>10}{'tasks':>8}{'core-h/sweep':>14}"
        f"{'core-h/fit':>12}{'cores':>8}{'hours':>8}{'dollars':>12}"
    )
    for n, cores, budget in [
        (10**6, 16, None),
        (10**7, 512, None),
        (10**7, 16, 10**7),
        (10**9, 10_000, None),
        (10**9, 128, 10**8),
    ]:
        plan(n, counts, costs, cores, budget)


if __name__ == "__main__":
    main()
