"""The default on many rows: what the sample of rows and pairs costs, and the time that it takes.

``python -m benchmarks.many_rows quality [samplings]`` compares ``unlabeled_pairs="auto"`` with
"all" on sets of more than 7,000 rows, all or the named ones (``--sets usps mnist``): 1-NN error
from the labeled rows, pair AUC and MAP@R of 2,000 other rows, with 20 and 100 labels, and 100
marked pairs. ``python -m benchmarks.many_rows error [samplings]``
compares `sampling_error_` with the spread of metrics over orders of the rows, which change the
sample, and over labels. ``python -m benchmarks.many_rows time [rows ...]`` compares the seconds
and the memory of a fit with scikit-learn's PCA of the same array, in one process;
``--backend cuda`` fits on a GPU.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.core import blobs
from benchmarks.evidence._data import SETS
from seraph import SERAPH, Marks
from seraph.datasets._files import read_arrays
from seraph.metrics import map_at_r, pair_auc

HELD_OUT = 2_000
FIGURES = ("error", "AUC", "MAP@R")


LARGE = ("usps", "mnist", "weather", "diamonds")


def read_set(name):
    """Return all rows of a set, and their classes."""
    if name in ("usps", "mnist"):
        arrays = read_arrays(f"{name}.npz")
        X = arrays["sums"].astype(np.float64)
        return X / X.max(), arrays["digits"]
    X, y = SETS[name].load()
    return X, np.unique(y, return_inverse=True)[1]


def tasks(y, rng):
    """Yield the labels of some rows, under the names of the tasks, and the rows that have them."""
    for count in (20, 100):
        rows = rng.permutation(len(y))[:count]
        some = np.full(len(y), -1)
        some[rows] = y[rows]
        yield f"{count} labels", {"y": some}, rows
    pairs = rng.permutation(len(y))[:200].reshape(100, 2)
    likes = y[pairs[:, 0]] == y[pairs[:, 1]]
    # Few random pairs are similar: make about half of them so.
    for number in np.flatnonzero(~likes)[::2]:
        same = np.setdiff1d(np.flatnonzero(y == y[pairs[number, 0]]), pairs)
        pairs[number, 1] = rng.choice(same)
    likes = y[pairs[:, 0]] == y[pairs[:, 1]]
    yield "100 marks", {"marks": Marks(pairs, np.where(likes, 1, -1), rows=len(y))}, pairs.ravel()


def judge(learner, X, y, known, test):
    """Return the figures of a fitted learner, in %."""
    Z = learner.transform(X)
    near = KNeighborsClassifier(1).fit(Z[known], y[known])
    error = np.mean(near.predict(Z[test]) != y[test])
    return 100.0 * np.array([error, pair_auc(Z[test], y[test]), map_at_r(Z[test], y[test])])


def quality(samplings, sets, backend):
    """Print the figures with all pairs, and how much "auto" differs."""
    for name in sets:
        X, y = read_set(name)
        found = {}
        for number in range(samplings):
            rng = np.random.default_rng(number)
            order = rng.permutation(len(X))
            X, y = X[order], y[order]
            train, test = np.split(np.arange(len(X)), [len(X) - HELD_OUT])
            for task, labels, known in tasks(y[train], rng):
                both = [
                    judge(fitted(X[train], labels, some, backend=backend), X, y, known, test)
                    for some in ("all", "auto")
                ]
                found.setdefault(task, []).append(both)
        for task, figures in found.items():
            whole, some = np.moveaxis(figures, 1, 0)
            apart = (some - whole).mean(axis=0)
            noise = (some - whole).std(axis=0, ddof=1) / np.sqrt(samplings)
            shown = [
                f"{figure} {a:.2f} {b:+.3f} ({c:.3f})"
                for figure, a, b, c in zip(FIGURES, whole.mean(axis=0), apart, noise, strict=True)
            ]
            print(f"{name}, {len(X) - HELD_OUT} rows, {task}: {'; '.join(shown)}", flush=True)


def fitted(X, labels, unlabeled_pairs="auto", **options):
    """Fit the default with some labels."""
    return SERAPH(unlabeled_pairs=unlabeled_pairs, n_jobs=-1, **options).fit(X, **labels)


def error(samplings, n=100_000, m=16, n_labels=100):
    """Compare the estimated error with the spread of metrics."""
    X, y = blobs(n, n, m)
    rng = np.random.default_rng(0)

    def metrics(choose):
        for _ in range(samplings):
            order, known = choose()
            some = np.full(n, -1)
            some[known] = y[known]
            learner = fitted(X[order], {"y": some[order]}, shrinkage=0, lam=lam)
            found.append(learner.sampling_error_)
            yield learner.components_.T @ learner.components_

    def spread(choose):
        all_of_them = np.array(list(metrics(choose)))
        return np.sqrt(((all_of_them - all_of_them.mean(axis=0)) ** 2).sum() / (samplings - 1))

    lam = SERAPH().fit(X[:2000], np.where(np.arange(2000) < n_labels, y[:2000], -1)).lam_
    same, found = rng.permutation(n)[:n_labels], []
    of_samples = spread(lambda: (rng.permutation(n), same))
    of_labels = spread(lambda: (np.arange(n), rng.permutation(n)[:n_labels]))
    print(
        f"{n} rows, {m} features, {n_labels} labels: spread over samples {of_samples:.4f}, over "
        f"labels {of_labels:.4f}, ratio {of_samples / of_labels:.3f}; estimated "
        f"{np.mean(found):.3f} ({np.min(found):.3f} to {np.max(found):.3f})"
    )


def memory(which):
    """Return the memory of this process on Linux, in MB: "VmRSS", now, or "VmHWM", the peak."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split(f"{which}:")[1].split()[0]) / 1024


def measure(run):
    """Return the seconds of the clock and of the processor."""
    clock, cpu = time.perf_counter(), time.process_time()
    run()
    return np.array([time.perf_counter() - clock, time.process_time() - cpu])


def times(sizes, m, backend):
    """Print times beside those of PCA."""
    for n in sizes:
        X, y = blobs(n, 100, m)
        X = X.astype(np.float32)
        learner = SERAPH(n_jobs=-1, backend=backend)
        learner.fit(X[:20_000], y[:20_000])  # imports, and compiled code
        pca = np.min([measure(lambda: PCA(10).fit(X)) for _ in range(3)], axis=0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts here
        before = memory("VmRSS")
        fit = np.min([measure(lambda: learner.fit(X, y)) for _ in range(2)], axis=0)
        more = memory("VmHWM") - before
        print(
            f"{n} x {m}: PCA {pca[0]:.2f} s ({pca[1]:.2f} of the processor), fit {fit[0]:.2f} s "
            f"({fit[1]:.2f}), {learner.n_summed_pairs_} pairs, sampling error "
            f"{learner.sampling_error_:.2f}, {learner.backend_}; memory {more:.0f} MB "
            f"more, X {X.nbytes / 2**20:.0f} MB",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["quality", "error", "time"])
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--features", type=int, default=64)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--sets", nargs="+", choices=LARGE, default=LARGE)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.what == "time":
        times(chosen.numbers or [20_000, 200_000, 1_000_000], chosen.features, chosen.backend)
    elif chosen.what == "quality":
        quality(*(chosen.numbers or [10]), chosen.sets, chosen.backend)
    else:
        error(*(chosen.numbers or [10]))


if __name__ == "__main__":
    main()
