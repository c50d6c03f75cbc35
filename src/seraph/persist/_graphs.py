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
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from .._forest import Forest
from .._utils._typing import Array
from ._tables import MISSING_TEXT, text_of

CLASSIFIER = "SeraphMetricClassifier"

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


def parse_classifier(
    scope: Any,
    model: Any,
    inputs: list[Any],
    custom_parsers: Any = None,  # noqa: ARG001
) -> Any:
    """Tell skl2onnx what a MetricClassifier returns; `classifier_shapes` has the types."""
    operator = scope.declare_local_operator(CLASSIFIER, model)
    operator.inputs = inputs
    for name in ("label", "probabilities", "coordinates"):
        operator.outputs.append(scope.declare_local_variable(name, type(inputs[0].type)()))
    return operator.outputs


def classifier_shapes(operator: Any) -> None:
    """Tell skl2onnx the types and shapes of classes, probabilities and coordinates."""
    types = import_module("skl2onnx.common.data_types")
    numbers = operator.inputs[0].type
    classes = onnx_classes(operator.raw_operator.classes_)
    kind = types.StringTensorType if classes.dtype.kind == "U" else types.Int64TensorType
    n = numbers.shape[0]
    operator.outputs[0].type = kind([n])
    operator.outputs[1].type = type(numbers)([n, len(classes)])
    operator.outputs[2].type = type(numbers)([n, operator.raw_operator.points_.shape[1]])


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of MetricClassifier: the learner, then the rule."""
    op = operators(container)
    sub_estimator = import_module("skl2onnx.algebra.onnx_operator").OnnxSubEstimator
    model, X = operator.raw_operator, operator.inputs[0]
    mapped = sub_estimator(model.estimator_, X, op_version=container.target_opset)
    Z = op("Sub", op("Cast", mapped, to=proto_of(np.float64)), model.center_)
    Z = op("Div", Z, np.array([model.scale_]))
    if model.rule == "linear":
        shares = _odds(op, model, Z)
    elif model.rule in ("vote", "nearest"):
        shares = _votes(op, model, Z)
    else:
        both = op("Add", _votes(op, model, Z), _odds(op, model, Z))
        shares = op("Div", both, np.array([2.0]))
    if model.forest_:
        F, learner = X, model.estimator_
        while isinstance(learner, Pipeline):  # the features before learning
            if len(learner) > 1:
                F = sub_estimator(learner[:-1], F, op_version=container.target_opset)
            learner = learner.steps[-1][1]
        away = op("Sub", op("Cast", F, to=proto_of(np.float64)), model.forest_["center"])
        F = op("Div", away, model.forest_["scale"])
        share = np.array([model.forest_share_])
        shares = op("Mul", shares, 1.0 - share)
        shares = op("Add", shares, op("Mul", forest_shares(op, model.forest_, F), share))
    classes, chances, coordinates = operator.outputs
    op("Identity", mapped, output_names=[coordinates]).add_to(scope, container)
    best = op("ArgMax", shares, axis=1, keepdims=0)
    best = op("Gather", onnx_classes(model.classes_), best, axis=0, output_names=[classes])
    best.add_to(scope, container)
    shares = op("Cast", shares, to=proto_of(dtype_of(X)), output_names=[chances])
    shares.add_to(scope, container)


def sharpen(graph: Any, power: float) -> None:
    """Let a graph return probabilities to a power, divided by their sum."""
    helper = import_module("onnx.helper")
    (chances,) = (value for value in graph.graph.output if value.name == "probabilities")
    dtype = helper.tensor_dtype_to_np_dtype(chances.type.tensor_type.elem_type)
    width = chances.type.tensor_type.shape.dim[1].dim_value
    rename(graph.graph, "probabilities", "unsharpened")
    op = appender(graph.graph)
    powers = op("Pow", "unsharpened", np.array(power, dtype=dtype))
    sums = op("MatMul", powers, np.ones((width, 1), dtype=dtype))
    op("Div", powers, sums, output="probabilities")


def narrow(graph: Any) -> None:
    """Let a graph of double precision take and return single precision."""
    helper, proto = import_module("onnx.helper"), graph.graph
    single, double = proto_of(np.float32), proto_of(np.float64)
    for values, is_input in ((proto.input, True), (proto.output, False)):
        for value in values:
            if value.type.tensor_type.elem_type != double:
                continue
            value.type.tensor_type.elem_type = single
            name, inside = value.name, f"{value.name} in double"
            rename(proto, name, inside)
            ends, to = ([name], [inside]), double
            if not is_input:
                ends, to = ([inside], [name]), single
            cast = helper.make_node("Cast", *ends, name=f"cast {name}", to=to)
            proto.node.insert(0 if is_input else len(proto.node), cast)


def rename(proto: Any, name: str, new: str) -> None:
    """Give a value another name in all nodes of a graph."""
    for node in proto.node:
        node.input[:] = [new if one == name else one for one in node.input]
        node.output[:] = [new if one == name else one for one in node.output]


def appender(proto: Any) -> Make:
    """Return a function that appends nodes to a graph; what is not a name becomes a constant."""
    helper, numpy_helper = import_module("onnx.helper"), import_module("onnx.numpy_helper")

    def append(kind: str, *inputs: Any, op_version: int = 0, **attributes: Any) -> str:  # noqa: ARG001
        names = []
        for one in inputs:
            names.append(one if isinstance(one, str) else f"constant {len(proto.initializer)}")
            if not isinstance(one, str):
                proto.initializer.append(numpy_helper.from_array(np.asarray(one), names[-1]))
        output = attributes.pop("output", f"result {len(proto.node)}")
        attributes["domain"] = "ai.onnx.ml" if kind.startswith("Tree") else ""
        kind = kind.partition("_")[0]
        proto.node.append(helper.make_node(kind, names, [output], name=output, **attributes))
        return output

    return append


def _odds(op: Make, model: Any, Z: Any) -> Any:
    """Write the linear rule."""
    scores = op("Add", op("MatMul", Z, model.linear_coef_.T.copy()), model.linear_intercept_)
    return op("Softmax", scores, axis=1)


def _votes(op: Make, model: Any, Z: Any) -> Any:
    """Write the vote of the labeled rows, or the choice of the nearest one."""
    members = np.eye(len(model.classes_))[model.codes_]
    # Minus the squared distance, without ||z||^2, which is the same for all labeled rows.
    inner = op("MatMul", Z, 2.0 * model.points_.T)
    near = op("Sub", inner, (model.points_**2).sum(axis=1))
    if model.rule == "nearest":
        row = op("ArgMax", near, axis=1, keepdims=0)
        return op("Gather", members, row, axis=0)
    near = op("Div", near, np.array([model.width_]))
    votes = op("MatMul", op("Softmax", near, axis=1), members)
    doubt = 1.0 / (len(model.codes_) + 1.0)
    votes = op("Mul", votes, np.array([1.0 - doubt]))
    return op("Add", votes, np.array([doubt / len(model.classes_)]))


def forest_shares(op: Make, forest: Forest, F: Any) -> Any:
    """Write the mean share of each class in the leaves of all trees."""
    n_trees, (n_nodes, k) = len(forest["sizes"]), forest["shares"].shape
    tree = np.repeat(np.arange(n_trees), forest["sizes"])
    starts = np.repeat(np.cumsum(forest["sizes"]) - forest["sizes"], forest["sizes"])
    node, leaf = np.arange(n_nodes) - starts, forest["left"] < 0
    # Single precision goes left up to the same numbers if the threshold is rounded down.
    threshold = forest["threshold"].astype(np.float32)
    above = threshold > forest["threshold"]
    threshold[above] = np.nextafter(threshold[above], np.float32(-np.inf))
    branches = {
        "truenodeids": np.where(leaf, 0, forest["left"]),
        "falsenodeids": np.where(leaf, 0, forest["right"]),
        "featureids": np.where(leaf, 0, forest["feature"]),
        "values": np.where(leaf, 0, threshold).astype(np.float32),
        "treeids": tree,
        "nodeids": node,
        "modes": np.where(leaf, "LEAF", "BRANCH_LEQ"),
    }
    votes = {
        "treeids": np.repeat(tree[leaf], k),
        "nodeids": np.repeat(node[leaf], k),
        "ids": np.tile(np.arange(k), leaf.sum()),
        "weights": (forest["shares"][leaf].ravel() / n_trees).astype(np.float32),
    }
    shares = op(
        "TreeEnsembleRegressor_3",
        op("Cast", F, to=proto_of(np.float32)),
        op_version=3,  # of the domain of trees
        n_targets=k,
        **{f"nodes_{name}": values.tolist() for name, values in branches.items()},
        **{f"target_{name}": values.tolist() for name, values in votes.items()},
    )
    return op("Cast", shares, to=proto_of(np.float64))


def onnx_classes(classes: Array) -> Array:
    """Convert class labels to a type that ONNX supports: integers or text."""
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(str)
    if classes.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):
            numbers = classes.astype(np.int64)
        if np.array_equal(numbers, classes):
            return numbers
    raise ValueError(
        "ONNX graphs return classes as text or as whole numbers of 64 bits; the classes are "
        f"{classes[:3]!r}. Convert the labels to text, and fit again."
    )


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
