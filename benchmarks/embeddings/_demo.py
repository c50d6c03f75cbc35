"""Adapt a frozen embedding from 100 marked pairs: ``python -m benchmarks.embeddings demo``.

Several learners see half of the vectors, with 100 pairs marked as alike or different; the other
half judges.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import TSNE
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer

from benchmarks.evidence._free_matrix import FreeMatrix
from seraph import SERAPH, Marks, MeanMetric
from seraph._utils._colors import COLORS, MARKERS
from seraph._utils._typing import Array
from seraph.classic import GMML, ITML, RCA
from seraph.datasets import load_definitions
from seraph.metrics import map_at_r, pair_auc, precision_at_1

N_PAIRS = 100
MEASURES = ("pair AUC", "MAP@R", "1-NN error")

Map = Callable[[Array], Array]
# What `judge` returns for each method, in each sampling of rows and pairs.
Found = dict[str, list[tuple[float, float, float]]]


@dataclass(frozen=True, eq=False)
class Marked:
    """Rows with marked pairs to learn from, and other rows to be judged on.

    `pairs` are rows of `X`, and `marks` are 1 for alike and -1 for different.
    """

    X: Array
    pairs: Array
    marks: Array
    X_test: Array
    y_test: Array


def mark_pairs(X: Array, y: Array, seed: int, n_pairs: int = N_PAIRS) -> Marked:
    """Choose half of the rows, and mark pairs of them, half alike and half different."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    seen, judged = order[: len(y) // 2], order[len(y) // 2 :]
    i, j = np.triu_indices(len(seen), 1)
    alike = y[seen[i]] == y[seen[j]]
    chosen = []
    for kind in (alike, ~alike):
        rows = np.flatnonzero(kind)
        if len(rows) < n_pairs // 2:
            raise ValueError(
                f"{n_pairs // 2} pairs of each kind are needed, and the {len(seen)} rows to learn "
                f"from have {alike.sum()} alike and {(~alike).sum()} different pairs."
            )
        chosen.append(rng.choice(rows, n_pairs // 2, replace=False))
    rows = np.concatenate(chosen)
    marks = np.where(alike[rows], 1, -1)
    return Marked(X[seen], np.column_stack([i, j])[rows], marks, X[judged], y[judged])


# Methods


METHODS: dict[str, Callable[[], Any]] = {
    "cosine": FunctionTransformer,  # leaves the vectors as they are
    "PCA": partial(PCA, 0.9, svd_solver="full"),
    "free matrix": FreeMatrix,
    "RCA": RCA,
    "ITML": partial(ITML, gamma=1.0),
    "GMML": GMML,
    "SERAPH": lambda: make_pipeline(Normalizer(), SERAPH()),
    "MeanMetric": lambda: make_pipeline(Normalizer(), MeanMetric()),
}
_WITHOUT_MARKS = ("cosine", "PCA")


def learn(name: str, task: Marked) -> Map:
    """Fit one of the `METHODS` to the rows and the marked pairs; return the map of points."""
    model = METHODS[name]()
    marks = Marks(task.pairs, task.marks, rows=task.X)
    argument = f"{name.lower()}__marks" if isinstance(model, Pipeline) else "marks"
    known = {} if name in _WITHOUT_MARKS else {argument: marks}
    found: Map = model.fit(task.X, **known).transform
    return found


def judge(learned: Map, task: Marked) -> tuple[float, float, float]:
    """Return pair AUC, MAP@R and 1-NN error on the rows kept back, in %."""
    Z = learned(task.X_test)
    return (
        100 * pair_auc(Z, task.y_test),
        100 * map_at_r(Z, task.y_test),
        100 * (1 - precision_at_1(Z, task.y_test)),
    )


# The demonstration


def main(n_samplings: int, picture: Path) -> Found:
    """Compare the methods on the definitions that the package ships, and draw the picture.

    Returns what `judge` does for each method, in each sampling of rows and pairs.
    """
    data = load_definitions()
    about = (
        f"{len(data.X):,} definitions of {len(data.target_names)} kinds of nouns (WordNet), as "
        f"vectors of a language\nmodel (all-MiniLM-L6-v2, {data.X.shape[1]} features)."
    )
    return demonstrate(data.X, data.y, data.target_names, about, n_samplings, picture)


def demonstrate(
    X: Array,
    y: Array,
    names: tuple[str, ...],
    about: str,
    n_samplings: int,
    picture: Path,
) -> Found:
    """Compare the methods on vectors of unit length with known classes; return as `main` does.

    It prints what the vectors are `about` and a table, and draws the picture.
    """
    print(
        f"{about}\nHalf of them are seen, with {N_PAIRS} pairs marked as alike or different; the "
        f"other half judges.\nMean of {n_samplings} samplings in %, and CPU seconds of a fit:\n"
    )
    print("".join(f"{title:>14}" for title in ("", *MEASURES, "seconds")))
    found: Found = {}
    for name in METHODS:
        found[name], seconds = [], []
        for seed in range(n_samplings):
            task = mark_pairs(X, y, seed)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                learned = learn(name, task)
            seconds.append(time.process_time() - start)
            found[name].append(judge(learned, task))
        means = np.mean(found[name], axis=0)
        print(
            f"{name:>14}" + "".join(f"{v:14.1f}" for v in means) + f"{np.mean(seconds):14.2f}",
            flush=True,
        )
    print(
        "\nOf the pair AUC and MAP@R, more is better; of the error, less. (Pair AUC: the chance "
        "that\na pair of one kind is nearer than a pair of two. MAP@R: how much of its kind a row "
        "finds\namong its nearest.)"
    )
    draw_maps(mark_pairs(X, y, seed=0), names, picture)
    print(f"The rows that judge, before and after: {picture}")
    return found


def draw_maps(task: Marked, names: tuple[str, ...], path: Path) -> None:
    """Draw the rows that judge before and after learning.

    Each panel is a t-SNE map, made from the distances alone.
    """
    figure = Figure(figsize=(11, 5), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, (name, title) in zip(
        panels,
        (
            ("cosine", "Before: cosine"),
            ("MeanMetric", f"After {N_PAIRS} marks: MeanMetric"),
        ),
        strict=True,
    ):
        learned = learn(name, task)
        auc, precision, _ = judge(learned, task)
        Z = learned(task.X_test)
        spread = min(30.0, (len(Z) - 1) / 3)
        flat = TSNE(perplexity=spread, init="pca", random_state=0).fit_transform(Z)
        for number in np.unique(task.y_test):
            rows = task.y_test == number
            axes.scatter(
                *flat[rows].T,
                s=16,
                color=COLORS[number % len(COLORS)],
                marker=MARKERS[number % len(MARKERS)],
                alpha=0.8,
                linewidths=0,
                label=names[number],
            )
        axes.set(title=f"{title}\npair AUC {auc:.1f} %, MAP@R {precision:.1f} %")
        axes.set(xticks=[], yticks=[])
    if len(names) <= 20:
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside right center", frameon=False, markerscale=1.6)
    figure.savefig(path)
