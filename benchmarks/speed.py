"""Time the default fits of SERAPH and MeanMetric beside PCA(10): ``python -m benchmarks.speed``.

Each line has the seconds of a fit (the least of three, if it is short), whether SERAPH converged,
and the AUC of the pairs of 2,000 new rows; of wine and the digits, of the rows without a label.
Then come the cost of a pair, and one thread against all cores; with names (``python -m
benchmarks.speed fits threads``), only those. ``--gpu`` fits tensors on a CUDA device instead, and
``--dask FOLDER`` ten million rows in a file there, which it removes again.
"""

import argparse
import platform
import resource
import time
import warnings
from pathlib import Path

import numpy as np
import sklearn
from sklearn.datasets import load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from seraph import SERAPH, Marks, MeanMetric
from seraph._utils._threads import one_blas_thread
from seraph.metrics import pair_auc

N_CLASSES, N_NEW = 10, 2000
LEARNERS = {"SERAPH": SERAPH, "MeanMetric": MeanMetric, "PCA(10)": lambda: PCA(10)}


def gaussian_classes(n, m, *, n_labels=0, n_marks=0, seed=0, decay=0.0):
    """Make rows of ten Gaussian classes in float32, with labels or marks, and 2,000 new rows.

    Class means are ``0.5 N(0, 1)``, smaller above 64 features, so that classes overlap as much.
    The `seed` is that of the rows; the means do not depend on it. With a `decay`, as in most real
    data, the noise is uneven: its k-th direction has a deviation of ``k**-decay``, times what
    keeps the total variance. With none, the leading directions are those of the classes.
    """
    means = 0.5 * min(1.0, np.sqrt(64 / m)) * np.random.default_rng(0).normal(size=(N_CLASSES, m))
    rng = np.random.default_rng([1, seed])
    classes = rng.integers(N_CLASSES, size=n + N_NEW)
    X = rng.standard_normal(size=(n + N_NEW, m), dtype=np.float32)
    if decay:
        deviations = np.arange(1, m + 1) ** -decay
        directions = np.linalg.qr(np.random.default_rng(2).normal(size=(m, m)))[0]
        deviations *= np.sqrt(m / np.square(deviations).sum())
        X = X @ (deviations[:, np.newaxis] * directions).astype(np.float32)
    X += means.astype(np.float32)[classes]
    if n_marks:
        pairs = rng.integers(n, size=(100 * n_marks, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = classes[pairs[:, 0]] == classes[pairs[:, 1]]
        chosen = np.concatenate([np.flatnonzero(same == kind)[: n_marks // 2] for kind in (0, 1)])
        labels = {"marks": Marks(pairs[chosen], same[chosen], rows=n)}
    else:
        labels = {"y": np.where(np.arange(n) < n_labels, classes[:n], -1)}
    return X[:n], labels, X[n:], classes[n:]


def partly_labeled(X, y, n):
    """Take `n` rows, a tenth of them labeled; the others are judged."""
    rows = np.random.default_rng(0).permutation(len(X))[:n]
    X, y, is_labeled = X[rows], y[rows], np.arange(n) < n // 10
    return X, {"y": np.where(is_labeled, y, -1)}, X[~is_labeled], y[~is_labeled]


def problems():
    """Yield names and problems: points, labels or marks, rows to judge by, and their classes."""
    X, y = load_wine(return_X_y=True)
    yield "wine", partly_labeled(StandardScaler().fit_transform(X), y, len(X))
    X, y = load_digits(return_X_y=True)
    for n in (400, 1000, 1797):
        yield f"digits {n}", partly_labeled(X / 16.0, y, n)
    for n, m in ((1000, 384), (2000, 768)):
        yield f"{n:,} x {m}, 100 marks", gaussian_classes(n, m, n_marks=100)
    for decay in (0.0, 0.5):
        X = gaussian_classes(3000, 64, n_labels=100, decay=decay)
        yield f"3,000 x 64, {'un' if decay else ''}even noise", X
    yield "1,000,000 x 64, 100 labels", gaussian_classes(1_000_000, 64, n_labels=100)


def timed(run, repeat=3):
    """Return the least seconds of some runs, fewer if they are long; and the last result."""
    seconds = []
    while len(seconds) < repeat and sum(seconds) < 10.0:
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


def report(problem, learner, seconds, fitted, X_new, y_new, note=""):
    """Print the line of a fit."""
    member = fitted.named_learners_.seraph if isinstance(fitted, MeanMetric) else fitted
    words = {True: "converged", False: "not converged", None: ""}
    converged = words[getattr(member, "converged_", None)]
    auc = pair_auc(np.asarray(fitted.transform(X_new)), y_new)
    print(
        f"{problem:28}{learner:13}{seconds:>7.2f} s  {converged:14}AUC {auc:.3f}{note}", flush=True
    )


def fits():
    """Time the default learners and PCA."""
    for problem, (X, labels, X_new, y_new) in problems():
        for name, make in LEARNERS.items():
            known = {} if name == "PCA(10)" else labels
            seconds, fitted = timed(lambda: make().fit(X, **known))
            report(problem, name, seconds, fitted, X_new, y_new)


def pairs():
    """Time a sum over a sample of pairs and one over all pairs, with a factor of rank 16."""
    P = np.random.default_rng(1).normal(size=(16, 64)) / 8.0
    for n_jobs in (1, -1):
        for n, choice in ((5000, "all"), (20_000, "auto")):
            X, labels, *_ = gaussian_classes(n, 64, n_labels=100)
            learner = SERAPH(unlabeled_pairs=choice, n_jobs=n_jobs)
            read = learner._read(X, labels["y"], None)  # noqa: SLF001
            term = learner._pose(*read).objective.terms[0]  # noqa: SLF001
            with one_blas_thread():  # as in a fit
                seconds, _ = timed(lambda: term.value_and_factor_gradient(P), repeat=7)
            cost = f"{1e9 * seconds / term.pairs.n_pairs:.1f} ns a pair"
            print(f"{n:,} x 64, {term.pairs.n_pairs:,.0f} pairs, n_jobs={n_jobs}: {cost}")


def threads():
    """Time fits with one thread and with all cores."""
    for n, m in ((20_000, 64), (20_000, 384)):
        X, labels, X_new, y_new = gaussian_classes(n, m, n_labels=100)
        for n_jobs in (1, -1):
            seconds, fitted = timed(lambda: SERAPH(n_jobs=n_jobs).fit(X, **labels))
            report(f"{n:,} x {m}", f"n_jobs={n_jobs}", seconds, fitted, X_new, y_new)


def on_gpu(repeat=7):
    """Time fits of tensors on a CUDA device: the median, without the first."""
    import torch

    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    for n, m in ((100_000, 64), (1_000_000, 64), (100_000, 768), (1_000_000, 384)):
        X, labels, X_new, y_new = gaussian_classes(n, m, n_labels=100)
        X = torch.tensor(X, device="cuda")
        for name in ("SERAPH", "MeanMetric"):
            seconds = []
            for _ in range(repeat + 1):
                torch.cuda.synchronize()
                start = time.perf_counter()
                fitted = LEARNERS[name]().fit(X, **labels)
                torch.cuda.synchronize()
                seconds.append(time.perf_counter() - start)
            first, *later = seconds
            note = f", {min(later):.2f} to {max(later):.2f} s, first {first:.2f} s"
            report(f"{n:,} x {m}, 100 labels", name, np.median(later), fitted, X_new, y_new, note)


def out_of_core(folder, n=10_000_000, m=64, at_once=100_000):
    """Time a fit of rows in a file, which dask reads a chunk at a time."""
    import dask
    import dask.array as da

    path = folder / "points"

    def read(k):
        size = at_once * m
        return np.fromfile(path, np.float32, size, offset=4 * size * k).reshape(at_once, m)

    y = np.full(n, -1)
    try:
        with path.open("wb") as file:
            for k in range(n // at_once):
                rows, labels, X_new, y_new = gaussian_classes(at_once, m, n_labels=100, seed=k)
                file.write(rows.data)
                if k == 0:
                    y[:at_once] = labels["y"]
        lazy = dask.delayed(read)
        X = da.concatenate(
            [da.from_delayed(lazy(k), (at_once, m), np.float32) for k in range(n // at_once)]
        )
        seconds, fitted = timed(lambda: SERAPH(n_jobs=-1).fit(X, y), repeat=1)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        note = f", peak {peak:.0f} MB for a file of {path.stat().st_size / 2**20:.0f} MB"
        report(f"{n:,} x {m}, dask", "SERAPH", seconds, fitted, X_new, y_new, note)
    finally:
        path.unlink(missing_ok=True)


def main():
    parts = {"fits": fits, "pairs": pairs, "threads": threads}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", help=f"{', '.join(parts)}; all by default")
    parser.add_argument("--gpu", action="store_true", help="tensors on a CUDA device")
    parser.add_argument("--dask", type=Path, metavar="FOLDER", help="ten million rows in a file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{platform.machine()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}")
    if options.gpu:
        on_gpu()
    elif options.dask is not None:
        out_of_core(options.dask)
    else:
        X, labels, *_ = gaussian_classes(1500, 8, n_labels=20)
        MeanMetric().fit(X, **labels)  # compiles
        for name in options.parts or parts:
            parts[name]()


if __name__ == "__main__":
    main()
