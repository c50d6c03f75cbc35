"""Compare an ONNX graph with the model that it was made from, on every row of a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array

from .._decide._classifier import MetricClassifier
from .._decide._pair_classifier import PairClassifier
from .._utils._tiles import row_slices, spaced
from .._utils._typing import Array
from .._utils._validation import in_short, shown
from ._tables import column_names, text_columns, text_of, used_columns

# Differences that rounding explains, relative to the largest number that the model returns.
_TOLERANCES = {"float32": 1e-3, "float64": 1e-4}
# Rows that are compared at a time; rows that are compared with missing numbers, and their share.
_ROWS, _HOLED, _HOLES = 2_000, 300, 0.2
_CAUSES = {
    "KNNImputer": "Neighbors at equal distances have no order, and a row without any number has "
    "none: use SimpleImputer.",
    "KNeighborsClassifier": "Neighbors at equal distances have no order: use MetricClassifier.",
    "SimpleImputer": 'In a graph, "" is missing text: replace "" and None by NaN.',
}


def check_agreement(
    model: Any,
    steps: Pipeline,
    graph: Any,
    X: Any,
    raw: Mapping[str, Array],
    dtype: np.dtype[Any],
) -> None:
    """Raise an error that names likely causes if `graph` and `model` give different results.

    Both get every row of `X`, and some of them once more with missing numbers if the model takes
    those. `steps` are the steps of the model, and `raw` has, by name, the cells of text columns as
    the graph gets them.
    """
    for table, cells in _tables_like(model, steps, X, raw, dtype):
        if not (difference := _difference(model, graph, table, cells, dtype)):
            continue
        names = {type(step).__name__ for step in steps.get_params().values()}
        likely = [f"{name}: {cause}" for name, cause in _CAUSES.items() if name in names]
        advice = " ".join(likely) or "Center and scale the features before you fit."
        if dtype.name == "float32":
            advice += ' Or try dtype="float64".'
        raise ValueError(
            f"The graph of this {type(model).__name__} differs from the model in {difference}. "
            f"It is not returned. {advice}"
        )


def _tables_like(
    model: Any, steps: Pipeline, X: Any, raw: Mapping[str, Array], dtype: np.dtype[Any]
) -> Iterator[tuple[Any, dict[str, Array]]]:
    """Yield `X` as the graph gets it, and some of its rows with missing numbers."""
    names = column_names(steps)
    if names:
        table = _as_frame(steps, X, dtype)
    else:
        X = X.toarray() if sparse.issparse(X) else X
        table = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X")
        table = _rounded(table, dtype)
    if table.shape[1] != steps.n_features_in_:
        raise ValueError(
            f"X has {table.shape[1]} columns, but the model was fitted on {steps.n_features_in_}: "
            "pass the table that it was fitted on, to compare the graph with the model."
        )
    _ask(model, table[:1])  # the model itself reports an error in X
    for rows in row_slices(len(table), _ROWS):
        yield table[rows], {name: cells[rows] for name, cells in raw.items()}
    rows = spaced(len(table), _HOLED)
    holes = np.random.default_rng(0).random(table[rows].shape) < _HOLES
    if names:
        holes &= ~np.isin(names, [*text_columns(steps)])
        holed = table[rows].mask(holes)
    else:
        holed = np.where(holes, np.nan, table[rows])
    try:
        _ask(model, holed)
    except ValueError:  # the model does not take missing numbers
        return
    yield holed, {name: cells[rows] for name, cells in raw.items()}


def _as_frame(model: Any, X: Any, dtype: np.dtype[Any]) -> Any:
    """Return a data frame of numbers, rounded to `dtype`, and of text."""
    names, text, used = column_names(model), text_columns(model), used_columns(model)
    if not set(names) <= set(getattr(X, "columns", ())):
        raise ValueError(
            "X must be a data frame with the columns that the model was fitted on: "
            f"{shown(names)}."
        )
    frame = import_module("pandas").DataFrame({name: X[name] for name in names})
    for name in names:
        if name in text:
            frame[name] = frame[name].astype(object)
        elif name in used:
            frame[name] = _rounded(frame[name].to_numpy(np.float64), dtype)
    return frame.reset_index(drop=True)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers rounded to `dtype`; refuse those that it cannot hold."""
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype).astype(np.float64)
    if (np.isinf(rounded) & np.isfinite(values)).any():
        raise ValueError(f'X has numbers that {dtype.name} cannot hold: pass dtype="float64".')
    return rounded


