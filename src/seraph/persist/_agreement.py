"""Compare an ONNX graph with the model that it was made from."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import KNNImputer, SimpleImputer

from .._base import MahalanobisLearner
from .._estimators._classifier import MetricClassifier
from .._estimators._kernel import KernelSERAPH
from .._utils._typing import Array
from ._tables import column_names, selects_columns, text_columns, text_of

_ROWS = 50
# Differences that rounding explains, relative to the largest number that the model returns.
_TOLERANCES = {"float32": 1e-3, "float64": 1e-4}
# Share of a classifier's rows that may differ, as neighbors at equal distances have no order.
_TIES = 0.1
# Shares of a class that are this close count as equal.
_CLEAR = 0.1
# Share of the numbers to leave out where a model fills them in.
_MISSING = 0.2


def check_agreement(model: BaseEstimator, graph: Any, dtype: np.dtype[Any]) -> None:
    """Raise an error if `graph` does not return what `model` does."""
    with warnings.catch_warnings():
        # The model may know the names of its features; the probe has none.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        _compare(model, graph, dtype)


def _compare(model: BaseEstimator, graph: Any, dtype: np.dtype[Any]) -> None:
    tolerance = _TOLERANCES[dtype.name]
    table = selects_columns(model)
    rows = _table_probe(model, dtype) if table else _probe(model).astype(dtype)
    columns = columns_of(rows, column_names(model) or [], dtype) or {"X": rows}
    outputs = _run(graph, {value.name: columns[value.name] for value in graph.graph.input})
    if not table:
        rows = rows.astype(np.float64)
    if is_classifier(model):
        expected = _shares(model, rows)
        shares = outputs[1] if hasattr(model, "predict_proba") else _one_hot(model, outputs[0])
        steady = np.full(len(rows), True) if table else _steady(model, rows, expected, tolerance)
        away = np.abs(shares - expected).max(axis=1)[steady]
        differs = bool(len(away)) and not np.mean(away <= _CLEAR) >= 1.0 - _TIES
    else:
        maps = hasattr(model, "transform")
        expected = np.asarray(model.transform(rows) if maps else model.predict(rows))
        away = np.abs(outputs[-1].reshape(expected.shape) - expected)
        differs = not np.all(away <= tolerance * np.abs(expected).max())
    if differs:
        advice = ' Try dtype="float64".' if dtype.name == "float32" else ""
        raise ValueError(
            f"The graph of this {type(model).__name__} differs from the model by up to "
            f"{away.max():.3g} on {len(rows)} rows like those it was fitted on, where the model "
            f"returns numbers up to {np.abs(expected).max():.3g}. It is not returned. Center and "
            f"scale the features before you fit.{advice}"
        )


def _steady(model: BaseEstimator, rows: Array, expected: Array, tolerance: float) -> Array:
    """Return the rows that are not next to the border of two classes, where rounding decides."""
    steady = np.ones(len(rows), dtype=bool)
    away_from_mean = rows - rows.mean(axis=0)
    for factor in (-tolerance, tolerance):
        other = _shares(model, rows + factor * away_from_mean)
        steady &= np.abs(other - expected).max(axis=1) <= _CLEAR
    return steady


def _shares(model: BaseEstimator, rows: Array) -> Array:
    """Return the share of each class, all or nothing if the model has no probabilities."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(rows))
    return _one_hot(model, model.predict(rows))


def _one_hot(model: BaseEstimator, labels: Array) -> Array:
    return np.asarray(labels[:, np.newaxis] == model.classes_, dtype=np.float64)


