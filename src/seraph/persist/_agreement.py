"""Compare an ONNX graph with the model that it was made from, on every row of a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import check_array

from .._decide._classifier import MetricClassifier
from .._utils._typing import Array
from .._utils._validation import in_short, shown
from ._steps import last_step
from ._tables import column_names, selected_columns, text_columns, text_of

# Differences that rounding explains, relative to the largest number that the model returns.
_TOLERANCES = {"float32": 1e-3, "float64": 1e-4}
# Rows that are compared at once; rows that get holes, and the share of the holes.
_ROWS, _HOLED, _HOLES = 10_000, 300, 0.2
_NEW_TEXT = "never seen before"
_CAUSES = {
    "KNNImputer": "Neighbors at equal distances have no order, and a row without any number has "
    "none: use SimpleImputer.",
    "KNeighborsClassifier": "Neighbors at equal distances have no order: use MetricClassifier.",
    "SimpleImputer": 'In a graph, "" stands for missing text: replace "" and None by NaN.',
}


def check_agreement(model: BaseEstimator, graph: Any, X: Any, dtype: np.dtype[Any]) -> None:
    """Raise an error that names likely causes if `graph` and `model` give different results.

    Both get every row of `X`, some of them once more with missing numbers and with new and
    missing text if the model takes those.
    """
    for rows in _tables_like(model, X, dtype):
        if not (words := _difference(model, graph, rows, dtype)):
            continue
        steps = {type(step).__name__ for step in model.get_params().values()}
        likely = [f"{name}: {cause}" for name, cause in _CAUSES.items() if name in steps]
        advice = " ".join(likely) or "Center and scale the features before you fit."
        if dtype.name == "float32":
            advice += ' Or try dtype="float64".'
        raise ValueError(
            f"The graph of this {type(model).__name__} differs from the model in {words}. It is "
            f"not returned. {advice}"
        )


def _tables_like(model: Any, X: Any, dtype: np.dtype[Any]) -> Iterator[Any]:
    """Yield `X` as the graph gets it, and some of its rows with holes and new text."""
    if column_names(model):
        table, text = _as_table(model, X, dtype), list(text_columns(model))
    else:
        X = X.toarray() if sparse.issparse(X) else X
        table = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X")
        table, text = _rounded(table, dtype), []
    if table.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {table.shape[1]} columns, but the model was fitted on {model.n_features_in_}: "
            "pass the table that it was fitted on, to compare the graph with the model."
        )
    _ask(model, table[:1])  # the model itself reports an error in X
    for start in range(0, len(table), _ROWS):
        yield table[start : start + _ROWS]
    few = table[:: -(-len(table) // _HOLED)]
    rng = np.random.default_rng(0)
    if not text:
        changed = [few.mask(_holes(few, rng)) if hasattr(few, "mask") else _make_holes(few, rng)]
    else:
        numbers = [name for name in few if name not in text]
        changed = [few.assign(**few[numbers].mask(_holes(few[numbers], rng)))] if numbers else []
        for name in text:
            changed.append(few.assign(**{name: _NEW_TEXT}))
            if not (table[name] == "").any():  # otherwise it stands for itself
                changed.append(few.assign(**{name: few[name].mask(few[name] == few[name])}))
    for rows in changed:
        try:
            _ask(model, rows)
        except ValueError:  # the model does not take such rows
            continue
        yield rows


def _as_table(model: Any, X: Any, dtype: np.dtype[Any]) -> Any:
    """Return a data frame of numbers, rounded to `dtype`, and of text."""
    pd = import_module("pandas")
    names, text = column_names(model), text_columns(model)
    used = {name for _, columns in selected_columns(model) for name in columns} or set(names)
    if not set(names) <= set(getattr(X, "columns", ())):
        raise ValueError(
            "X must be a data frame with the columns that the model was fitted on: "
            f"{shown(names)}."
        )
    columns = {}
    for name in names:
        values = pd.Series(X[name]).reset_index(drop=True)
        if name in text:
            values = values.astype(object)
        elif name in used:
            values = _rounded(values.to_numpy(np.float64), dtype)
        columns[name] = values
    return pd.DataFrame(columns)


def _rounded(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers rounded to `dtype`; refuse those that it cannot hold."""
    with np.errstate(over="ignore"):
        rounded = values.astype(dtype).astype(np.float64)
    if (np.isinf(rounded) & np.isfinite(values)).any():
        raise ValueError(f'X has numbers that {dtype.name} cannot hold: pass dtype="float64".')
    return rounded


