"""Search with the learned distance: ``python -m benchmarks.search [--draw FILE]``.

How many of the ten nearest rows a map of fewer components still finds, on the MNIST digits that
the package ships (10,000 images of 14 x 14 pixels, scaled to unit length), learned from 400 marked
pairs. The truth is brute force under the whole learned distance; queries are 1,000 rows, the rest
is searched. Three ways to cut are compared:

first rows      the first rows of ``components_``
mapped points   ``to_matrix(n_components=k, X=X)``: principal components of the mapped points
and sorted      the same for 100 candidates, which the whole distance sorts
"""

import argparse

import numpy as np
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, normalize

from seraph import Marks, MeanMetric
from seraph.datasets._files import read_arrays
from seraph.persist import to_matrix

WIDTHS = (2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 196)
K, CANDIDATES = 10, 100
WAYS = ("first rows", "mapped points", "and sorted")


def nearest(Z, queries, k):
    return NearestNeighbors(algorithm="brute").fit(Z).kneighbors(queries, k)[1]


def overlap(found, true):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found, true, strict=True)])


def sorted_by(candidates, Z, queries):
    """Return the nearest of the candidates under the whole distance."""
    best = []
    for rows, query in zip(candidates, queries, strict=True):
        apart = np.linalg.norm(Z[rows] - query, axis=1)
        best.append(rows[np.argsort(apart, kind="stable")[:K]])
    return np.array(best)


def marked_pairs(y, count, rng):
    """Return random pairs, half of them of one digit."""
    pairs = rng.integers(len(y), size=(40 * count, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    pairs = np.vstack([pairs[same][: count // 2], pairs[~same][: count // 2]])
    return pairs, y[pairs[:, 0]] == y[pairs[:, 1]]


def measure(X, y, seed):
    """Return the recall of each way and width, and precision by digit of four searches."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    Q, X, asked, y = X[order[:1000]], X[order[1000:]], y[order[:1000]], y[order[1000:]]
    pairs, alike = marked_pairs(y, 400, rng)
    model = make_pipeline(Normalizer(), MeanMetric())
    model.fit(X, meanmetric__marks=Marks(pairs, alike, rows=X))
    W = to_matrix(model)
    X, Q = normalize(X), normalize(Q)
    Z, ZQ = X @ W, Q @ W
    true = nearest(Z, ZQ, K)
    recall = {}
    for k in WIDTHS:
        V = to_matrix(model, n_components=k, X=X)
        many = nearest(X @ V, Q @ V, CANDIDATES)
        recall[k] = [
            overlap(nearest(Z[:, :k], ZQ[:, :k], K), true),
            overlap(many[:, :K], true),
            overlap(sorted_by(many, Z, ZQ), true),
        ]
        if k == 32:
            short = np.mean(y[many[:, :K]] == asked[:, None])
    right = np.mean(y[true] == asked[:, None])
    plain = np.mean(y[nearest(X, Q, K)] == asked[:, None])
    return recall, (plain, right, short)


def draw(recall, path):
    """Plot the recall by the number of components."""
    from matplotlib.figure import Figure

    from seraph._utils._colors import COLORS, MARKERS

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    names = ("first rows of components_", "components of the mapped points",
             "the same, 100 candidates sorted by the whole distance")  # fmt: skip
    for way in reversed(range(len(WAYS))):
        axes.plot(
            WIDTHS, 100.0 * recall[:, way], color=COLORS[way], marker=MARKERS[way],
            markersize=5, linewidth=1.4, label=names[way],
        )  # fmt: skip
    axes.set(xscale="log", ylim=(0, 103))
    axes.set(xlabel="components kept (of 196)", ylabel="recall of the 10 nearest (%)")
    axes.set_xticks(WIDTHS, [str(k) for k in WIDTHS])
    axes.minorticks_off()
    axes.grid(axis="y", color="0.9")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", metavar="FILE")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    arrays = read_arrays("mnist.npz")
    X, y = (arrays["sums"] / 1020.0).astype(np.float32), arrays["digits"]
    runs = [measure(X, y, seed) for seed in range(options.seeds)]
    recall = np.mean([[run[0][k] for k in WIDTHS] for run in runs], axis=0)
    print(f"| components | {' | '.join(WAYS)} |\n|---|{'---|' * len(WAYS)}")
    for k, row in zip(WIDTHS, recall, strict=True):
        print(f"| {k} | {' | '.join(f'{100 * value:.1f}' for value in row)} |")
    precision = 100.0 * np.mean([run[1] for run in runs], axis=0)
    print(
        f"same digit among the 10 nearest: Euclidean {precision[0]:.1f} %, learned "
        f"{precision[1]:.1f} %, learned and cut to 32 {precision[2]:.1f} %"
    )
    if options.draw:
        draw(recall, options.draw)


if __name__ == "__main__":
    main()
