"""Show what the package does, on penguins: ``seraph demo``.

Learn a metric from the species of 30 of 333 penguins, ten times over, compare the clusters of
k-means before and after, and draw both. Needs no extra package, except matplotlib for the picture.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from ... import MeanMetric
from ..._utils._typing import Array
from ...classic import Euclidean
from ...persist._write import write_whole

_LABELED = 30


def main(n_samplings: int = 10, picture: Path = Path("demo.png")) -> dict[str, float]:
    """Print two mean adjusted Rand indices and draw the picture; return the indices."""
    table = json.loads(Path(__file__).with_name("penguins.json").read_text(encoding="utf-8"))
    species = np.repeat(list(table), [len(rows) for rows in table.values()])
    X = StandardScaler().fit_transform(np.concatenate(list(table.values())))
    found: dict[str, list[float]] = {"Euclidean": [], "MeanMetric": []}
    drawn = False
    for seed in range(n_samplings):
        labeled = np.random.default_rng(seed).choice(len(X), _LABELED, replace=False)
        partly = np.full(len(X), None)
        partly[labeled] = species[labeled]
        for learner in (Euclidean(), MeanMetric()):
            Z = learner.fit(X, partly).transform(X)
            groups = KMeans(len(table), n_init=10, random_state=0).fit_predict(Z)
            found[type(learner).__name__].append(adjusted_rand_score(species, groups))
        if seed == 0:
            drawn = _draw(learner, X, partly, species, picture)
    scores = {name: float(np.mean(values)) for name, values in found.items()}
    print(
        f"{len(X)} penguins, {_LABELED} of them labeled. How well k-means finds the species "
        f"(adjusted Rand index, 1: perfect), mean of {n_samplings}:"
    )
    for name, place in (("Euclidean", f"left in {picture}"), ("MeanMetric", "right")):
        print(f"  {name:<12}{scores[name]:.2f}{f'   {place}' if drawn else ''}")
    if not drawn:
        print("For the picture, install matplotlib: pip install 'seraph-learn[plot]'")
    return scores


def _draw(learner: MeanMetric, X: Array, y: Array, species: Array, path: Path) -> bool:
    """Draw the penguins before and after; False without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    from ...plot import EmbeddingDisplay

    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    EmbeddingDisplay.from_estimator(learner, X, y, classes=species, ax=figure.subplots(1, 2))
    kind = path.suffix[1:] or "png"
    write_whole(path, lambda file: figure.savefig(file, format=kind, dpi=200))
    return True
