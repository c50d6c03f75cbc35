"""Measure the time and memory of SERAPH's defaults, against the plain formula and NCA.

``python -m benchmarks.core`` prints five tables; every ratio is measured within one run. With
names (``python -m benchmarks.core average``), only those: plain, average, selection, growth,
memory.
"""

import multiprocessing
import platform
import resource
import sys
import time
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks.plain_seraph import plain_seraph
from seraph import SERAPH, SERAPHCV, Marks, PairClassifier


def timed(run, repeat=1, clock=time.perf_counter):
    """Return the best time of `repeat` runs, and the last result."""
    best = np.inf
    for _ in range(repeat):
        start = clock()
        result = run()
        best = min(best, clock() - start)
    return best, result


def digits(n, rng):
    data = load_digits()
    rows = rng.permutation(len(data.data))[:n]
    y = data.target[rows].copy()
    y[n // 10 :] = -1
    return data.data[rows] / 16.0, y


def blobs(n, n_labels=100, m=64, seed=0):
    """Make n points of ten Gaussian classes in m dimensions, `n_labels` of them labeled."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(10, size=n)
    X = rng.normal(size=(10, m))[classes] + 1.5 * rng.normal(size=(n, m))
    return X / np.sqrt(m), np.where(np.arange(n) < n_labels, classes, -1)


def against_the_plain_formula():
    print("Digits, [0, 1] pixels, 10% labeled: seconds to fit, and the objective (7) reached\n")
    head = f"{'n':>6}{'lam':>8}{'plain':>10}{'SERAPH':>10}{'ratio':>8}{'NCA':>10}"
    print(head + f"{'plain':>14}{'SERAPH':>12}{'steps':>8}")
    for n in (200, 400, 1000):
        X, y = digits(n, np.random.default_rng(0))
        for lam in ("auto", 1.0):
            fast, learner = timed(lambda: SERAPH(shrinkage=0, lam=lam).fit(X, y), repeat=3)
            slow, (_, value) = timed(lambda: plain_seraph(X, y, learner.mu_, learner.lam_))
            nca, _ = timed(lambda: NeighborhoodComponentsAnalysis().fit(X[y >= 0], y[y >= 0]))
            print(
                f"{n:>6}{lam!s:>8}{slow:>10.3f}{fast:>10.3f}{slow / fast:>7.1f}x{nca:>10.3f}"
                f"{value:>14.4f}{learner.objective_:>12.4f}{learner.n_iter_:>8}",
                flush=True,
            )


def average():
    print("\nThe default, which averages the metrics of three weights, against shrinkage=0: CPU")
    print("seconds, the least of three; and how far the metric handed out is from a strict one\n")
    print(f"{'':8}{'n':>6}{'alone':>10}{'default':>10}{'ratio':>8}{'error':>8}")
    rng = np.random.default_rng(0)
    sets = [("digits", *digits(n, rng)) for n in (100, 200, 400, 1000)]
    sets += [("blobs", *blobs(n)) for n in (300, 1000, 2000, 4000, 8000)]
    for name, X, y in sets:
        alone = default = np.inf
        for _ in range(3):
            one, _ = timed(lambda: SERAPH(shrinkage=0).fit(X, y), clock=time.process_time)
            both, learner = timed(lambda: SERAPH().fit(X, y), clock=time.process_time)
            alone, default = min(alone, one), min(default, both)
        error = ""
        if len(X) <= 1000:
            strict = SERAPH(tol=1e-5, max_iter=2000).fit(X, y).get_mahalanobis_matrix()
            off = np.linalg.norm(learner.get_mahalanobis_matrix() - strict)
            error = f"{off / np.linalg.norm(strict):.3f}"
        print(
            f"{name:8}{len(X):>6}{alone:>10.3f}{default:>10.3f}{default / alone:>7.2f}x{error:>8}",
            flush=True,
        )


def selection():
    from seraph._apps.cli._held_out import held_out_errors

    print(
        "\nFive folds and the fit of all points, in units of that fit (CPU seconds, the least of"
    )
    print("two): SERAPHCV has seven weights a fold; the check of `seraph fit` has no last fit\n")
    print(f"{'':8}{'n':>6}{'m':>5}{'labels':>8}{'fit':>8}{'SERAPHCV':>10}", end="")
    print(f"{'PairClassifier':>16}{'of marks':>10}{'check':>8}")
    for n, m, n_labels in ((500, 2, 100), (1000, 10, 100), (2000, 64, 100), (5000, 64, 100),
                           (1000, 10, 1000), (3000, 10, 3000)):  # fmt: skip
        X, y = blobs(n, n_labels, m)
        rng = np.random.default_rng(0)
        pairs = np.array([rng.choice(n_labels, 2, replace=False) for _ in range(200)])
        marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=n)
        runs = {
            "fit": lambda: SERAPH().fit(X, y),
            "fit of marks": lambda: SERAPH().fit(X, marks=marks),
            "SERAPHCV": lambda: SERAPHCV().fit(X, y),
            "PairClassifier": lambda: PairClassifier().fit(X, y),
            "of marks": lambda: PairClassifier().fit(X, marks=marks),
            "check": lambda: held_out_errors(
                SERAPH(), X, y, Marks(rows=n), seed=0, after_fold=lambda: None
            ),
        }
        if n_labels == n:
            del runs["SERAPHCV"]  # nothing to leave out: minutes
        took = {name: timed(run, 2, time.process_time)[0] for name, run in runs.items()}
        took["of marks"] *= took["fit"] / took["fit of marks"]
        units = {name: f"{seconds / took['fit']:.1f}" for name, seconds in took.items()}
        print(
            f"blobs   {n:>6}{m:>5}{n_labels:>8}{took['fit']:>8.2f}{units.get('SERAPHCV', ''):>10}"
            f"{units['PairClassifier']:>16}{units['of marks']:>10}{units['check']:>8}",
            flush=True,
        )


def growth():
    print("\nTen Gaussian classes, m = 64, 100 labels: CPU seconds, and the growth exponent\n")
    print(f"{'n':>8}{'fit':>10}{'iterations':>12}{'each':>12}{'exponent':>10}")
    last = None
    for n in (1000, 2000, 4000, 8000):
        X, y = blobs(n)
        seconds, learner = timed(lambda: SERAPH(shrinkage=0).fit(X, y), clock=time.process_time)
        each = seconds / learner.n_iter_
        exponent = "" if last is None else f"{np.log2(each / last):.2f}"
        print(
            f"{n:>8}{seconds:>10.2f}{learner.n_iter_:>12}{each:>12.4f}{exponent:>10}", flush=True
        )
        last = each


def _peak(n, pipe):
    X, y = blobs(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds, learner = timed(lambda: SERAPH(shrinkage=0).fit(X, y))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pipe.send((before, after, seconds, learner.n_iter_))


def memory(n=20_000):
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_peak, args=(n, theirs))
    process.start()
    before, after, seconds, n_iter = ours.recv()
    process.join()
    print(
        f"\nn = {n}, m = 64: peak memory {after:.0f} MB ({before:.0f} MB before the fit; one "
        f"dense n x n array would be {8 * n * n / 1e6:.0f} MB); "
        f"{seconds:.1f} s, {n_iter} iterations"
    )


def main():
    warnings.simplefilter("ignore", ConvergenceWarning)
    versions = f"numpy {np.__version__}, scikit-learn {sklearn.__version__}"
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}\n")
    parts = {
        "plain": against_the_plain_formula,
        "average": average,
        "selection": selection,
        "growth": growth,
        "memory": memory,
    }
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
