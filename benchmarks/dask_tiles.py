"""What a tile costs a worker, what a task costs the scheduler, and what that makes of 10^9 points.

``python -m benchmarks.dask_tiles`` measures both on one machine, checks them against a fit, and
plans fits of 10^7 and 10^9 points by them.
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
from seraph._pairs import PairLabels
from seraph._sweep import NumbaSweep, PairTerms, PointsInMemory, one_blas_thread
from seraph._sweep._chunks import ChunkedPoints, compute, persist, tree, unique
from seraph._sweep._dask import DaskSweep, cluster
from seraph._sweep._tasks import Question, drawn, tile, total

M, RANK = 64, 20  # the rank that a fit starts with
UNLABELED = PairTerms(np.empty(0, dtype=np.intp), mu=0.1)
# Not measured: dollars for an hour of a core, and bytes that a core reads in a second.
CORE_HOUR, READING = 0.05, 100e6


@dataclass
class Costs:
    """CPU seconds of a core for one of each."""

    by_factor: float
    by_metric: float
    drawn: float
    row: float
    task: float = 0.0


def cpu(run, repeat=3):
    """Least CPU seconds of some runs, after one to warm up."""
    run()
    best = np.inf
    for _ in range(repeat):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def costs_on_a_worker(dtype, side=8192, n_drawn=1 << 18):
    """A pair of a tile, a drawn pair, and a row of which the moments are taken."""
    rng = np.random.default_rng(0)
    X, Y = ((rng.normal(size=(side, M)) / 8.0).astype(dtype) for _ in range(2))
    D = (rng.normal(size=(n_drawn + 1, M)) / 6.0).astype(dtype)
    P = 0.3 * rng.normal(size=(RANK, M))
    points = da.from_array(D, chunks=(n_drawn // 4, M))
    with one_blas_thread(), dask.config.set(scheduler="synchronous"):
        return Costs(
            *(
                cpu(lambda: tile(Question(P, UNLABELED, wrt), X, None, Y, None)) / side**2
                for wrt in ("factor", "metric")
            ),
            cpu(lambda: drawn(Question(P, UNLABELED, "factor", 5.0), D)) / n_drawn,
            cpu(lambda: ChunkedPoints.read(points)) / n_drawn,
        )


def _nothing(question, part, other):
    return 0.0, np.zeros_like(question.P)


def cost_of_a_task(n_parts=60):
    """CPU seconds of client, scheduler and worker together for a tile with nothing to do."""
    (points,) = persist(da.zeros((n_parts, 1), chunks=1))
    tiles = [(a, b) for a in range(n_parts) for b in range(a, n_parts)]

    def run():
        name = unique("seraph-nothing")
        graph = dict(points.dask)
        graph[name] = Question(np.zeros((RANK, M)), UNLABELED, "factor")
        for a, b in tiles:
            graph[name, a, b] = (_nothing, name, (points.name, a, 0), (points.name, b, 0))
        keys = [(name, *both) for both in tiles]
        compute(graph, tree(graph, keys, total, unique("seraph-sum")))

    return cpu(run) / len(tiles)


class Counted:
    """A sweep that counts by what its sums are differentiated."""

    def __init__(self, X, kind):
        self.sweep, self.counts = kind(X), Counter()
        self.n_features = X.shape[1]

    def __call__(self, P, terms, wrt):
        """As the sweep itself."""
        self.counts[wrt] += 1
        return self.sweep(P, terms, wrt)


def fit(n, kind):
    """CPU and wall seconds of SERAPH's default fit, the counts of its sweeps, its objective."""
    X, y = blobs(n)
    points = PointsInMemory(X.astype(np.float32))
    problem = Problem.make(points, PairLabels.make(n, y), Settings(backend="numpy"))
    problem = replace(problem, sweep=Counted(problem.sweep.X, kind))
    start = problem.first_factor(None, narrow=True, eta=1.0)
    wall, used = time.perf_counter(), time.process_time()
    found = solvers.low_rank(
        problem.objective("auto"), start, max_iter=200, tol=1e-3, callback=lambda step, P: None
    )
    wall, used = time.perf_counter() - wall, time.process_time() - used
    return used, wall, problem.sweep.counts, found.value


def draws(n=10_000):
    """How far a draw of the pairs is from all, in the metric and in 1-NN errors."""
    X, y = blobs(n)
    classes = np.random.default_rng(0).integers(10, size=n)  # those of the blobs
    known = y >= 0

    def error(Z):
        nearest = KNeighborsClassifier(1).fit(Z[known], y[known])
        return 100 * (1 - nearest.score(Z[~known], classes[~known]))

    whole = SERAPH().fit(X, y)
    A = whole.get_mahalanobis_matrix()
    print(f"\nThe same {n} points: what a draw of the unlabelled pairs changes\n")
    print(f"{'pairs':>12}{'change of the metric':>22}{'1-NN error, %':>16}")
    print(f"{'(Euclidean)':>12}{'':>22}{error(X):>16.1f}\n{'all':>12}", end="")
    print(f"{'':>22}{error(whole.transform(X)):>16.1f}")
    for budget in (n // 10, n, 10 * n, 100 * n):
        learner = SERAPH(unlabeled_pairs=budget, random_state=0).fit(X, y)
        change = np.linalg.norm(learner.get_mahalanobis_matrix() - A) / np.linalg.norm(A)
        print(f"{budget:>12}{change:>22.2f}{error(learner.transform(X)):>16.1f}", flush=True)


def of_pairs(n, counts, costs):
    """CPU seconds of the tiles of all sweeps of a fit."""
    each = counts["factor"] * costs.by_factor + counts["metric"] * costs.by_metric
    return each * n * (n - 1) / 2


def plan(n, counts, costs, cores, budget=None):
    """A line on a fit of `n` points in single precision, of all pairs or of a draw."""
    size, n_sweeps = 4 * M * n, sum(counts.values())
    if budget is None:
        parts = min(max(n / 8192, 8), 256)
        pairs, held, tasks = "all", size, parts * (parts + 1) / 2
        swept = of_pairs(n, counts, costs)
    else:
        pairs, held, tasks = f"{budget:.0e}", 4 * M * budget, max(256, M * budget / 2**25)
        swept = n_sweeps * budget * costs.drawn
    # Read for the moments, and once more to be held or to be drawn from.
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
    print(f"{'':>10}{'pair, d/dP':>14}{'pair, d/dA':>14}{'drawn pair':>14}{'moments, row':>14}")
    for dtype in (np.float64, np.float32):
        costs = costs_on_a_worker(dtype)
        figures = (costs.by_factor, costs.by_metric, costs.drawn, costs.row)
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
            told = of_pairs(n, counts, costs)
            print(f"{name:>8}{used:>8.1f}{wall:>8.1f}{told:>14.1f}{by:>22}{value:>14.4f}")

    draws()
    print(f"\nPlans: float32, m = {M}, as many sweeps as above. Taken, not measured: a core reads")
    print(f"{READING / 1e6:.0f} MB a second and costs {CORE_HOUR} dollars an hour.\n")
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
