"""Compare an ONNX graph with the model that it was made from."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.impute import KNNImputer, SimpleImputer

from .._base import MahalanobisLearner
from .._estimators._classifier import MetricClassifier
from .._estimators._kernel import KernelMap
from .._utils._typing import Array
from ._steps import flat_steps, last_step
from ._tables import column_names, selected_columns, text_columns, text_of

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
    tolerance = _TOLERANCES[dtype.name]
    table = bool(selected_columns(model))
    rows = _table_probe(model, dtype) if table else _probe(model).astype(dtype)
    outputs = _run(graph, _inputs(rows, column_names(model), dtype))
    if not table:
        rows = rows.astype(np.float64)
    with warnings.catch_warnings():
        # The model may know the names of its features; the probe has none.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if is_classifier(model):
            expected = _shares(model, rows)
            shares = outputs[1] if hasattr(model, "predict_proba") else _one_hot(model, outputs[0])
            away = np.abs(shares - expected).max(axis=1)
            if not table:
                away = away[_steady(model, rows, expected, tolerance)]
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
    """Return the rows that are not next to a decision boundary, where rounding decides."""
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


def _probe(model: Any) -> Array:
    """Make rows like those that the model was fitted on, as far as it remembers them."""
    rng = np.random.default_rng(0)
    anything = rng.normal(size=(_ROWS, model.n_features_in_))
    steps, rule = flat_steps(model), last_step(model)
    places = [k for k, step in enumerate(steps) if isinstance(step, MahalanobisLearner)]
    if not places:
        return anything
    learner = steps[places[0]]
    kernel_maps = [step for step in steps if isinstance(step, KernelMap)]
    if kernel_maps:
        landmarks = kernel_maps[0].landmarks
        rows = landmarks[:: -(-len(landmarks) // _ROWS)]
    elif isinstance(rule, MetricClassifier) and len(places) == 1:
        # Between labeled points, so that none is at the same distance of two, and mapped back.
        points = rule.points_ * rule.scale_ + rule.center_
        one, other = rng.integers(len(points), size=(2, _ROWS))
        rows = 0.8 * points[one].astype(np.float64) + 0.2 * points[other]
        if learner.isotropic_:  # the mapped points end in the points themselves
            rows = rows[:, len(learner.components_) :] / learner.isotropic_
        else:
            rows = rows @ np.linalg.pinv(learner.components_).T
    else:  # the map is linear: any scale will do
        rows = rng.normal(size=(_ROWS, learner.n_features_in_))
    for step in reversed(steps[: places[0]]):
        # An imputer leaves rows without holes as they are, and cannot always be inverted.
        if hasattr(step, "inverse_transform") and not isinstance(step, SimpleImputer | KNNImputer):
            rows = step.inverse_transform(rows)
    return rows if rows.shape[1] == model.n_features_in_ else anything


def _table_probe(model: Any, dtype: np.dtype[Any]) -> Any:
    """Make rows of a table: numbers, some missing if they may be, and known and new texts."""
    import pandas as pd

    rng = np.random.default_rng(0)
    known, columns = text_columns(model), {}
    for part, names in selected_columns(model):
        steps = flat_steps(part)
        numbers = rng.normal(size=(_ROWS, len(names)))
        for step in reversed(steps):
            if hasattr(step, "inverse_transform") and hasattr(step, "scale_"):
                numbers = step.inverse_transform(numbers)
        if any(type(step).__name__.endswith("Imputer") for step in steps):
            numbers[rng.random(numbers.shape) < _MISSING] = np.nan
        for name, values in zip(names, numbers.T, strict=True):
            columns[name] = values.astype(dtype).astype(np.float64)
            if name in known:
                some = np.array([*known[name], "never seen before"], dtype=object)
                columns[name] = rng.choice(some, _ROWS)
    return pd.DataFrame({name: columns.get(name, 0.0) for name in column_names(model)})


def _inputs(rows: Any, names: list[str], dtype: np.dtype[Any]) -> dict[str, Array]:
    """Return rows as a graph takes them: as a whole, or each column by its name."""
    if not names:
        return {"X": rows}
    columns = {}
    for number, name in enumerate(names):
        values = np.asarray(rows[name] if hasattr(rows, "columns") else rows[:, number])
        text = values.dtype.kind not in "biuf"
        values = np.array([text_of(v) for v in values]) if text else values.astype(dtype)
        columns[name] = values[:, np.newaxis]
    return columns


def _run(graph: Any, inputs: dict[str, Array]) -> list[Any]:
    """Run a graph by onnxruntime, or without it by the evaluator that comes with onnx."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        session = import_module("onnx.reference").ReferenceEvaluator(graph)
    else:
        session = runtime.InferenceSession(
            graph.SerializeToString(), providers=["CPUExecutionProvider"]
        )
    wanted = {value.name: inputs[value.name] for value in graph.graph.input}
    outputs: list[Any] = session.run(None, wanted)
    return outputs
