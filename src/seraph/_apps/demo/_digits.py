"""Show what the package does, on data that ships with it: ``python -m seraph demo``.

Learn a metric on handwritten digits from 10 labeled and 90 unlabeled images, several times
over, compare the 1-NN errors, and draw the digits before and after. Needs no extra package,
except matplotlib for the picture.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from ... import SERAPH, MetricClassifier
from ..._utils._files import save_whole
from ..._utils._typing import Array
from ...classic import Euclidean
from ...datasets import load_task

# The paper's four settings, "proj" and "hyper" with lam from the data: "hyper" is SERAPH(). With
# lam = 0 the objective may have no maximum, so "none" and "post" take the 200 steps of the paper's
# solver.
LEARNERS: dict[str, Any] = {
    "Euclidean": Euclidean(),
    "none": SERAPH(mu=0.0, lam=0.0, solver="projected-gradient"),
    "post": SERAPH(lam=0.0, solver="projected-gradient"),
    "proj": SERAPH(mu=0.0),
    "hyper": SERAPH(),
}

WORDS = {
    "Euclidean": "the distance of the pixels, nothing learned",
    "none": "learned from the labeled pairs alone",
    "post": "and from unlabeled pairs, each clearly similar or clearly not",
    "proj": "from labeled pairs, with few directions (a penalty on the trace)",
    "hyper": "both: SERAPH()",
}


def main(n_samplings: int, picture: Path) -> dict[str, list[float]]:
    """Print a table of errors and draw the picture; return the 1-NN errors of each method in %."""
    task = load_task("usps-1-5-20")
    print(
        f"USPS digits 1 to 5: {task.n_train} images, {task.n_labels} of them labeled, "
        f"{task.n_test} test images.\n"
        f"Error of the nearest labeled image, mean of {n_samplings} samplings:\n"
    )
    errors: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for seed in range(n_samplings):
        sampling = _sample(task.X, task.y, seed)
        for name, learner in LEARNERS.items():
            classifier = MetricClassifier(clone(learner), rule="nearest")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                classifier.fit(sampling.X, sampling.y_partial)
            errors[name].append(100 * (1 - classifier.score(sampling.X_test, sampling.y_test)))
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(n_samplings) if n_samplings > 1 else 0.0
        bar = "#" * round(np.mean(values))
        print(f"  {name:<10}{np.mean(values):6.1f} ± {spread:.1f} %  {bar}")
    print()
    for name, words in WORDS.items():
        print(f"  {name:<10}{words}")

    sampling = _sample(task.X, task.y, seed=0)
    hyper = SERAPH().fit(sampling.X, sampling.y_partial)
    print(
        f"\n{hyper.n_similar_} similar, {hyper.n_dissimilar_} dissimilar and "
        f"{hyper.n_unlabeled_} unlabeled pairs gave a metric of rank "
        f"{len(hyper.components_)} (lam {hyper.lam_:.2g}, mu {hyper.mu_:.2g})."
    )
    if _draw_digits(hyper, sampling, picture):
        print(f"The digits before and after: {picture}")
    else:
        print("For the picture, install matplotlib: pip install 'seraph-learn[plot]'")
    return errors


@dataclass(frozen=True)
class Sampling:
    """Training images, of which those in `labeled` have a label, and test images."""

    X: Array
    y: Array
    labeled: Array
    X_test: Array
    y_test: Array

    @property
    def y_partial(self) -> Array:
        """Classes of the labeled images, -1 elsewhere."""
        return np.where(self.labeled, self.y, -1)


def _sample(X: Array, y: Array, seed: int) -> Sampling:
    """Sample 20 training images of each class, 2 of them labeled, and 2500 test images."""
    order = np.random.default_rng(seed).permutation(len(X))
    place = np.empty(len(y), dtype=int)  # of each image among those of its class
    for label in np.unique(y):
        rows = order[y[order] == label]
        place[rows] = np.arange(len(rows))
    train, test = order[place[order] < 20], order[place[order] >= 20][:2500]
    return Sampling(X[train], y[train], place[train] < 2, X[test], y[test])


def _draw_digits(learner: SERAPH, sampling: Sampling, path: Path) -> bool:
    """Draw the training images and 400 test images; return False without matplotlib.

    Both panels show the two leading principal components, before and after.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    before = np.concatenate([sampling.X, sampling.X_test[:400]])
    classes = np.concatenate([sampling.y, sampling.y_test[:400]])
    labeled = np.concatenate([sampling.labeled, np.zeros(400, dtype=bool)])
    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = ("Pixels (Euclidean distance)", "Learned from 10 labels (SERAPH)")
    for axes, points, title in zip(
        panels, (before, learner.transform(before)), titles, strict=True
    ):
        flat = PCA(2).fit_transform(points)
        for number, digit in enumerate(np.unique(classes)):
            rows = classes == digit
            color = f"C{number}"
            axes.scatter(*flat[rows].T, s=9, color=color, alpha=0.45, linewidths=0)
            for x, y in flat[rows & labeled]:
                axes.text(
                    x,
                    y,
                    str(digit),
                    color="white",
                    weight="bold",
                    ha="center",
                    va="center",
                    fontsize=9,
                    bbox={"boxstyle": "circle", "fc": color, "ec": "black"},
                )
        axes.set(title=title, xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    save_whole(figure, path)
    return True
