"""The models of the matrix: each public estimator, and each model that a page fits."""

import importlib
import importlib.util
import inspect
import re
import sys
import warnings
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_wine
from sybil.example import SybilFailure

from tests.helpers.people import people

ROOT = Path(__file__).parents[2]
PAGES = {
    path.relative_to(ROOT).as_posix(): path
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
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


@cache
def cases_on(page: str) -> list[Case]:
    """Run a page, and return the models that its blocks fit.

    What a block prints is not compared here: ``make docs`` does that.
    """
    docs = _pages()
    document = docs.parse(PAGES[page])
    cases: dict[str, Case] = {}
    docs.setup(document.namespace)
    try:
        for example in document.examples():
            with _Recorded(document.namespace, cases):
                try:
                    example.evaluate()
                except ModuleNotFoundError:  # of the group "search"; later blocks need it, too
                    break
                except SybilFailure as failure:
                    if "ModuleNotFoundError" in str(failure):
                        break
    finally:
        docs.teardown(document.namespace)
    fits = re.search(r"^```python\n(?:(?!```).)*\.fit\(", document.text, re.DOTALL | re.MULTILINE)
    assert cases or not fits, f"{page} fits a model that was not found"
    return list(cases.values())


def _pages() -> Any:
    """Return the reader of the pages, which docs/conftest.py defines."""
    spec = importlib.util.spec_from_file_location("pages", ROOT / "docs" / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PAGES


class _Recorded:
    """Record the models with a part of ours that code of a namespace fits, each kind once."""

    def __init__(self, namespace: dict[str, Any], cases: dict[str, Case]) -> None:
        self.namespace, self.cases = namespace, cases

    def __enter__(self) -> None:
        self.before = sys.getprofile()
        sys.setprofile(self.see)

    def __exit__(self, *error: object) -> None:
        sys.setprofile(self.before)

    def see(self, frame: Any, event: str, argument: Any) -> None:
        """Look at a call of ``fit`` as it begins."""
        code = frame.f_code
        if event != "call" or code.co_name not in ("fit", "fit_transform", "fit_predict"):
            return
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name in ("wrapper", "wrapped", "inner"):
            caller = caller.f_back
        if caller is None or caller.f_globals is not self.namespace:
            return
        arguments = {name: frame.f_locals[name] for name in code.co_varnames[: code.co_argcount]}
        model, X, *others = arguments.values()
        rest = dict(zip([*arguments][2:], others, strict=True))
        for name in code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]:
            rest[name] = frame.f_locals[name]
        if code.co_flags & inspect.CO_VARKEYWORDS:
            rest |= frame.f_locals[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]]
        asked = ("transform", "predict", "kneighbors", "find")  # HDBSCAN labels its own rows
        if not isinstance(model, BaseEstimator):
            return
        parts = [model, *model.get_params().values()]
        is_ours = any(type(part).__module__.startswith("seraph") for part in parts)
        if is_ours and any(hasattr(model, name) for name in asked):
            rest = {name: value for name, value in rest.items() if value is not None}
            shape = tuple(getattr(X, "shape", ()))
            self.cases.setdefault(f"{model} {shape} {sorted(rest)}", Case(model, X, rest))
