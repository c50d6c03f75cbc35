"""Graphs that take the columns of a table by name: numbers, some of them missing, and text."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .._columns._preparer import unfold as unfold_preparer
from .._decide._classifier import MetricClassifier
from .._utils._typing import Array
from ._steps import first_step, flat_steps

# An ONNX text cannot be missing: an empty one stands for it.
MISSING_TEXT = ""


def column_names(model: Any) -> list[str]:
    """Return the names of the columns that a model was fitted on; none if they had none."""
    return [str(name) for name in getattr(model, "feature_names_in_", ())]


def selected_columns(model: Any) -> list[tuple[Any, list[str]]]:
    """Return the parts of a ColumnTransformer that comes first, and the columns of each by name.

    There are none if the model begins with another step, or if the columns had no names.
    """
    first, names = first_step(model), column_names(model)
    if not names or not isinstance(first, ColumnTransformer):
        return []
    places = first._transformer_to_input_indices
    parts = [(name, part) for name, part, _ in first.transformers_ if part != "drop"]
    return [(part, [names[k] for k in places[name]]) for name, part in parts]


def text_columns(model: Any) -> dict[str, Array]:
    """Return the known values of the columns that hold text, by name."""
    return {
        name: values
        for part, columns in selected_columns(model)
        for step in flat_steps(part)
        if isinstance(step, OneHotEncoder)
        for name, values in zip(columns, step.categories_, strict=True)
        if values.dtype.kind in "OUS"
    }


def text_of(value: Any) -> str:
    """Return a category as an ONNX graph reads it."""
    return MISSING_TEXT if value is None or value != value else str(value)  # noqa: PLR0124 (NaN)


def read_columns(model: Any, X: Any) -> Any:
    """Return a table as the graph of a model takes it: read, if a TablePreparer comes first."""
    inner = model.estimator_ if isinstance(model, MetricClassifier) else model
    preparer, _ = unfold_preparer(inner)
    return X if preparer is None or X is None else preparer._read(X)


def unfold(model: Any) -> Any:
    """Take the steps before the learner out of a classifier whose first one selects columns.

    skl2onnx finds columns by name only at the beginning of the outermost pipeline. A TablePreparer
    is replaced by its steps: the graph takes columns that have been read as numbers and text.
    """
    if not isinstance(model, MetricClassifier):
        return unfold_preparer(model)[1]
    preparer, rest = unfold_preparer(model.estimator_)
    if preparer is not None:
        model = copy(model)
        model.estimator_, model.n_features_in_ = rest, rest.n_features_in_
        model.feature_names_in_ = rest.feature_names_in_
    if not isinstance(first_step(model.estimator_), ColumnTransformer):
        return model
    *before, (_, learner) = model.estimator_.steps
    rule = copy(model)
    rule.estimator_, rule.n_features_in_ = learner, learner.n_features_in_
    rule.__dict__.pop("feature_names_in_", None)
    return Pipeline([*before, ("classifier", rule)])


def split_input(graph: Any, names: list[str]) -> None:
    """Replace the input "X" of a graph by one input for each column."""
    helper = import_module("onnx.helper")
    kind = graph.graph.input[0].type.tensor_type.elem_type
    rows = graph.graph.input[0].type.tensor_type.shape.dim[0].dim_param or "N"
    del graph.graph.input[:]
    graph.graph.input.extend(
        helper.make_tensor_value_info(name, kind, [rows, 1]) for name in names
    )
    graph.graph.node.insert(0, helper.make_node("Concat", names, ["X"], name="columns", axis=1))


def rename_inputs(graph: Any, names: list[str]) -> None:
    """Give the inputs of a graph the names of the columns, and leave out those that are not used.

    skl2onnx turns the names into identifiers.
    """
    used = {name for node in graph.graph.node for name in node.input}
    new = dict(zip([value.name for value in graph.graph.input], names, strict=True))
    for value in list(graph.graph.input):
        if value.name in used:
            value.name = new[value.name]
        else:
            graph.graph.input.remove(value)
    for node in graph.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = new.get(name, name)
