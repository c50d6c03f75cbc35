"""The main job, on data that comes with the package: ``python -m seraph demo``.

Learns a metric of handwritten digits from 10 labels and 90 unlabelled images, several times
over, compares 1-NN errors, and draws the digits before and after.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier

from .._estimators._seraph import SERAPH
from ..datasets import load_task

# The paper's four settings; with lam = 0 there is no maximum to converge to, so those two
# take the paper's own 200 steps.
SETTINGS = {
    "none": SERAPH(mu=0.0, lam=0.0, solver="projected-gradient"),
    "post": SERAPH(lam=0.0, solver="projected-gradient"),
    "proj": SERAPH(mu=0.0),
    "hyper": SERAPH(),
}


def main(n_samplings: int = 20, picture: str | Path = "demo.png") -> dict[str, list[float]]:
    """Print the table of errors and write the picture.

    Parameters
    ----------
    n_samplings : int, default=20
        Number of random samplings of the digits.
    picture : str or Path, default="demo.png"
        Where to write the picture.

    Returns
    -------
    dict of list of float
        1-NN errors in %, one per sampling, of each method.
    """
    task = load_task("usps-1-5-20")
    print(
        f"USPS digits 1 to 5: {task.n_train} images, {task.n_labels} of them labelled, "
        f"{task.n_test} test images.\n"
        f"Error of the nearest labelled image, mean of {n_samplings} samplings:\n"
    )
    errors: dict[str, list[float]] = {name: [] for name in ["Euclidean", *SETTINGS]}
    for seed in range(n_samplings):
        X, y, labelled, X_test, y_test = _sample(task.X, task.y, seed)
        y_partial = np.where(labelled, y, -1)
        errors["Euclidean"].append(_error(X[labelled], y[labelled], X_test, y_test))
        for name, learner in SETTINGS.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                learner.fit(X, y_partial)
            near, far = learner.transform(X[labelled]), learner.transform(X_test)
            errors[name].append(_error(near, y[labelled], far, y_test))
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(n_samplings) if n_samplings > 1 else 0.0
        bar = "#" * round(np.mean(values))
        print(f"  {name:<10}{np.mean(values):6.1f} ± {spread:.1f} %  {bar}")

    X, y, labelled, X_test, y_test = _sample(task.X, task.y, seed=0)
    learner = SERAPH().fit(X, np.where(labelled, y, -1))
    print(
        f"\n{learner.n_similar_} similar, {learner.n_dissimilar_} dissimilar and "
        f"{learner.n_unlabeled_} unlabelled pairs gave a metric of rank "
        f"{len(learner.components_)} (lam {learner.lam_:.2g}, mu {learner.mu_:.2g})."
    )
    shown = np.concatenate([X, X_test[:400]])
    classes = np.concatenate([y, y_test[:400]])
    marks = np.concatenate([labelled, np.zeros(400, dtype=bool)])
    if _draw(shown, learner.transform(shown), classes, marks, picture):
        print(f"The digits before and after: {picture}")
    else:
        print("For the picture, install matplotlib: pip install 'seraph-learn[plot]'")
    return errors


def _sample(X: NDArray, y: NDArray, seed: int) -> tuple[NDArray, ...]:
    """20 training images of each class, 2 of them labelled, and 2500 test images."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    rank = np.empty(len(X), dtype=int)
    for digit in np.unique(y):
        rows = order[y[order] == digit]
        rank[rows] = np.arange(len(rows))
    train, test = order[rank[order] < 20], order[rank[order] >= 20][:2500]
    return X[train], y[train], rank[train] < 2, X[test], y[test]


def _error(near: NDArray, y_near: NDArray, far: NDArray, y_far: NDArray) -> float:
    return 100.0 * (1.0 - KNeighborsClassifier(1).fit(near, y_near).score(far, y_far))


def _draw(
    before: NDArray, after: NDArray, classes: NDArray, labelled: NDArray, path: str | Path
) -> bool:
    """Draw the two leading directions of both spaces; False where matplotlib is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    panels = figure.subplots(1, 2)
    titles = ("Pixels (Euclidean distance)", "Learned from 10 labels (SERAPH)")
    for axes, points, title in zip(panels, (before, after), titles, strict=True):
        flat = PCA(2).fit_transform(points)
        for number, digit in enumerate(np.unique(classes)):
            rows = classes == digit
            colour = f"C{number}"
            axes.scatter(*flat[rows].T, s=9, color=colour, alpha=0.45, linewidths=0)
            for x, y in flat[rows & labelled]:
                axes.text(
                    x,
                    y,
                    str(digit),
                    color="white",
                    weight="bold",
                    ha="center",
                    va="center",
                    fontsize=9,
                    bbox={"boxstyle": "circle", "fc": colour, "ec": "black"},
                )
        axes.set(title=title, xticks=[], yticks=[], aspect="equal", adjustable="datalim")
    figure.savefig(path, dpi=150)
    return True


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