def _holes(rows: Any, rng: np.random.Generator) -> Array:
    """Choose cells to leave out, but never all of a row."""
    holes = rng.random(rows.shape) < _HOLES
    holes[np.arange(len(rows)), rng.integers(rows.shape[1], size=len(rows))] = rows.shape[1] == 1
    return holes


def _make_holes(rows: Array, rng: np.random.Generator) -> Array:
    return np.where(_holes(rows, rng), np.nan, rows)


def _ask(model: Any, rows: Any) -> list[Array]:
    """Return the results that the graph of a model should have."""
    with warnings.catch_warnings():
        # The model may know the names of its features, and warns of new categories.
        warnings.simplefilter("ignore")
        if is_classifier(model):
            names = [n for n in ("predict", "predict_proba") if hasattr(model, n)]
            if isinstance(last_step(model), MetricClassifier):
                names.append("transform")
        else:
            names = ["transform" if hasattr(model, "transform") else "predict"]
        found = [getattr(model, name)(rows) for name in names]
    return [a.toarray() if sparse.issparse(a) else np.asarray(a) for a in found]


def _difference(model: Any, graph: Any, rows: Any, dtype: np.dtype[Any]) -> str:
    """Say where a graph differs from its model; empty if it does not."""
    expected = _ask(model, rows)
    try:
        outputs = _run(graph, _inputs(rows, dtype))
    except Exception as error:  # of onnxruntime, which has several kinds
        return in_short(f"onnxruntime cannot run it, {error}".rstrip("."))
    # A classifier returns classes first; a clustering returns them before the map.
    outputs = outputs[: len(expected)] if is_classifier(model) else outputs[-1:]
    for answer, returned in zip(expected, outputs, strict=True):
        output = np.asarray(returned).reshape(answer.shape)
        if answer.dtype.kind != "f":
            wrong = answer != output
        else:
            size = np.nanmax(np.abs(answer), initial=0.0)
            with np.errstate(invalid="ignore"):
                near = np.abs(output - answer) <= _TOLERANCES[dtype.name] * size
            wrong = ~(near | (np.isnan(answer) & np.isnan(output)))
        wrong = wrong.reshape(len(rows), -1).any(axis=1)
        if wrong.any():
            place = int(np.flatnonzero(wrong)[0])
            row = np.asarray(rows)[place].tolist()
            return f"{wrong.sum()} of {len(rows)} rows, such as {shown(row)}"
    return ""


def _inputs(rows: Any, dtype: np.dtype[Any]) -> dict[str, Array]:
    """Return rows as a graph takes them: as a whole, or each column by its name."""
    columns = {str(name): rows[[name]].to_numpy() for name in getattr(rows, "columns", ())}
    columns = columns or {"X": rows}
    for name, values in columns.items():
        if values.dtype.kind in "biuf":
            columns[name] = values.astype(dtype)
        else:
            texts = np.array([text_of(value) for value in values.flat], dtype=object)
            columns[name] = texts.reshape(values.shape)
    return columns


def _run(graph: Any, inputs: dict[str, Array]) -> list[Any]:
    """Run a graph by onnxruntime, or without it by the evaluator that comes with onnx."""
    try:
        runtime = import_module("onnxruntime")
    except ImportError:
        session = import_module("onnx.reference").ReferenceEvaluator(graph)
    else:
        options = runtime.SessionOptions()
        options.log_severity_level = 4  # an error is raised, too
        session = runtime.InferenceSession(
            graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
    wanted = {value.name: inputs[value.name] for value in graph.graph.input}
    outputs: list[Any] = session.run(None, wanted)
    return outputs
