"""Fit ten million points in a file, in little memory: ``python -m benchmarks.ten_million FOLDER``.

Writes n x m numbers of float32 to FOLDER, fits them through dask with a budget of unlabeled
pairs, and transforms them into another file. Prints seconds and the peak of the memory.
"""

import argparse
import resource
import time
from pathlib import Path

import dask.array as da
import numpy as np

from seraph import SERAPH


def write_points(path, n, m, rows=100_000, n_classes=10):
    """Write points of Gaussian classes in float32, some rows at a time; return their classes."""
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(n_classes, m)).astype(np.float32)
    y = rng.integers(n_classes, size=n)
    if path.exists():
        return y
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n, m))
    for start in range(0, n, rows):
        some = slice(start, start + rows)
        noise = rng.standard_normal(size=(len(y[some]), m), dtype=np.float32)
        file[some] = centers[y[some]] + 1.5 * noise
    file.flush()
    return y


def peak():
    """Return the peak of the memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=10_000_000)
    parser.add_argument("-m", type=int, default=64)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--labels", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of a chunk")
    options = parser.parse_args()
    path = options.folder / f"points-{options.n}.npy"
    y = write_points(path, options.n, options.m)
    y[options.labels :] = -1
    X = da.from_array(np.load(path, mmap_mode="r"), chunks=(options.rows, options.m))
    print(f"{path.stat().st_size / 1e9:.2f} GB; memory {peak():.0f} MB before the fit", flush=True)
    start, cpu = time.perf_counter(), time.process_time()
    learner = SERAPH(shrinkage=0, unlabeled_pairs=options.pairs, random_state=0, n_jobs=2).fit(
        X, y
    )
    print(
        f"fit: {time.perf_counter() - start:.0f} s ({time.process_time() - cpu:.0f} s of CPU), "
        f"{learner.n_iter_} iterations, rank {len(learner.components_)}, gap "
        f"{learner.optimality_gap_:.1e}, converged {learner.converged_}, peak {peak():.0f} MB",
        flush=True,
    )
    start, cpu = time.perf_counter(), time.process_time()
    Z = learner.transform(X)
    out = np.lib.format.open_memmap(options.folder / "transformed.npy", "w+", np.float32, Z.shape)
    da.store(Z, out, scheduler="threads", num_workers=2)
    out.flush()
    print(
        f"transform: {time.perf_counter() - start:.0f} s ({time.process_time() - cpu:.0f} s of "
        f"CPU), peak {peak():.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    main()
