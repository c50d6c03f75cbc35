"""Fit ten million points in a file, in little memory: ``python -m benchmarks.ten_million FOLDER``.

Writes n x m numbers of float32 to FOLDER, fits the default to them through dask, and transforms
them into another file. Prints seconds and the peak of the memory, and
removes both files. Memory is the peak of the resident set of this process, which runs all
threads; a chunk is read through a memory map of its own, so that pages of the file count only
while the chunk is in use.
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
    y = rng.integers(n_classes, size=n, dtype=np.int8)
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, m)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n, rows):
            some = y[start : start + rows]
            noise = rng.standard_normal(size=(len(some), m), dtype=np.float32)
            file.write((centers[some] + 1.5 * noise).data)
    return y


def points_in_file(path, rows):
    """Make a dask array of the rows of an npy file, which it reads a chunk at a time."""
    n, m = np.load(path, mmap_mode="r").shape

    def chunk(block_info=None):
        start, stop = block_info[None]["array-location"][0]
        return np.array(np.load(path, mmap_mode="r")[start:stop])

    lengths = tuple(min(rows, n - start) for start in range(0, n, rows))
    return da.map_blocks(chunk, chunks=(lengths, (m,)), dtype=np.float32)


def write_rows(Z, path, rows):
    """Compute a dask array some chunks at a time, and write it to an npy file."""
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": Z.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(Z), 4 * rows):
            file.write(Z[start : start + 4 * rows].compute(scheduler="threads").data)


def peak():
    """Return the peak of the memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class Stopwatch:
    """Seconds of the clock and of the CPU since it was made, and the peak of the memory."""

    def __init__(self):
        self.start, self.cpu = time.perf_counter(), time.process_time()

    def __str__(self):
        seconds, cpu = time.perf_counter() - self.start, time.process_time() - self.cpu
        return f"{seconds:.0f} s ({cpu:.0f} s of CPU), peak {peak():.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=10_000_000)
    parser.add_argument("-m", type=int, default=64)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of a chunk")
    options = parser.parse_args()
    path, out = (options.folder / name for name in ("points.npy", "transformed.npy"))
    try:
        y = write_points(path, options.n, options.m)
        y[options.labels :] = -1
        X = points_in_file(path, options.rows)
        print(f"{path.stat().st_size / 1e9:.2f} GB; {peak():.0f} MB before the fit", flush=True)
        watch = Stopwatch()
        learner = SERAPH(n_jobs=2).fit(X, y)
        whole = int(np.sum(learner.history_["share"] == 1.0))
        print(
            f"fit: {watch}, {whole} of {learner.n_iter_} iterations over all "
            f"{learner.n_summed_pairs_:,} pairs, rank {len(learner.learned_components_)}, gap "
            f"{learner.optimality_gap_:.1e}, converged {learner.converged_}, sampling error "
            f"{learner.sampling_error_:.2f}",
            flush=True,
        )
        watch = Stopwatch()
        write_rows(learner.transform(X), out, options.rows)
        print(f"transform: {watch}", flush=True)
    finally:
        path.unlink(missing_ok=True)
        out.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
