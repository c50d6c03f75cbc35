"""Graphs that take the columns of a table by name: numbers, some of them missing, and text.

skl2onnx writes columns of text only if no cell is empty and no category is new, and fills in
missing numbers only in single precision. So a few of its converters are replaced here.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .._estimators._classifier import MetricClassifier
from .._utils._typing import Array

# An ONNX text cannot be missing: an empty one stands for it.
MISSING_TEXT = ""


def column_names(model: BaseEstimator) -> list[str] | None:
    """Return the names of the columns that a model was fitted on; None if they had none."""
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def unfolded(model: Any) -> Any:
    """Take the steps before the learner out of a classifier whose first one selects columns.

    skl2onnx finds columns by name only at the beginning of the outermost pipeline.
    """
    if not (isinstance(model, MetricClassifier) and selects_columns(model.estimator_)):
        return model
    *before, (_, learner) = model.estimator_.steps
    rule = copy(model)
    rule.estimator_, rule.n_features_in_ = learner, learner.n_features_in_
    rule.__dict__.pop("feature_names_in_", None)
    return Pipeline([*before, ("classifier", rule)])


def used_columns(model: Any) -> list[str] | None:
    """Return the names of the columns that a model selects; None if it selects none by name."""
    names = column_names(model)
    if names is None or not selects_columns(model):
        return None
    first = model
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    used = [columns for _, part, columns in first.transformers_ if not _is_dropped(part)]
    chosen = {str(name) for columns in used for name in columns}
    return [name for name in names if name in chosen] if chosen <= set(names) else names


def _is_dropped(part: Any) -> bool:
    return isinstance(part, str) and part == "drop"


def selects_columns(model: Any) -> bool:
    """Return whether a model begins with a ColumnTransformer, which asks for columns by name."""
    first = model.steps[0][1] if hasattr(model, "steps") else model
    return selects_columns(first) if hasattr(first, "steps") else _is_selector(first)


def _is_selector(step: Any) -> bool:
    return isinstance(step, ColumnTransformer)


def text_columns(model: Any) -> dict[str, Array]:
    """Return the known values of the columns that hold text, by name."""
    first = model.steps[0][1] if hasattr(model, "steps") else model
    if not _is_selector(first):
        return text_columns(first) if hasattr(first, "steps") else {}
    known: dict[str, Array] = {}
    for _, part, columns in first.transformers_:
        encoders = [
            step
            for step in (s for _, s in getattr(part, "steps", [("", part)]))
            if isinstance(step, OneHotEncoder)
        ]
        for encoder in encoders:
            for name, values in zip(columns, encoder.categories_, strict=True):
                if values.dtype.kind in "OUS":
                    known[str(name)] = values
    return known


def concatenated(graph: Any, names: list[str]) -> Any:
    """Replace the input "X" of a graph by one input for each column."""
    helper = import_module("onnx.helper")
    kind = graph.graph.input[0].type.tensor_type.elem_type
    rows = graph.graph.input[0].type.tensor_type.shape.dim[0].dim_param or "N"
    del graph.graph.input[:]
    graph.graph.input.extend(
        helper.make_tensor_value_info(name, kind, [rows, 1]) for name in names
    )
    graph.graph.node.insert(0, helper.make_node("Concat", names, ["X"], name="columns", axis=1))
    return graph


def renamed(graph: Any, names: list[str]) -> Any:
    """Give the inputs of a graph the names of the columns, which skl2onnx makes identifiers."""
    new = dict(zip([value.name for value in graph.graph.input], names, strict=True))
    for value in graph.graph.input:
        value.name = new[value.name]
    for node in graph.graph.node:
        for place, name in enumerate(node.input):
            node.input[place] = new.get(name, name)
    return graph


def converters(dtype: np.dtype[Any]) -> tuple[dict[type, Any], dict[type, Any]]:
    """Return the converters and the shapes of what they return, for skl2onnx."""
    return (
        {SimpleImputer: _convert_imputer, OneHotEncoder: _converter_of_categories(dtype)},
        {SimpleImputer: _imputer_shapes, OneHotEncoder: _shapes_of_categories(dtype)},
    )


def _imputer_shapes(operator: Any) -> None:
    first = operator.inputs[0].type
    width = len(operator.raw_operator.statistics_)
    operator.outputs[0].type = type(first)([first.shape[0], width])


def _convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Write ``where(x is missing, statistic, x)``."""
    step, version = operator.raw_operator, container.target_opset
    text = type(operator.inputs[0].type).__name__ == "StringTensorType"
    nan = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    if not nan or step.add_indicator or (not text and np.isnan(step.statistics_).any()):
        raise ValueError(
            "only a SimpleImputer that fills in NaN, in columns with at least one value and "
            "without add_indicator, has a graph."
        )
    ops = import_module("skl2onnx.algebra.onnx_ops")
    X = _joined(operator.inputs, version)
    if text:
        empty = ops.OnnxLabelEncoder(
            X, keys_strings=[MISSING_TEXT], values_int64s=[1], default_int64=0, op_version=2
        )
        missing = ops.OnnxCast(empty, to=_proto("BOOL"), op_version=version)
        fill = step.statistics_.astype(str)[np.newaxis]
    else:
        missing = ops.OnnxIsNaN(X, op_version=version)
        fill = step.statistics_.astype(_numbers(operator.inputs[0]))[np.newaxis]
    ops.OnnxWhere(missing, fill, X, op_version=version, output_names=operator.outputs).add_to(
        scope, container
    )


