"""The steps of a model that is exported, and graphs that take the columns of a table by name."""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from .._decide._classifier import MetricClassifier
from .._decide._pair_classifier import PairClassifier
from .._decide._space import ForestSpace
from .._utils._typing import Array
from .._utils._validation import shown
from ..tables._preparer import TablePreparer
from ..tables._table import as_table
from ..tables._words import MISSING

# An ONNX text cannot be missing: it is empty instead.
MISSING_TEXT = ""


def check_export(model: Any, dtype: DTypeLike) -> np.dtype[Any]:
    """Refuse anything but a fitted estimator; return the type of the numbers to write."""
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(
            f"model must be a fitted estimator, such as a SERAPH; got {shown(model)}."
        )
    check_is_fitted(model)
    if dtype not in ("float32", "float64", np.float32, np.float64):
        raise ValueError(f"dtype must be float32 or float64; got {shown(dtype)}.")
    return np.dtype(dtype)


def flat_steps(model: Any) -> list[Any]:
    """List the steps of a model, also those of inner pipelines and inside of classifiers."""
    if isinstance(model, MetricClassifier | PairClassifier):
        return flat_steps(model.estimator_)
    if hasattr(model, "steps"):
        return [part for _, step in model.steps for part in flat_steps(step)]
    return [model]


def column_names(model: Any) -> list[str]:
    """Return the names of the columns that a model was fitted on; none if they had none."""
    return [str(name) for name in getattr(model, "feature_names_in_", ())]


def selected_columns(model: Pipeline) -> list[tuple[Any, list[str]]]:
    """Return the parts of a ColumnTransformer that comes first, and the columns of each by name.

    There are none if the model begins with another step, or if the columns had no names.
    """
    first, names = model.steps[0][1], column_names(model)
    if not names or not isinstance(first, ColumnTransformer):
        return []
    places = first._transformer_to_input_indices
    parts = [(name, part) for name, part, _ in first.transformers_ if part != "drop"]
    return [(part, [names[k] for k in places[name]]) for name, part in parts]


def used_columns(model: Any) -> set[str]:
    """Return the names of the columns that a model uses."""
    selected = {name for _, columns in selected_columns(model) for name in columns}
    return selected or set(column_names(model))


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


def unfold(model: Any) -> tuple[TablePreparer | None, Pipeline, Any]:
    """Return the preparer of a model, its other steps as one pipeline, and what comes after.

    That is its head: a copy of the classifier or space at the end, with all steps inside; or None.
    skl2onnx finds columns by name only at the beginning of the outermost pipeline, so no pipeline
    is left in another. The steps of a TablePreparer take columns as it reads them.
    """
    head = model
    while isinstance(head, Pipeline):
        head = head.steps[-1][1]
    steps = flat_steps(model)
    if isinstance(steps[-1], ForestSpace):
        steps = [*steps[:-1], *flat_steps(head.classifier_)]
    preparer = steps[0] if isinstance(steps[0], TablePreparer) else None
    if preparer is not None:
        steps = [*flat_steps(preparer.encoder_), *steps[1:]]
    inside = Pipeline([(f"step {k}", step) for k, step in enumerate(steps)])
    is_head = isinstance(head, MetricClassifier | PairClassifier | ForestSpace)
    return preparer, inside, _with_steps(head, inside) if is_head else None


def beside_features(steps: Pipeline) -> Pipeline:
    """Let steps return the features before learning beside the coordinates."""
    *before, (name, learner) = steps.steps
    both = FeatureUnion([("learner", learner), ("features", FunctionTransformer())])
    return Pipeline([*before, (name, both)])


def _with_steps(head: Any, steps: Pipeline) -> Any:
    """Return a copy of a classifier, or of a space, whose fitted learner is `steps`."""
    head, inner = copy(head), "classifier_" if isinstance(head, ForestSpace) else "estimator_"
    is_outer = isinstance(getattr(head, inner), MetricClassifier | PairClassifier)
    setattr(head, inner, _with_steps(getattr(head, inner), steps) if is_outer else steps)
    head.n_features_in_ = steps.n_features_in_
    head.__dict__.pop("feature_names_in_", None)
    if column_names(steps):
        head.feature_names_in_ = steps.feature_names_in_
    return head


def raw_text(X: Any, read: Any) -> dict[str, Array]:
    """Return the cells of a table in the columns that a preparer has read as text."""
    table = as_table(X)
    text = [name for name in read if read[name].dtype.kind not in "biuf"]
    return {name: np.array(table.columns[name].to_pylist(), dtype=object) for name in text}


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


def rename(proto: Any, name: str, new: str) -> None:
    """Give a value another name in all nodes of a graph."""
    for node in proto.node:
        node.input[:] = [new if one == name else one for one in node.input]
        node.output[:] = [new if one == name else one for one in node.output]


def read_cells(graph: Any, name: str, cells: Array, read: Array, known: Array) -> None:
    """Let a graph read the cells of a text column as the model does: spaces around them, say.

    It knows the cells of one table and the categories of the model; others are new to it.
    """
    words = dict.fromkeys(MISSING, MISSING_TEXT)
    words |= {text_of(value): text_of(value) for value in known}
    words |= {text_of(cell): text_of(value) for cell, value in zip(cells, read, strict=True)}
    if all(cell == value for cell, value in words.items()):
        return
    new = "new"
    while new in words:
        new += "?"
    rename(graph.graph, name, f"{name} as read")
    node = import_module("onnx.helper").make_node(
        "LabelEncoder",
        [name],
        [f"{name} as read"],
        name=f"read {name}",
        domain="ai.onnx.ml",
        keys_strings=[*words],
        values_strings=[*words.values()],
        default_string=new,
    )
    graph.graph.node.insert(0, node)
