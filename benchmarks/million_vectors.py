"""Fit a million embeddings in a file: ``python -m benchmarks.million_vectors FOLDER``.

Writes n x m vectors of unit length to FOLDER/vectors.npy in float32 (or float16), and fits them,
memory-mapped, from marked pairs and a sample of the unlabeled ones. With ``--first``, a fit of
some rows comes first, and the whole goes on from its metric (``warm_start``). Prints seconds, the
peak of the memory, the certificate, and how well the learned distance and the Euclidean one tell
pairs apart that the fit has not seen as marks. The file is removed at the end, unless ``--keep``.

The vectors mimic those of a language model: what makes things alike lies in a few directions, what
the model also encodes (length, style) varies more, and all else is noise.
"""

import argparse
import resource
import time
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.ten_million import peak
from seraph import SERAPH, Marks

N_CLASSES, SIGNAL, NUISANCE = 1000, 12, 24


def write_vectors(path, n, m, dtype, rows=50_000):
    """Write vectors of unit length, some rows at a time; return their classes.

    A file that exists is kept.
    """
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(m, SIGNAL + NUISANCE)))[0].T.astype(np.float32)
    centers = rng.normal(size=(N_CLASSES, SIGNAL)).astype(np.float32)
    y = rng.integers(N_CLASSES, size=n)
    if path.exists():
        return y
    file = np.lib.format.open_memmap(path, "w+", dtype, (n, m))
    for start in range(0, n, rows):
        classes = y[start : start + rows]
        noise = rng.standard_normal((len(classes), m), dtype=np.float32) * np.float32(0.12)
        inner = rng.standard_normal((len(classes), SIGNAL), dtype=np.float32) * np.float32(0.5)
        style = rng.standard_normal((len(classes), NUISANCE), dtype=np.float32) * np.float32(1.5)
        X = noise + np.hstack([centers[classes] + inner, style]) @ axes
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        file[start : start + rows] = X
    file.flush()
    return y


def draw_pairs(y, count, rng):
    """Return pairs of distinct rows, half of them of one class, and whether they are alike."""
    order = np.argsort(y, kind="stable")
    starts = np.searchsorted(y[order], np.arange(N_CLASSES + 1))
    first = rng.integers(len(y), size=count)
    low, high = starts[y[first]], starts[y[first] + 1]
    same = order[low + rng.integers(1 << 40, size=count) % (high - low)]
    other = rng.integers(len(y), size=count)
    pairs = np.column_stack([first, np.where(np.arange(count) % 2 == 0, same, other)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=1_000_000)
    parser.add_argument("-m", type=int, default=768)
    parser.add_argument("--dtype", choices=("float32", "float16"), default="float32")
    parser.add_argument("--marks", type=int, default=400)
    parser.add_argument("--pairs", type=int, default=5_000_000)
    parser.add_argument("--first", type=int, default=0, help="rows of a first fit")
    parser.add_argument("--tol", type=float, default=1e-2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", action="store_true", help="keep the vectors and the model")
    options = parser.parse_args()
    path = options.folder / "vectors.npy"
    started = time.perf_counter()
    y = write_vectors(path, options.n, options.m, options.dtype)
    print(
        f"{path.stat().st_size / 1e9:.2f} GB of {options.dtype} written in "
        f"{time.perf_counter() - started:.0f} s",
        flush=True,
    )
    try:
        learner = fit(path, y, options)
    finally:
        if not options.keep:
            path.unlink()
    if options.keep:
        from seraph import save

        save(learner, options.folder / "vectors.skops")


def fit(path, y, options):
    rng = np.random.default_rng(1)
    marks, alike = draw_pairs(y, options.marks, rng)
    held_out, truth = draw_pairs(y, 100_000, rng)
    X = np.load(path, mmap_mode="r")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started, cpu = time.perf_counter(), time.process_time()
    learner = SERAPH(tol=options.tol, random_state=0, n_jobs=options.jobs)
    if options.first:
        some = np.unique(np.append(marks, rng.choice(len(X), options.first, replace=False)))
        learner.set_params(unlabeled_pairs=5 * len(some))
        learner.fit(X[some], marks=Marks(np.searchsorted(some, marks), alike, rows=X[some]))
        print(
            f"first fit: {len(some)} rows, {time.process_time() - cpu:.0f} s of CPU, "
            f"{learner.n_iter_} iterations",
            flush=True,
        )
    learner.set_params(unlabeled_pairs=options.pairs, warm_start=bool(options.first))
    learner.fit(X, marks=Marks(marks, alike, rows=X))
    print(
        f"fit: {time.perf_counter() - started:.0f} s ({time.process_time() - cpu:.0f} s of CPU), "
        f"{learner.n_iter_} iterations, rank {len(learner.learned_components_)}, shrinkage "
        f"{learner.shrinkage_:.2f}, gap {learner.optimality_gap_:.1e}, converged "
        f"{learner.converged_}; peak {peak():.0f} MB, {before:.0f} MB before; the file itself, "
        f"mapped, is {path.stat().st_size / 2**20:.0f} MB of it",
        flush=True,
    )
    rows, places = np.unique(held_out, return_inverse=True)
    points = np.asarray(X[rows], dtype=np.float32)
    places = places.reshape(held_out.shape)
    for name, Z in (("Euclidean", points), ("learned", learner.transform(points))):
        apart = np.linalg.norm(Z[places[:, 0]] - Z[places[:, 1]], axis=1)
        print(f"AUC of {len(truth)} held-out pairs, {name}: {roc_auc_score(truth, -apart):.4f}")
    return learner


if __name__ == "__main__":
    main()
