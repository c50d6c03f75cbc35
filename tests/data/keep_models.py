"""Save models for the tests to keep: ``python tests/data/keep_models.py FOLDER``.

Each model is saved with some rows and what it returned for them. A file of a release must load
forever, so nothing is ever overwritten: a change of the format adds a folder.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import seraph
from seraph import SERAPH, SERAPHCV, KernelSERAPH, MetricClassifier, PairClassifier
from seraph.classic import LMNN

MODELS = {
    "pipeline": make_pipeline(StandardScaler(), SERAPH()),
    "kernel": KernelSERAPH(SERAPH(n_components=2), gamma=0.5),
    "landmarks": KernelSERAPH(kernel="poly", degree=2, n_landmarks=8, random_state=0),
    "cv": SERAPHCV(SERAPH(max_iter=100), lam_factors=(0.5, 1.0, 2.0), cv=3),
    "lmnn": LMNN(),
    "classifier": MetricClassifier(SERAPH()),
    "pairs": PairClassifier(make_pipeline(StandardScaler(), SERAPH()), cv=2),
}


def answer_of(model: Any, rows: Any) -> Any:
    """What a model says of rows; a classifier of pairs, of the first and each of the others."""
    if isinstance(model, PairClassifier):
        return model.predict_proba([[0, k] for k in range(1, len(rows))], rows)
    return model.predict(rows) if hasattr(model, "predict") else model.transform(rows)


def fit_all() -> Iterator[tuple[str, Any, Any]]:
    """Yield the name of each model, the model after its fit, and rows to ask about."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 12)
    X = rng.normal(size=(36, 3)) + np.eye(3)[truth] * 3.0
    y = np.where(np.arange(36) % 2 == 0, truth, -1)
    table = pd.DataFrame(X, columns=["length", "width", "weight"])
    rows = rng.normal(size=(7, 3)) + 1.0
    for name, model in MODELS.items():
        named = name == "pipeline"
        asked = pd.DataFrame(rows, columns=table.columns) if named else rows
        yield name, clone(model).fit(table if named else X, y), asked


def main(folder: Path) -> None:
    folder.mkdir()
    for name, model, asked in fit_all():
        seraph.save(model, folder / f"{name}.skops")
        answer = answer_of(model, asked)
        np.savez(folder / f"{name}.npz", asked=np.asarray(asked), answer=answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
