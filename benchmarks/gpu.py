"""Time sweeps and a whole fit on a CUDA device, and measure their errors.

Run with ``python -m benchmarks.gpu``; times are medians, from device events. ``python -m
benchmarks.gpu mirrored`` compares the kernel that computes each pair once with the one that
computes it from both ends, in several shapes; ``python -m benchmarks.gpu wide`` profiles a fit of
768 features.
"""

# ruff: noqa: SLF001
from __future__ import annotations

import cProfile
import pstats
import sys
import time
from dataclasses import replace

import numpy as np
import torch

from seraph import SERAPH
from seraph._sweep import NumpySweep, PairTerms, Posterior
from seraph._sweep import _triton as kernels
from seraph._sweep._torch import TorchSweep


def points(n: int, m: int, seed: int = 0) -> np.ndarray:
    """Sample points of ten overlapping classes, with a mean squared distance of about 1."""
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(10, m))
    X = centers[rng.integers(10, size=n)] + rng.normal(size=(n, m))
    return (X / np.sqrt(4.0 * m)).astype(np.float32)


def factor(r: int, m: int, seed: int = 1) -> np.ndarray:
    """Make a factor under which the mean squared distance stays about 1."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(m, m)))[0][:r] * np.sqrt(m / r)


def milliseconds(call, repeats: int) -> float:
    call()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return float(np.median(times))


def relative(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def errors(n: int = 20_000) -> None:
    """Print relative errors of value and gradient against plain tiles in double precision."""
    rng = np.random.default_rng(2)
    print(f"error against float64, n = {n}: value, by factor, by metric")
    for r, m in [(16, 64), (64, 64), (100, 128)]:
        X, P = points(n, m), factor(r, m)
        single, double = TorchSweep(X, "cuda"), TorchSweep(X.astype(np.float64), "cuda")
        sources = {"entropy": None, "M-step": Posterior(1.1 * P), "first M-step": Posterior()}
        for name, q in sources.items():
            terms = PairTerms(rng.integers(10, size=1000), mu=0.01, q=q)
            found = {}
            for wrt in ("factor", "metric"):
                value, gradient = single(P, terms, wrt)
                exact, expected = double(P, terms, wrt)
                found[wrt] = relative(gradient, expected)
            print(
                f"  r = {r:3d}, m = {m:3d}, {name:13s} {abs(value - exact) / abs(exact):.1e}  "
                f"{found['factor']:.1e}  {found['metric']:.1e}",
                flush=True,
            )


def sweeps() -> None:
    """Print the time of one sweep."""
    for n, r, m, kind, repeats in [
        (100_000, 16, 64, "factor", 20),
        (100_000, 20, 64, "factor", 20),
        (100_000, 64, 64, "factor", 20),
        (100_000, 64, 64, "metric", 20),
        (1_000_000, 16, 64, "factor", 3),
        (1_000_000, 64, 64, "factor", 3),
        (100_000, 20, 784, "factor", 5),
        (100_000, 20, 784, "metric", 3),
        (20_000, 1024, 1024, "factor", 3),
        (100_000, 20, 64, "double", 3),
        (100_000, 16, 64, "sample", 20),
        (1_000_000, 16, 64, "sample", 5),
    ]:
        X, wrt = points(n, m), kind if kind in ("factor", "metric") else "factor"
        sweep, P = TorchSweep(X.astype(float) if kind == "double" else X, "cuda"), factor(r, m)
        terms = PairTerms(np.random.default_rng(3).integers(10, size=1000), mu=0.01)
        if kind == "sample":
            terms = replace(terms, share=sweep.shares(terms)[0])
        ms = milliseconds(lambda: sweep(P, terms, wrt), repeats)
        print(
            f"sweep n = {n:9,d}, r = {r:4d}, m = {m:4d}, by {wrt}, {sweep.X.dtype}, "
            f"share {terms.share:.3f}: {ms:10.1f} ms",
            flush=True,
        )


def classes(n: int, m: int, n_labels: int = 1000, n_classes: int = 10):
    """Sample points of Gaussian classes in float32, some of them labeled."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(n_classes, m)).astype(np.float32)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, m)).astype(np.float32)
    X *= 1.5
    X += centers[y]
    return X, np.where(np.arange(n) < n_labels, y, -1)


