"""Show what the package does, on scikit-learn's digits: ``seraph demo``.

Learn a metric on handwritten digits from 10 labeled and 90 unlabeled images, several times over,
compare the 1-NN errors, and draw the digits before and after. Needs no extra package, except
matplotlib for the picture.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from ... import MeanMetric, MetricClassifier
from ..._utils._typing import Array
from ...classic import Euclidean
from ...persist._write import write_whole

_DIGITS, _TRAIN, _LABELED = range(1, 6), 100, 10
LEARNERS = {"Euclidean": Euclidean(), "MeanMetric": MeanMetric()}


def main(n_samplings: int = 10, picture: Path = Path("demo.png")) -> dict[str, list[float]]:
    """Print a table of errors and draw the picture; return the 1-NN errors of each method in %."""
    X, y = load_digits(return_X_y=True)
    X, y = X[np.isin(y, _DIGITS)] / 16.0, y[np.isin(y, _DIGITS)]
    print(
        f"scikit-learn's handwritten digits 1 to 5: {_TRAIN} images, {_LABELED} of them "
        f"labeled, {len(X) - _TRAIN} test images.\n"
        f"Error of the nearest labeled image, mean of {n_samplings} samplings:\n"
    )
    errors: dict[str, list[float]] = {name: [] for name in LEARNERS}
    for seed in range(n_samplings):
        train, test = train_test_split(
            np.arange(len(y)), train_size=_TRAIN, stratify=y, random_state=seed
        )
        partly = y[train].copy()
        partly[train_test_split(
            np.arange(_TRAIN), test_size=_TRAIN - _LABELED, stratify=partly, random_state=seed
        )[1]] = -1  # fmt: skip
        for name, learner in LEARNERS.items():
            classifier = MetricClassifier(clone(learner), rule="nearest").fit(X[train], partly)
            errors[name].append(100 * (1 - classifier.score(X[test], y[test])))
        if seed == 0:
            drawn = _draw(classifier, X[train], partly, y[train], picture)
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(n_samplings) if n_samplings > 1 else 0.0
        print(
            f"  {name:<11}{np.mean(values):5.1f} ± {spread:.1f} %  {'#' * round(np.mean(values))}"
        )
    if drawn:
        print(f"\nThe digits before and after: {picture}")
    else:
        print("\nFor the picture, install matplotlib: pip install 'seraph-learn[plot]'")
    return errors


def _draw(model: MetricClassifier, X: Array, y: Array, classes: Array, path: Path) -> bool:
    """Draw the images before and after; False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from ...plot import EmbeddingDisplay

    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    EmbeddingDisplay.from_estimator(model, X, y, classes=classes, ax=figure.subplots(1, 2))
    kind = path.suffix[1:] or "png"
    write_whole(path, lambda file: figure.savefig(file, format=kind, dpi=150))
    return True
