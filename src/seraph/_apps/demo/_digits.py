"""Show what the package does, on scikit-learn's digits: ``python -m seraph demo``.

Learn a metric on handwritten digits from 10 labeled and 90 unlabeled images, several times
over, compare the 1-NN errors, and draw the digits before and after. Needs no extra package,
except matplotlib for the picture.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from ... import SERAPH, MetricClassifier
from ...classic import Euclidean
from ...persist._write import write_whole

Array: TypeAlias = NDArray[Any]
_DIGITS, _TRAIN, _LABELED, _DRAWN = range(1, 6), 100, 10, 400

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


class Sampling(NamedTuple):
    """Training images, their classes, -1 where these are not told, and test images."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def main(n_samplings: int = 20, picture: Path = Path("demo.png")) -> dict[str, list[float]]:
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
        sampling = _sample(X, y, seed)
        for name, learner in LEARNERS.items():
            classifier = MetricClassifier(clone(learner), rule="nearest")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                classifier.fit(sampling.X, sampling.y)
            errors[name].append(100 * (1 - classifier.score(sampling.X_test, sampling.y_test)))
    for name, values in errors.items():
        spread = np.std(values, ddof=1) / np.sqrt(n_samplings) if n_samplings > 1 else 0.0
        bar = "#" * round(np.mean(values))
        print(f"  {name:<10}{np.mean(values):6.1f} ± {spread:.1f} %  {bar}")
    print()
    for name, words in WORDS.items():
        print(f"  {name:<10}{words}")
    if _draw(_sample(X, y, seed=0), picture):
        print(f"\nThe digits before and after: {picture}")
    else:
        print("\nFor the picture, install matplotlib: pip install 'seraph-learn[plot]'")
    return errors


def _sample(X: Array, y: Array, seed: int) -> Sampling:
    """Sample training images, as many of each class; a few of each are labeled."""
    X, X_test, y, y_test = train_test_split(X, y, train_size=_TRAIN, stratify=y, random_state=seed)
    _, hidden = train_test_split(
        np.arange(_TRAIN), test_size=_TRAIN - _LABELED, stratify=y, random_state=seed
    )
    y = y.copy()
    y[hidden] = -1
    return Sampling(X, y, X_test, y_test)


def _draw(sampling: Sampling, path: Path) -> bool:
    """Draw the training images and 400 test images before and after; False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    X = np.concatenate([sampling.X, sampling.X_test[:_DRAWN]])
    y = np.concatenate([sampling.y, sampling.y_test[:_DRAWN]])
    from ...plot import EmbeddingDisplay

    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    learner = SERAPH().fit(sampling.X, sampling.y)
    EmbeddingDisplay.from_estimator(learner, X, y, ax=figure.subplots(1, 2))
    kind = path.suffix[1:] or "png"
    write_whole(path, lambda file: figure.savefig(file, format=kind, dpi=150))
    return True
