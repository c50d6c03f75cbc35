"""Converters that skl2onnx calls to write our learners as ONNX operators.

Sums over columns are written as products with a vector of ones: unlike ReduceSum, MatMul has
kept its signature through all versions of the operators. But a MatMul whose left factor has
fewer dimensions fails on 0 points.

skl2onnx writes columns of text only if no cell is empty and no category is new, and fills in
missing numbers only in single precision. So two of its own converters are replaced, too.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder

from .._utils._typing import Array
from ._tables import MISSING_TEXT, text_of

# Makes an operator from its ONNX name, its inputs and its attributes.
Make = Callable[..., Any]


def step_shapes(operator: Any) -> None:
    """Tell skl2onnx the shape of the result of ``transform``, of the type of its input."""
    shapes_of_type(type(operator.inputs[0].type), operator)


def shapes_of_type(kind: Any, operator: Any) -> None:
    """Tell skl2onnx the shape of the result of ``transform``, of the type `kind`."""
    width = len(operator.raw_operator.get_feature_names_out())
    operator.outputs[0].type = kind([operator.inputs[0].type.shape[0], width])


def convert_linear(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of ``X @ components_.T``."""
    op = operators(container)
    learner, X = operator.raw_operator, operator.inputs[0]
    if learner._n_features_out == 0:
        raise ValueError(
            f"this {type(learner).__name__} has learned a metric of rank 0, so its graph would "
            "be empty. Lower lam or add labels, and fit it again."
        )
    P = learner.components_.astype(dtype_of(X))
    mapped = op("MatMul", X, P.T.copy(), output_names=operator.outputs)
    mapped.add_to(scope, container)


def convert_imputer(scope: Any, operator: Any, container: Any) -> None:
    """Write ``where(x is missing, statistic, x)`` for a SimpleImputer."""
    op = operators(container)
    step, X = operator.raw_operator, _join(op, operator.inputs)
    text = type(operator.inputs[0].type).__name__ == "StringTensorType"
    nan = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    if not nan or step.add_indicator or (not text and np.isnan(step.statistics_).any()):
        raise ValueError(
            "only a SimpleImputer that fills in NaN, in columns with at least one value and "
            "without add_indicator, has a graph."
        )
    fill = step.statistics_.astype(str if text else dtype_of(operator.inputs[0]))[np.newaxis]
    if text:
        known = op("Cast", _codes(op, X, [MISSING_TEXT]), to=proto_of(bool))
        filled = op("Where", known, X, fill, output_names=operator.outputs)
    else:
        filled = op("Where", op("IsNaN", X), fill, X, output_names=operator.outputs)
    filled.add_to(scope, container)


def convert_encoder(scope: Any, operator: Any, container: Any) -> None:
    """Write each category as a row of a table of zeros and ones, for a OneHotEncoder."""
    op = operators(container)
    encoder, X = operator.raw_operator, _join(op, operator.inputs)
    text = all(values.dtype.kind in "OUS" for values in encoder.categories_)
    if not text or encoder.drop is not None or encoder.handle_unknown == "error":
        raise ValueError(
            "only a OneHotEncoder of text, with drop=None and handle_unknown other than "
            '"error", has a graph.'
        )
    parts = []
    for number in range(len(encoder.categories_)):
        words, table = _rows_of_categories(encoder, number)
        row = _codes(op, op("Gather", X, np.array(number), axis=1), words)
        parts.append(op("Gather", table.astype(dtype_of(operator.outputs[0])), row, axis=0))
    op("Concat", *parts, axis=1, output_names=operator.outputs).add_to(scope, container)


def _rows_of_categories(encoder: OneHotEncoder, number: int) -> tuple[list[str], Array]:
    """Return the known categories of a column, and their codes; the last is of a new one."""
    known = [text_of(value) for value in encoder.categories_[number]]
    if len(set(known)) < len(known):
        raise ValueError(
            f'a OneHotEncoder with two of "", None and NaN as categories has no graph: in it, '
            f"{MISSING_TEXT!r} is missing text."
        )
    rare = getattr(encoder, "infrequent_categories_", [None] * (number + 1))[number]
    seldom = set() if rare is None else {text_of(value) for value in rare}
    common = [word for word in known if word not in seldom]
    table = np.zeros((len(known) + 1, len(common) + (rare is not None)))
    for row, word in enumerate(known):
        table[row, common.index(word) if word not in seldom else -1] = 1.0
    if rare is not None and encoder.handle_unknown in ("infrequent_if_exist", "warn"):
        table[-1, -1] = 1.0
    return known, table


def _codes(op: Make, texts: Any, words: list[str]) -> Any:
    """Number texts by their place among `words`; others get the number after the last."""
    return op(
        "LabelEncoder",
        texts,
        keys_strings=words,
        values_int64s=list(range(len(words))),
        default_int64=len(words),
        op_version=2,
    )


def _join(op: Make, inputs: list[Any]) -> Any:
    return inputs[0] if len(inputs) == 1 else op("Concat", *inputs, axis=1)


def operators(container: Any) -> Make:
    """Return a function that makes operators of the version that a graph is written for."""
    module = import_module("skl2onnx.algebra.onnx_ops")

    def make(name: str, *inputs: Any, **attributes: Any) -> Any:
        settings = {"op_version": container.target_opset, **attributes}
        return getattr(module, f"Onnx{name}")(*inputs, **settings)

    return make


def dtype_of(variable: Any) -> Any:
    return import_module("skl2onnx.common.data_types").guess_numpy_type(variable.type)


def proto_of(dtype: Any) -> int:
    return int(import_module("onnx.helper").np_dtype_to_tensor_dtype(np.dtype(dtype)))