def timed_fit(what: str, X, y) -> SERAPH:
    """Fit with the default settings, twice: the first time may include compiling."""
    seconds = []
    learners = []
    for _ in range(2):
        start = time.perf_counter()
        learners.append(SERAPH(shrinkage=0).fit(X, y))
        seconds.append(time.perf_counter() - start)
    learner = learners[-1]
    equal = np.array_equal(learners[0].components_, learner.components_)
    whole = int(np.sum(learner.history_["share"] == 1.0))
    print(
        f"fit, {what}, n = {X.shape[0]:9,d}, m = {X.shape[1]:3d}: {seconds[1]:6.2f} s (first "
        f"{seconds[0]:.2f}), {whole} of {learner.n_iter_} iterations over all pairs, rank "
        f"{len(learner.components_)}, gap {learner.optimality_gap_:.1e}, converged "
        f"{learner.converged_}, bit-equal {equal}, {learner.device_}",
        flush=True,
    )
    return learner


def fits() -> None:
    """Time whole fits with the default settings, 1,000 labels."""
    for n, m, n_classes in [
        (100_000, 64, 10),
        (100_000, 384, 12),
        (100_000, 768, 10),
        (1_000_000, 64, 10),
    ]:
        X, y = classes(n, m, n_classes=n_classes)
        timed_fit("float32", X, y)
    X, y = classes(100_000, 64)
    timed_fit("float64", X.astype(float), y)
    timed_fit("tensor ", torch.tensor(X).cuda(), y)
    small = SERAPH(shrinkage=0, backend="numpy").fit(X[:3000].astype(np.float64), y[:3000])
    same = SERAPH(shrinkage=0, backend="torch", device="cuda").fit(X[:3000], y[:3000])
    A, B = (s.get_mahalanobis_matrix() for s in (small, same))
    print(f"metric of 3,000 points against numpy in float64: {relative(B, A):.1e}", flush=True)


def parity() -> None:
    """Compare small problems with numpy, in all settings."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for n, k, r in [(300, 40, 2), (1000, 0, 20), (700, 700, 64), (130, 129, 5)]:
        X = rng.normal(size=(n, 64)).astype(np.float32) / 11.0
        pairs = np.array([[0, n - 3], [n - 4, n - 1]])[: 2 if k < n - 4 else 0]
        for q in (None, Posterior(), Posterior(factor(3, 64))):
            for mu in (0.0, 0.3):
                terms = PairTerms(
                    rng.integers(3, size=k),
                    pairs,
                    np.array([True, False])[: len(pairs)],
                    1.3,
                    mu,
                    q,
                )
                for wrt in ("factor", "metric", "threshold"):
                    value, gradient = TorchSweep(X, "cuda")(factor(r, 64), terms, wrt)
                    exact, expected = NumpySweep(X.astype(np.float64))(factor(r, 64), terms, wrt)
                    if k < 2 and mu == 0.0 and not len(pairs):
                        continue
                    error = max(abs(value / exact - 1.0), relative(gradient, expected))
                    worst = max(worst, error)
                    if error > 1e-5:
                        print("  above 1e-5:", n, k, r, q, mu, wrt, error)
    print(f"largest relative error of small problems against numpy: {worst:.1e}", flush=True)


def little_memory() -> None:
    """Sweep in double precision where tiles of the usual size do not fit into memory."""
    X, P = points(40_000, 64).astype(np.float64), factor(20, 64)
    terms = PairTerms(np.empty(0, dtype=int), mu=0.01)
    expected = TorchSweep(X, "cuda")(P, terms, "factor")[1]
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(1e9 / total)
    sweep = TorchSweep(X, "cuda")
    before = sweep.tile
    gradient = sweep(P, terms, "factor")[1]
    torch.cuda.set_per_process_memory_fraction(1.0)
    print(
        f"with 1 GB of memory: tiles of {before} became tiles of {sweep.tile}, "
        f"gradient {relative(gradient, expected):.1e} apart",
        flush=True,
    )


def mirrored(n: int = 100_000, m: int = 64, seconds: float = 330.0) -> None:
    """Compare sweeps that compute a pair once with those that compute it from both ends."""
    rng, started = np.random.default_rng(3), time.perf_counter()
    X, some = points(n, m), rng.integers(10, size=1000)
    single = TorchSweep(X, "cuda")
    small = (TorchSweep(X[:20_000], "cuda"), TorchSweep(X[:20_000].astype(np.float64), "cuda"))
    unlabeled, labeled = PairTerms(some[:0], mu=0.01), PairTerms(some, mu=0.01)
    one, two, small_tile = (128, 64, 4, 3), (128, 64, 4, 2), (64, 64, 4, 3)
    folds = [(False, False), (True, False), (False, True), (True, True)]
    tries = [(16, 0, one, fold) for fold in folds[:2]]
    tries += [(16, 16, shape, fold) for shape in (one, two) for fold in folds]
    tries += [(16, 16, small_tile, fold) for fold in folds[2:]]
    tries += [(16, 0, two, folds[1]), (20, 0, one, folds[0]), (40, 0, two, folds[0])]
    print("ms without labels, with 1,000; error of value and gradient; bit-equal")
    for r, most, shape, fold in tries:
        if time.perf_counter() - started > seconds:
            print("out of time", flush=True)
            break
        P, width = factor(r, m), max(16, 1 << (r - 1).bit_length())
        kernels._SHAPES[width], kernels._MIRRORED_WIDTH = shape, most
        kernels._FOLD[:] = fold
        try:
            times = [
                milliseconds(lambda terms=terms: single(P, terms, "factor"), 9)
                for terms in (unlabeled, labeled)
            ]
            (value, gradient), (exact, expected) = (one(P, labeled, "factor") for one in small)
            runs = [single(P, labeled, "factor") for _ in range(3)]
        except Exception as error:  # a shape that the chip has no room for
            print(
                f"r = {r}, {most}, {shape}, {fold}: {type(error).__name__} {error}"[:200],
                flush=True,
            )
            continue
        equal = all(a[0] == runs[0][0] and np.array_equal(a[1], runs[0][1]) for a in runs)
        print(
            f"r = {r}, {'once ' if most else 'twice'}, {shape}, {fold}: "
            f"{times[0]:6.2f}  {times[1]:6.2f}; "
            f"{abs(value / exact - 1.0):.0e} {relative(gradient, expected):.0e}; {equal}",
            flush=True,
        )
    P, kernels._SHAPES[16] = factor(16, m), (128, 64, 4, 3)
    kernels._FOLD[:] = True, True
    for most in (0, 16):
        kernels._MIRRORED_WIDTH = most
        profile_sweep(single, P, labeled)
    profile = cProfile.Profile()
    profile.runcall(lambda: [single(P, labeled, "factor") for _ in range(20)])
    pstats.Stats(profile).sort_stats("tottime").print_stats(12)


def profile_sweep(sweep: TorchSweep, P: np.ndarray, terms: PairTerms) -> None:
    """Print the kernels of a sweep and their times."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA, ProfilerActivity.CPU]) as found:
        for _ in range(5):
            sweep(P, terms, "factor")
        torch.cuda.synchronize()
    rows = sorted(found.key_averages(), key=lambda row: -row.self_device_time_total)
    for row in rows[:14]:
        print(f"  {row.self_device_time_total / 5e3:8.3f} ms a sweep  {row.key[:70]}", flush=True)


