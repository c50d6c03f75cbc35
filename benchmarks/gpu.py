"""Time sweeps and a whole fit on a CUDA device, and measure their errors.

Run with ``python -m benchmarks.gpu``; times are medians, from device events. ``python -m
benchmarks.gpu profiles`` profiles a sweep and a fit of 768 features; ``python -m benchmarks.gpu
first`` times the first fits on a machine that has compiled nothing yet, and those of a second
process.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

from seraph import SERAPH
from seraph._sweep import NumpySweep, PairTerms, Plan, Posterior
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
            ((_, terms), *_) = terms.samples(sweep.shape)
        ms = milliseconds(lambda: sweep(P, terms, wrt), repeats)
        print(
            f"sweep n = {n:9,d}, r = {r:4d}, m = {m:4d}, by {wrt}, {sweep.X.dtype}, "
            f"share {terms.plan.share:.3f}: {ms:10.1f} ms",
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


def timed_fit(what: str, X, y, **parameters) -> SERAPH:
    """Fit twice: the first time may include compiling."""
    seconds = []
    learners = []
    for _ in range(2):
        start = time.perf_counter()
        learners.append(SERAPH(**parameters).fit(X, y))
        seconds.append(time.perf_counter() - start)
    learner = learners[-1]
    equal = np.array_equal(learners[0].components_, learner.components_)
    whole = int(np.sum(learner.history_["share"] == 1.0))
    print(
        f"fit, {what}, n = {X.shape[0]:9,d}, m = {X.shape[1]:3d}: {seconds[1]:6.2f} s (first "
        f"{seconds[0]:.2f}), {whole} of {learner.n_iter_} iterations over all pairs, rank "
        f"{len(learner.learned_components_)}, gap {learner.optimality_gap_:.1e}, converged "
        f"{learner.converged_}, bit-equal {equal}, {learner.device_}",
        flush=True,
    )
    return learner


def fits() -> None:
    """Time whole fits, 1,000 labels: the learned metric alone, and with the default settings."""
    for n, m, n_classes in [
        (100_000, 64, 10),
        (100_000, 384, 12),
        (100_000, 768, 10),
        (1_000_000, 64, 10),
    ]:
        X, y = classes(n, m, n_classes=n_classes)
        timed_fit("float32", X, y, shrinkage=0)
        timed_fit("default", X, y)
    X, y = classes(100_000, 64)
    timed_fit("float64", X.astype(float), y, shrinkage=0)
    timed_fit("tensor ", torch.tensor(X).cuda(), y, shrinkage=0)
    small = SERAPH(shrinkage=0, backend="numpy").fit(X[:3000].astype(np.float64), y[:3000])
    same = SERAPH(shrinkage=0, backend="cuda").fit(X[:3000], y[:3000])
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


def recordings() -> None:
    """Compare recorded sweeps over samples with computed ones: they are equal to the last bit."""
    for n, m, k, labeled_share in [
        (20_100, 64, 100, 1.0),
        (20_100, 768, 100, 1.0),
        (30_000, 64, 6000, 0.2),
    ]:
        X, codes = points(n, m), np.random.default_rng(3).integers(4, size=k)
        plan = Plan(share=0.0064, labeled_share=labeled_share)
        terms, sweep = PairTerms(codes, mu=0.01, plan=plan), TorchSweep(X, "cuda")
        for wrt in ("factor", "metric", "threshold"):
            for r in (1, 9, 20):
                sweep(factor(r, m), terms, wrt)
                sweep(2.0 * factor(r, m), terms, wrt)  # recorded
                found = sweep(factor(r, m), terms, wrt)
                expected = TorchSweep(X, "cuda")(factor(r, m), terms, wrt)
                if found[0] != expected[0] or not np.array_equal(found[1], expected[1]):
                    print("  a recorded sweep differs:", n, m, k, wrt, r)
        sweep, P, seconds = TorchSweep(X, "cuda"), factor(16, m), []
        for _ in range(12):
            start = time.perf_counter()
            sweep(P, terms, "factor")
            seconds.append(1e3 * (time.perf_counter() - start))
        print(
            f"sweep over a sample, n = {n}, m = {m}: computed {seconds[0]:.1f} ms, recorded in "
            f"{seconds[1]:.1f} ms, replayed in {np.median(seconds[2:]):.2f} ms",
            flush=True,
        )


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


def profiles() -> None:
    """Profile a sweep, and a fit of 768 features."""
    terms = PairTerms(np.random.default_rng(3).integers(10, size=1000), mu=0.01)
    sweep = TorchSweep(points(100_000, 64), "cuda")
    profile_sweep(sweep, factor(16, 64), terms)
    X, y = classes(100_000, 768)
    SERAPH(shrinkage=0).fit(X, y)
    profile = cProfile.Profile()
    profile.runcall(SERAPH(shrinkage=0).fit, X, y)
    pstats.Stats(profile).sort_stats("tottime").print_stats(24)


def first_fits() -> None:
    """Fit problems of several sizes, each twice: the difference is the time to compile."""
    total = 0.0
    sizes = [(5000, 64, 1000), (100_000, 64, 1000), (100_000, 384, 1000), (7001, 33, 77)]
    for n, m, k in [*sizes, (20_003, 20, 500), (60_011, 100, 999), (30_000, 128, 30_000)]:
        X, y = classes(n, m, k)
        seconds = []
        for _ in range(2):
            start = time.perf_counter()
            SERAPH(backend="cuda").fit(X, y)
            seconds.append(time.perf_counter() - start)
        total += seconds[0] - seconds[1]
        print(
            f"  n = {n:7,d}, m = {m:3d}, {k:6,d} labels: first {seconds[0]:5.2f} s, second "
            f"{seconds[1]:.2f} s; {total:5.2f} s of compiling so far",
            flush=True,
        )


def first_processes() -> None:
    """Run `first_fits` in two processes, the first with nothing compiled."""
    with tempfile.TemporaryDirectory() as folder:
        for process in ("first", "second"):
            print(f"{process} process", flush=True)
            subprocess.run(
                [sys.executable, "-c", "from benchmarks.gpu import first_fits; first_fits()"],
                env={**os.environ, "TRITON_CACHE_DIR": folder},
                check=True,
            )


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), "torch", torch.__version__, flush=True)
    if sys.argv[1:] == ["profiles"]:
        profiles()
        sys.exit()
    if sys.argv[1:] == ["first"]:
        first_processes()
        sys.exit()
    parity()
    recordings()
    errors()
    sweeps()
    fits()
    little_memory()