def _shapes_of_categories(dtype: np.dtype[Any]) -> Callable[[Any], None]:
    def shapes(operator: Any) -> None:
        types = import_module("skl2onnx.common.data_types")
        kind = types.DoubleTensorType if dtype == np.float64 else types.FloatTensorType
        width = len(operator.raw_operator.get_feature_names_out())
        operator.outputs[0].type = kind([operator.inputs[0].type.shape[0], width])

    return shapes


def _converter_of_categories(dtype: np.dtype[Any]) -> Callable[[Any, Any, Any], None]:
    def convert(scope: Any, operator: Any, container: Any) -> None:
        """Write each category as a row of a table of zeros and ones."""
        encoder, version = operator.raw_operator, container.target_opset
        if encoder.drop is not None or any(c.dtype.kind not in "OUS" for c in encoder.categories_):
            raise ValueError("only a OneHotEncoder of text, with drop=None, has a graph.")
        ops = import_module("skl2onnx.algebra.onnx_ops")
        X = _joined(operator.inputs, version)
        parts = []
        for number in range(len(encoder.categories_)):
            words, table = _rows_of_categories(encoder, number)
            column = ops.OnnxGather(X, np.array(number), axis=1, op_version=version)
            row = ops.OnnxLabelEncoder(
                column,
                keys_strings=words,
                values_int64s=list(range(len(words))),
                default_int64=len(words),
                op_version=2,
            )
            parts.append(ops.OnnxGather(table.astype(dtype), row, axis=0, op_version=version))
        ops.OnnxConcat(*parts, axis=1, op_version=version, output_names=operator.outputs).add_to(
            scope, container
        )

    return convert


def _rows_of_categories(encoder: OneHotEncoder, number: int) -> tuple[list[str], Array]:
    """Return the known categories of a column, and their codes; the last is of a new one."""
    known = encoder.categories_[number]
    rare = getattr(encoder, "infrequent_categories_", [None] * (number + 1))[number]
    common = [value for value in known if rare is None or value not in rare]
    table = np.zeros((len(known) + 1, len(common) + (rare is not None)))
    for row, value in enumerate(known):
        table[row, common.index(value) if value in common else -1] = 1.0
    if rare is not None and encoder.handle_unknown in ("infrequent_if_exist", "warn"):
        table[-1, -1] = 1.0
    return [text_of(value) for value in known], table


def text_of(value: Any) -> str:
    """Return a category as an ONNX graph reads it."""
    return MISSING_TEXT if value is None or value != value else str(value)  # noqa: PLR0124 (NaN)


def _joined(inputs: Any, version: int) -> Any:
    if len(inputs) == 1:
        return inputs[0]
    ops = import_module("skl2onnx.algebra.onnx_ops")
    return ops.OnnxConcat(*inputs, axis=1, op_version=version)


def _numbers(variable: Any) -> Any:
    return import_module("skl2onnx.common.data_types").guess_numpy_type(variable.type)


def _proto(name: str) -> int:
    return int(getattr(import_module("onnx").TensorProto, name))