def count_sums(X, y) -> None:
    """Print which sums a fit asks for, and the solver's steps."""
    from seraph._engine._objective import Objective
    from seraph._solvers import _low_rank, _sampled

    calls = []

    def logged(module, name):
        real = getattr(module, name)

        def call(*args, **kwargs):
            start, calls_before = time.perf_counter(), len(calls)
            found = real(*args, **kwargs)
            self = args[0]
            if isinstance(self, Objective):
                calls.append((name, self.terms.share < 1.0, len(args[1]), found[0]))
            else:
                seconds = time.perf_counter() - start
                print(f"  {name}: {len(calls) - calls_before} sums, {seconds:.2f} s", flush=True)
                for one in calls[calls_before:][-12:]:
                    print("      ", *one)
            return found

        setattr(module, name, call)
        return lambda: setattr(module, name, real)

    undo = [logged(Objective, "by_factor"), logged(Objective, "by_metric")]
    undo += [logged(_low_rank, "_widen"), logged(_low_rank, "_ascend")]
    undo += [logged(_low_rank, "_rounding_errors"), logged(_sampled, "low_rank")]
    SERAPH(shrinkage=0).fit(X, y)
    for one in undo:
        one()
    print(f"  {len(calls)} sums in all", flush=True)


def wide() -> None:
    """Profile a fit of 768 features."""
    X, y = classes(100_000, 768)
    learner = timed_fit("float32", X, y)
    print(learner.history_["share"].round(3).tolist(), learner.history_["rank"].tolist())
    count_sums(X, y)
    profile = cProfile.Profile()
    profile.runcall(SERAPH(shrinkage=0).fit, X, y)
    pstats.Stats(profile).sort_stats("tottime").print_stats(24)


PARTS = {"mirrored": mirrored, "wide": wide}

if __name__ == "__main__":
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    if len(sys.argv) > 1:
        for part in sys.argv[1:]:
            PARTS[part]()
        sys.exit()
    parity()
    errors()
    sweeps()
    fits()
    little_memory()
