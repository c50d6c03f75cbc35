"""The models of the matrix: each public estimator."""

import importlib
import inspect
import warnings
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine

from tests.helpers.people import people

PACKAGES = ("seraph", "seraph.classic", "seraph.compat.metric_learn", "seraph.records")


@dataclass
class Case:
    """A fitted model, and what it was fitted on."""

    model: Any
    X: Any
    rest: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def rows(self) -> Any:
        """Points to ask about: those of the pairs, where a model was fitted on pairs of points."""
        X = self.X
        if getattr(self.model, "preprocessor", None) is not None:
            return np.asarray(self.model.preprocessor)
        return X.reshape(-1, X.shape[-1]) if getattr(X, "ndim", 2) == 3 else X

    def refit(self, X: Any = None, **rest: Any) -> Any:
        """Return a clone that is fitted again, on the same rows unless `X` is given."""
        np.random.seed(0)  # noqa: NPY002 -- what random_state=None draws from
        return clone(self.model).fit(self.X if X is None else X, **(self.rest | rest))

    @property
    def is_table(self) -> bool:
        """Whether the model was fitted on rows, not on pairs or triplets of them."""
        tuples = getattr(self.model, "preprocessor", None) is not None
        return not tuples and getattr(self.X, "ndim", 2) == 2

    @cached_property
    def refitted(self) -> Any:
        """A clone that was fitted again."""
        return self.refit()


def estimators() -> dict[str, type]:
    """Return every public estimator by its full name."""
    cases: dict[type, str] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if name == "MahalanobisLearner":  # a base class
                continue
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                cases.setdefault(value, f"{package}.{name}")
    return {name: kind for kind, name in cases.items()}


def _wine() -> tuple[Any, Any]:
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))[:60]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X[order, :5] / 2.0, y[order]


@cache
def case_of(name: str) -> Case:
    """Fit a public estimator to rows like those that it takes."""
    kind, (X, y) = estimators()[name], _wine()
    parameters = inspect.signature(kind).parameters
    model = kind(**{"random_state": 0} if "random_state" in parameters else {})
    first, *others = list(inspect.signature(kind.fit).parameters)[1:]
    rows = np.random.default_rng(0).integers(len(X), size=(40, 4))
    compat = name.startswith("seraph.compat")
    rest: dict[str, Any] = {"y": y if compat else np.where(np.arange(len(X)) < 24, y, -1)}
    if first == "pairs":
        X, rest = X[rows[:, :2]], {"y": np.where(y[rows[:, 0]] == y[rows[:, 1]], 1, -1)}
    elif first == "triplets":
        same = [np.flatnonzero(y == c) for c in range(3)]
        rows = [[same[c][0], same[c][k], same[c - 1][k]] for c in range(3) for k in range(1, 8)]
        X, rest = X[rows], {}
    elif first == "quadruplets":
        X, rest = X[rows], {}
    elif "chunks" in others:
        rest = {"chunks": y}
    elif "other" in others:
        X, rest = people()[0], {}
    elif name.endswith("TablePreparer"):
        X, rest = pd.DataFrame(X, columns=list("abcde")), {}
    elif "MLKR" in name:
        rest = {"y": np.sin(3.0 * X[:, 0]) + X[:, 1] ** 2}
    if name.endswith("RCA_Supervised"):
        model.set_params(n_chunks=8)
    case = Case(model, X, rest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.model = case.refit()
    return case