def _ask(model: Any, rows: Any) -> list[Array]:
    """Return the results that the graph of a model should have, of pairs of neighboring rows."""
    names = ["transform" if hasattr(model, "transform") else "predict"]
    if is_classifier(model):
        names = [name for name in ("predict", "predict_proba") if hasattr(model, name)]
        if isinstance(model, MetricClassifier):
            names.append("transform")
    with warnings.catch_warnings():
        # The model may know the names of its features, and warns of new categories.
        warnings.simplefilter("ignore")
        if isinstance(model, PairClassifier):
            pairs = _neighbors(rows)
            pairs = rows.index.to_numpy()[pairs] if hasattr(rows, "index") else pairs
            answers = [model.predict_proba(pairs, rows), model.estimator_.transform(rows)]
        else:
            answers = [getattr(model, name)(rows) for name in names]
    return [a.toarray() if sparse.issparse(a) else np.asarray(a) for a in answers]


def _neighbors(rows: Any) -> Array:
    """Return the numbers of each row and the next, or of the only one twice."""
    return np.column_stack([np.arange(len(rows)), np.roll(np.arange(len(rows)), -1)])


def _difference(
    model: Any, graph: Any, rows: Any, cells: dict[str, Array], dtype: np.dtype[Any]
) -> str:
    """Say where a graph differs from its model; empty if it does not."""
    expected, inputs = _ask(model, rows), _inputs(rows, cells, dtype)
    inputs["pairs"] = inputs.get("pairs", _neighbors(rows))
    try:
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # an error is raised, too
        session = runtime.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        outputs = session.run(None, {one.name: inputs[one.name] for one in session.get_inputs()})
    except Exception as error:  # of onnxruntime, which has several kinds
        return in_short(f"onnxruntime cannot run it, {error}".rstrip("."))
    # A classifier returns classes first; a clustering returns them before the map.
    outputs = outputs[: len(expected)] if is_classifier(model) else outputs[-len(expected) :]
    for answer, returned in zip(expected, outputs, strict=True):
        output = np.asarray(returned).reshape(answer.shape)
        if answer.dtype.kind != "f":
            wrong = answer != output
        else:
            atol = _TOLERANCES[dtype.name] * np.nanmax(np.abs(answer), initial=0.0)
            wrong = ~np.isclose(output, answer, rtol=0.0, atol=atol, equal_nan=True)
        wrong = wrong.reshape(len(rows), -1).any(axis=1)
        if wrong.any():
            row = np.asarray(rows)[int(np.argmax(wrong))].tolist()
            return f"{wrong.sum()} of {len(rows)} rows, such as {shown(row)}"
    return ""


def _inputs(rows: Any, cells: dict[str, Array], dtype: np.dtype[Any]) -> dict[str, Array]:
    """Return rows as a graph takes them: as a whole, or each column by its name."""
    if not hasattr(rows, "columns"):
        return {"X": rows.astype(dtype)}
    inputs = {}
    for name in rows.columns:
        values = cells.get(name, rows[name].to_numpy())
        if values.dtype.kind in "biuf":
            inputs[name] = values.astype(dtype)[:, np.newaxis]
        else:
            texts = [[text_of(value)] for value in values]
            inputs[name] = np.array(texts, dtype=object).reshape(-1, 1)
    return inputs
