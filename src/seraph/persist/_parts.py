"""Prepare the estimators inside a model for saving, and restore them after loading."""

from __future__ import annotations

import copy
import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.neighbors import BallTree, KDTree, KNeighborsClassifier, NearestNeighbors

from ._trusted import is_object

_TREES = {"kd_tree": KDTree, "ball_tree": BallTree}


def change_parts(value: Any, change: Callable[[BaseEstimator], None]) -> Any:
    """Copy a model and apply `change` to each estimator in the copy; arrays are shared."""
    if is_object(value):
        part = copy.copy(value)
        for name, inner in vars(part).items():
            vars(part)[name] = change_parts(inner, change)
        if isinstance(part, BaseEstimator):
            change(part)
        return part
    if type(value) is dict:
        return {key: change_parts(inner, change) for key, inner in value.items()}
    if type(value) in (list, tuple):
        return type(value)(change_parts(inner, change) for inner in value)
    return value


def difference(saved: Any, read: Any, where: str = "model") -> str:
    """Return the place of the first difference between two values; empty if there is none."""
    if type(saved) is not type(read):
        return where
    if is_object(saved):
        pairs = [(name, value, vars(read).get(name)) for name, value in vars(saved).items()]
    elif isinstance(saved, dict):
        if saved.keys() != read.keys():
            return where
        pairs = [(str(key), value, read[key]) for key, value in saved.items()]
    elif isinstance(saved, np.random.RandomState):
        return difference(saved.get_state(), read.get_state(), where)
    elif isinstance(saved, np.ndarray):
        if saved.dtype != read.dtype or saved.shape != read.shape:
            return where
        if saved.dtype == object:
            return difference(saved.ravel().tolist(), read.ravel().tolist(), where)
        nan = saved.dtype.kind in "fcmM"
        return "" if np.array_equal(saved, read, equal_nan=nan) else where
    elif isinstance(saved, list | tuple):
        if len(saved) != len(read):
            return where
        pairs = [(str(k), value, read[k]) for k, value in enumerate(saved)]
    else:
        return "" if saved == read or saved != saved else where  # noqa: PLR0124 (NaN)
    return next(filter(None, (difference(a, b, f"{where}.{key}") for key, a, b in pairs)), "")


def to_file(part: BaseEstimator) -> None:
    """Replace attributes that cannot be saved safely.

    A search tree for nearest neighbors holds row numbers that compiled code follows unchecked,
    so a file must not supply one. Only the kind of tree is saved, with the method set to brute
    force; `from_file` rebuilds the tree. Booleans of numpy become Python's, because numpy 1 and
    2 give their type different names.
    """
    for name, value in vars(part).items():
        if isinstance(value, np.bool_):
            setattr(part, name, bool(value))
        elif isinstance(value, os.PathLike):
            setattr(part, name, os.fspath(value))
    if _has_tree(part):
        part._tree, part._fit_method = part._fit_method, "brute"


def from_file(part: BaseEstimator) -> None:
    """Rebuild search trees, and add the parameters that are newer than the file."""
    for name, parameter in inspect.signature(type(part).__init__).parameters.items():
        if parameter.default is not inspect.Parameter.empty:
            vars(part).setdefault(name, parameter.default)
    if _has_tree(part):
        part._fit_method = part._tree
        part._tree = _TREES[part._fit_method](
            part._fit_X,
            part.leaf_size,
            metric=part.effective_metric_,
            **part.effective_metric_params_,
        )


def _has_tree(part: BaseEstimator) -> bool:
    if not isinstance(part, KNeighborsClassifier | NearestNeighbors):
        return False
    return getattr(part, "_tree", None) is not None
