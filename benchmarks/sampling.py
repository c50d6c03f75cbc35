"""SERAPH on a sample of the unlabeled pairs: how much error it costs and how much time it saves.

``python -m benchmarks.sampling [samplings] [--draw FILE]`` fits 200,000 points, measures the
cost of a pair, and prints 1-NN errors on USPS digits by the number of sampled pairs. Neighbors
are the labeled points; all numbers of pairs are tried on the same samplings. ``--draw`` plots
the errors.
"""

import argparse
import multiprocessing
import resource
import time
import warnings
from dataclasses import dataclass, replace

import numpy as np
from joblib import Parallel, delayed

from benchmarks.core import blobs, timed
from benchmarks.paper._protocol import sample_task
from seraph import SERAPH
from seraph._sweep import NumbaSweep, NumpySweep, PairTerms, Plan
from seraph._utils._threads import one_blas_thread
from seraph.datasets import load_task

# Task, training points (None for the number in the paper), and its share of the samplings.
TASKS = [
    ("usps-1-5-20", None, 1.0),
    ("usps-1-5-40", None, 1.0),
    ("usps-1-10-20", None, 1.0),
    ("usps-1-10-40", None, 1.0),
    ("usps-1-10-40", 2000, 1.0),
    ("usps-1-10-40", 8000, 0.24),
]
# Sampled pairs per point; NONE is mu = 0, and ALL does not sample.
NONE, ALL = 0.0, np.inf
BUDGETS = (NONE, 0.2, 1, 5, 20, 50, 100, ALL)
# Points, labels and pairs of the large fit.
LARGE = (200_000, 1000, 2_000_000)


@dataclass(frozen=True)
class Errors:
    """Measurements on one task; arrays have a row per sampling and a column per budget.

    Parameters
    ----------
    title : str
        The task.
    n, n_labels, n_unlabeled : int
        Number of training points, of labels and of unlabeled pairs.
    budgets : ndarray
        Sampled pairs per point.
    error, seconds : ndarray
        1-NN error in %, and CPU seconds of the fit.
    """

    title: str
    n: int
    n_labels: int
    n_unlabeled: int
    budgets: np.ndarray
    error: np.ndarray
    seconds: np.ndarray

    def pairs(self):
        """Return the number of pairs of each budget."""
        return np.minimum(np.round(self.budgets * self.n), self.n_unlabeled).astype(int)

    def standard_error(self):
        """Return the standard error of the mean error with all pairs, the last column."""
        return mean(self.error[:, -1])[1]

    def difference(self):
        """Compare with all pairs on the same sampling: means and standard errors."""
        return mean(self.error - self.error[:, -1:])


def mean(values):
    """Return the mean over the samplings and its standard error."""
    return values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(len(values))


