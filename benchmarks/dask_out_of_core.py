"""Sweep points that do not fit into the workers' memory, and the same points where they do.

``python -m benchmarks.dask_out_of_core FOLDER [n] [m]`` writes 30,000 points of 4,000 features
(960 MB) to a file, and sums over their pairs by a factor of rank 20: with numba in one process of
two threads, with two workers of dask that hold the points (4 GiB each), and with two that cannot
(800 MiB each) and read them again in every sweep. Each sweeps several times, and the first one,
which loads code and may read the points, does not count. Seconds are those of the clock and of
the CPU, of all workers together; megabytes are what they hold in the end.
"""

import argparse
import tempfile
import time
from pathlib import Path

import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

from seraph._sweep import NumbaSweep, PairTerms
from seraph._sweep._dask import DaskSweep
from seraph._utils._threads import one_blas_thread

RANK, SWEEPS, ROWS = 20, 3, 1000
TERMS = PairTerms(np.empty(0, dtype=np.intp), mu=0.1)


def write(path, n, m):
    """Write points, some rows at a time."""
    points = np.lib.format.open_memmap(path, "w+", np.float64, (n, m))
    rng = np.random.default_rng(0)
    for start in range(0, n, ROWS):
        rows = points[start : start + ROWS]
        rows[:] = rng.normal(size=rows.shape) / np.sqrt(m)
    points.flush()


def read(path, start):
    return np.array(np.load(path, mmap_mode="r")[start : start + ROWS])


def chunked(path, n, m):
    """Return the points as a dask array whose chunks are read by whoever needs them."""
    some = dask.delayed(read)
    blocks = [
        da.from_delayed(some(path, start), (min(ROWS, n - start), m), np.float64)
        for start in range(0, n, ROWS)
    ]
    return da.concatenate(blocks)


def cpu_seconds():
    return time.process_time()


def megabytes():
    return psutil.Process().memory_info().rss / 1e6


def timed(sweep, P, cpu):
    """Return the least seconds of the clock and of the CPU, after a first sweep; and the sum."""
    value, gradient = sweep(P, TERMS, "factor")
    best = [np.inf, np.inf]
    for _ in range(SWEEPS):
        before = time.perf_counter(), cpu()
        value, gradient = sweep(P, TERMS, "factor")
        after = time.perf_counter(), cpu()
        best = [min(b, e - s) for b, e, s in zip(best, after, before, strict=True)]
    return *best, value, gradient


def on_workers(path, n, m, P, limit):
    """Sweep with two workers of a thread each, of which each has so much memory."""
    with (
        dask.config.set({"temporary-directory": tempfile.gettempdir()}),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            memory_limit=limit,
            dashboard_address="127.0.0.1:0",
        ) as local,
        Client(local) as client,
    ):
        sweep = DaskSweep(chunked(path, n, m))
        found = timed(sweep, P, lambda: sum(client.run(cpu_seconds).values()))
        return *found, sum(client.run(megabytes).values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("n", type=int, nargs="?", default=30_000)
    parser.add_argument("m", type=int, nargs="?", default=4_000)
    options = parser.parse_args()
    n, m = options.n, options.m
    path = options.folder / f"points-{n}-{m}.npy"
    if not path.exists():
        write(path, n, m)
    size = path.stat().st_size / 1e6
    P = np.random.default_rng(1).normal(size=(RANK, m))
    print(f"{n:,} points, {m:,} features, float64, {size:.0f} MB, r = {RANK}")
    print(f"{'':>34}{'clock, s':>12}{'CPU, s':>10}{'clock ratio':>14}{'CPU ratio':>12}{'MB':>8}")
    with one_blas_thread():
        found = timed(NumbaSweep(np.load(path), 2), P, cpu_seconds)
    rows = [("numba, two threads", (*found, megabytes()))]
    for limit in ("4GiB", "800MiB"):
        rows.append((f"dask, {limit} a worker", on_workers(path, n, m, P, limit)))
    held = rows[1][1]
    for name, (clock, cpu, value, gradient, memory) in rows:
        np.testing.assert_allclose(value, held[2], rtol=1e-10)
        np.testing.assert_allclose(gradient, held[3], rtol=1e-6, atol=1e-9 * np.abs(held[3]).max())
        print(
            f"{name:>34}{clock:>12.1f}{cpu:>10.1f}{clock / held[0]:>14.2f}{cpu / held[1]:>12.2f}"
            f"{memory:>8.0f}"
        )


if __name__ == "__main__":
    main()