def _probe(model: BaseEstimator) -> Array:
    """Make rows like those that the model was fitted on, as far as it remembers them."""
    before, last = [], last_step(model)
    for step in _flat(model):
        if isinstance(step, MahalanobisLearner):
            rows = _rows_of(step)
            if isinstance(last, MetricClassifier) and not isinstance(step, KernelSERAPH):
                known = last.points_ * last.scale_ + last.center_
                rows = _between(known)
                if step.isotropic_:  # the mapped points end in the points themselves
                    rows = rows[:, len(step.components_) :] / step.isotropic_
                else:
                    rows = rows @ np.linalg.pinv(step.components_).T
            break
        before.append(step)
    else:
        return np.random.default_rng(0).normal(size=(_ROWS, model.n_features_in_))
    for step in reversed(before):
        # An imputer leaves rows without holes as they are, and cannot always be inverted.
        if hasattr(step, "inverse_transform") and not isinstance(step, SimpleImputer | KNNImputer):
            rows = step.inverse_transform(rows)
    if rows.shape[1] != model.n_features_in_:
        rows = np.random.default_rng(0).normal(size=(_ROWS, model.n_features_in_))
    return rows


def _table_probe(model: Any, dtype: np.dtype[Any]) -> Any:
    """Make rows of a table: numbers, some missing if they may be, and known and new texts."""
    import pandas as pd

    rng = np.random.default_rng(0)
    known, columns = text_columns(model), {}
    selector = next(step for step in _flat(model) if isinstance(step, ColumnTransformer))
    for _, part, names in selector.transformers_:
        steps = [step for _, step in getattr(part, "steps", [("", part)])]
        numbers = rng.normal(size=(_ROWS, len(names)))
        for step in reversed(steps):
            if hasattr(step, "inverse_transform") and hasattr(step, "scale_"):
                numbers = step.inverse_transform(numbers)
        if any(type(step).__name__.endswith("Imputer") for step in steps):
            numbers[rng.random(numbers.shape) < _MISSING] = np.nan
        for name, values in zip(names, numbers.T, strict=True):
            columns[str(name)] = values.astype(dtype).astype(np.float64)
            if name in known:
                some = np.array([*known[name], "never seen before"], dtype=object)
                columns[str(name)] = rng.choice(some, _ROWS)
    return pd.DataFrame({name: columns.get(name, 0.0) for name in column_names(model) or ()})


def columns_of(rows: Any, names: list[str], dtype: np.dtype[Any]) -> dict[str, Array]:
    """Return the columns of a frame or an array as a graph takes them."""
    columns = {}
    for number, name in enumerate(names):
        values = np.asarray(rows[name] if hasattr(rows, "columns") else rows[:, number])
        text = values.dtype.kind not in "biuf"
        values = np.array([text_of(v) for v in values]) if text else values.astype(dtype)
        columns[name] = values[:, np.newaxis]
    return columns


def last_step(model: BaseEstimator) -> BaseEstimator:
    """Return the last step of a pipeline, or of the one in it; or the model itself."""
    return last_step(model.steps[-1][1]) if hasattr(model, "steps") else model


def _between(points: Array) -> Array:
    """Make points between those that are known, none of which is at the same distance of two."""
    one, other = np.random.default_rng(0).integers(len(points), size=(2, _ROWS))
    return 0.8 * points[one].astype(np.float64) + 0.2 * points[other]


def _rows_of(learner: MahalanobisLearner) -> Array:
    if isinstance(learner, KernelSERAPH):
        landmarks = learner.kernel_map_.landmarks
        return landmarks[:: -(-len(landmarks) // _ROWS)]
    # The others are linear: any scale will do.
    return np.random.default_rng(0).normal(size=(_ROWS, learner.n_features_in_))


def _flat(model: BaseEstimator) -> list[BaseEstimator]:
    """List the steps of a model, those of inner pipelines too."""
    if isinstance(model, MetricClassifier):
        return _flat(model.estimator_)
    if hasattr(model, "steps"):
        return [part for _, step in model.steps for part in _flat(step)]
    return [model]


def _run(graph: Any, columns: dict[str, Array]) -> list[Any]:
    """Run a graph by onnxruntime, or without it by the evaluator that comes with onnx."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        session = import_module("onnx.reference").ReferenceEvaluator(graph)
    else:
        session = runtime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    outputs: list[Any] = session.run(None, columns)
    return outputs