def error_and_seconds(sampling, budget, seed):
    some = {"mu": 0.0} if budget == NONE else {}
    if 0 < budget < ALL:
        some = {"unlabeled_pairs": round(budget * len(sampling.X)), "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few pairs may leave a metric of rank 0
        seconds, learner = timed(
            lambda: SERAPH(shrinkage=0, **some).fit(sampling.X, sampling.y_partial),
            clock=time.process_time,
        )
    return sampling.nearest_neighbor_error(learner), seconds


def measure(name, n, samplings):
    task = load_task(name)
    if n is not None:
        task = replace(task, n_train=n)
    n, k = task.n_train, task.n_labels
    n_unlabeled = n * (n - 1) // 2 - k * (k - 1) // 2
    # Leave out samples of more pairs than there are.
    budgets = [b for b in BUDGETS if b == ALL or b * n < n_unlabeled]

    def one(number):
        sampling = sample_task(task, seed=0, number=number)
        return [error_and_seconds(sampling, budget, number) for budget in budgets]

    found = np.array(Parallel(n_jobs=-1)(delayed(one)(number) for number in range(samplings)))
    title = f"{task.title.partition(',')[0]}, {k} labels"
    return Errors(title, n, k, n_unlabeled, np.array(budgets), found[..., 0], found[..., 1])


def show(errors):
    print(
        f"\n{errors.title}, n = {errors.n:,}: {errors.n_unlabeled:,} unlabeled pairs, "
        f"{len(errors.error)} samplings\n"
    )
    print(
        f"{'pairs':>8}{'number':>12}{'share':>9}{'error':>16}{'minus that of all':>20}"
        f"{'seconds':>10}   within one s.e. of all"
    )
    (error, spread), (excess, own) = mean(errors.error), errors.difference()
    for k, (budget, pairs) in enumerate(zip(errors.budgets, errors.pairs(), strict=True)):
        name = {NONE: "none", ALL: "all"}.get(budget, f"{budget:g} n")
        within = "" if budget == ALL else abs(excess[k]) <= errors.standard_error()
        print(
            f"{name:>8}{pairs:>12,}{pairs / errors.n_unlabeled:>9.2%}"
            f"{error[k]:>9.2f} ± {spread[k]:.2f}{excess[k]:>+13.2f} ± {own[k]:.2f}"
            f"{np.median(errors.seconds[:, k]):>10.2f}   "
            + {True: "yes", False: "no", "": ""}[within],
            flush=True,
        )


def draw_picture(all_errors, path):
    """Plot error and seconds against the number of sampled pairs, one line per task."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    from seraph._utils._colors import COLORS, MARKERS

    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for color, marker, errors in zip(COLORS, MARKERS, all_errors, strict=False):
        sampled = (errors.budgets > NONE) & (errors.budgets < ALL)
        excess, own = errors.difference()
        style = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.2}
        label = f"{errors.title}, n = {errors.n:,}"
        left.errorbar(errors.budgets[sampled], excess[sampled], own[sampled], label=label, **style)
        per_point, seconds = errors.pairs() / errors.n, np.median(errors.seconds, axis=0)
        right.plot(per_point[sampled], seconds[sampled], **style)
        # All pairs are shown apart: they are swept in tiles, not sampled.
        right.plot(per_point[-2:], seconds[-2:], color=color, linestyle=":", linewidth=1.2)
        right.plot(per_point[-1], seconds[-1], marker, color=color, mfc="white", markersize=8)
    left.axhline(0.0, color="0.4", linewidth=0.8)
    left.set(ylabel="1-NN error minus that of all pairs (percentage points)")
    left.legend(fontsize=9, frameon=False)
    right.set(ylabel="CPU seconds of a fit (white: all pairs)", yscale="log")
    right.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    for axes in (left, right):
        axes.set(xscale="log", xlabel="unlabeled pairs per point")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
        axes.spines[["top", "right"]].set_visible(False)
    left.set_xticks([b for b in BUDGETS if NONE < b < ALL], minor=False)
    left.minorticks_off()
    figure.savefig(path, dpi=150)


def _large(pipe):
    n, n_labels, budget = LARGE
    X, y = blobs(n, n_labels)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    learner = SERAPH(shrinkage=0, unlabeled_pairs=budget, n_jobs=2, random_state=0)
    seconds, _ = timed(lambda: learner.fit(X, y))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send((seconds, before, after, learner.n_iter_, learner.converged_, learner.backend_))


def large():
    """Measure time and peak memory of a fit of many points, in a separate process."""
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_large, args=(theirs,))
    process.start()
    seconds, before, after, n_iter, converged, backend = ours.recv()
    process.join()
    n, n_labels, budget = LARGE
    print(
        f"n = {n:,}, m = 64, {n_labels:,} labels, {budget:,} of {n * (n - 1) // 2:,} pairs, "
        f"{backend}, 2 threads:\n{seconds:.1f} s, {n_iter} iterations "
        f"({'' if converged else 'not '}converged), peak memory {after:.0f} MB "
        f"({before:.0f} MB before the fit)",
        flush=True,
    )


def cost_of_a_pair(n=8000, m=64, r=20, budget=400_000):
    """Measure the CPU time of a sweep on one thread per pair, of all pairs and of sampled ones."""
    print(f"\nNanoseconds per pair, n = {n:,}, m = {m}, r = {r}, {budget:,} sampled pairs\n")
    print(f"{'backend':>8}{'':>9}{'all':>8}{'sample':>8}{'ratio':>8}")
    X, P = blobs(n, m=m)[0], np.eye(r, m)
    terms = PairTerms(np.empty(0, dtype=int), mu=0.01)
    plan = Plan.for_list(n, 0, terms.pairs, budget, np.random.RandomState(0))
    some = replace(terms, plan=plan)
    for backend in (NumpySweep, NumbaSweep):
        for dtype in (np.float64, np.float32):
            sweep = backend(X.astype(dtype))
            cost = []
            for which, pairs in ((terms, n * (n - 1) / 2), (some, budget)):
                with one_blas_thread():
                    seconds, _ = timed(
                        lambda: sweep(P, which, "factor"), repeat=5, clock=time.process_time
                    )
                cost.append(1e9 * seconds / pairs)
            print(
                f"{sweep.name:>8}{dtype.__name__:>9}{cost[0]:>8.1f}{cost[1]:>8.1f}"
                f"{cost[1] / cost[0]:>8.1f}",
                flush=True,
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("samplings", nargs="?", type=int, default=50)
    parser.add_argument("--draw", metavar="FILE", help="plot the errors to this file")
    arguments = parser.parse_args()
    large()
    cost_of_a_pair()
    print("\n1-NN error in %, mean and standard error; seconds: median CPU time of a fit")
    found = []
    for name, n, share in TASKS:
        found.append(measure(name, n, max(2, round(share * arguments.samplings))))
        show(found[-1])
    if arguments.draw:
        draw_picture(found, arguments.draw)


if __name__ == "__main__":
    main()
