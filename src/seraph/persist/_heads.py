"""What a graph has after the steps of a pipeline: a rule, a decision about pairs, a space.

skl2onnx writes the steps, up to the coordinates Z of the rows and, for a forest, their features F
before learning. Nodes after these repeat the formulas of the model in double precision; a forest
compares in single precision, as scikit-learn does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from .._decide._classifier import MetricClassifier
from .._decide._pair_classifier import PairClassifier
from .._decide._space import ForestSpace
from .._forest import NEVER_SURE, Forest, _normalize
from .._utils._typing import Array
from ._graphs import proto_of
from ._tables import rename

# Appends a node by its ONNX name, inputs and attributes, and returns the name of its output.
Make = Callable[..., str]


def forest_of(head: Any) -> Forest | None:
    """Return the forest of a head, if it has one."""
    head = getattr(head, "classifier_", head)
    if isinstance(head.estimator_, MetricClassifier):
        head = head.estimator_
    forest: Forest | None = head.forest_
    return forest


def add_head(graph: Any, head: Any) -> None:
    """Let a graph that maps rows to Z, and to F if there is a forest, return what `head` does."""
    proto, op = graph.graph, appender(graph.graph)
    width = proto.output[-1].type.tensor_type.shape.dim[1].dim_value
    mapped, forest = proto.output[-1].name, forest_of(head)
    rank = width - (len(forest["center"]) if forest else 0)
    rows = f"{mapped} of rows"
    rename(proto, mapped, rows)
    del proto.output[:]
    Z = op("Gather", rows, np.arange(rank), axis=1)
    F = op("Gather", rows, np.arange(rank, width), axis=1) if forest else ""
    numbers = np.float64
    if isinstance(head, ForestSpace):
        op("Concat", *_space(op, head, Z, F), axis=1, output="coordinates")
        _declare(proto, "coordinates", numbers, ["n_rows", head._n_features_out])
    else:
        kind: Any = np.int64
        n = "n_pairs"
        if isinstance(head, MetricClassifier):
            shares, classes = _class_shares(op, head, Z, F), onnx_classes(head.classes_)
            op("Gather", classes, op("ArgMax", shares, axis=1, keepdims=0), axis=0, output="label")
            op("Identity", shares, output="probabilities")
            kind, n = classes.dtype, "n_rows"
        else:
            _decide(op, head, Z, F, rank)
            value = import_module("onnx.helper").make_tensor_value_info
            proto.input.append(value("pairs", proto_of(np.int64), ["n_pairs", 2]))
        op("Identity", Z, output="coordinates")
        _declare(proto, "label", kind, [n])
        _declare(proto, "probabilities", numbers, [n, len(head.classes_)])
        _declare(proto, "coordinates", numbers, ["n_rows", rank])
    if not any(entry.domain == "ai.onnx.ml" for entry in graph.opset_import):
        graph.opset_import.append(import_module("onnx.helper").make_opsetid("ai.onnx.ml", 1))


def _declare(proto: Any, name: str, kind: Any, shape: list[Any]) -> None:
    value = import_module("onnx.helper").make_tensor_value_info
    proto.output.append(value(name, proto_of(kind), shape))


def _class_shares(op: Make, model: Any, Z: str, F: str) -> str:
    """Write the probability of each class."""
    Z = op("Div", op("Sub", Z, model.center_), np.array([model.scale_]))
    if model.rule == "linear":
        return _odds(op, model, Z)
    shares = _votes(op, model, Z)
    if model.rule not in ("vote", "nearest"):
        shares = op("Div", op("Add", shares, _odds(op, model, Z)), np.array([2.0]))
    if model.forest_:
        share = np.array([model.forest_share_])
        votes = _forest_shares(op, model.forest_, _in_single(op, model.forest_, F))
        shares = op("Add", op("Mul", shares, 1.0 - share), op("Mul", votes, share))
    return shares


def _space(op: Make, space: Any, Z: str, F: str) -> list[str]:
    """Write the coordinates and, beside them, what the forest knows, in their lengths."""
    (first, second), model, similar = space.lengths_, space.classifier_, ""
    if isinstance(model, MetricClassifier):
        similar = op("Sqrt", _class_shares(op, model, Z, F))
    elif space.landmarks_ is not None:  # each row with each landmark, one below the other
        landmarks = _normalize(model.forest_, space.landmarks_)
        shape = np.array([-1, 1, landmarks.shape[1]])
        X = op("Reshape", _in_single(op, model.forest_, F), shape)
        shares = _similar_shares(op, model.forest_, X, landmarks[np.newaxis])
        similar = op("Reshape", shares, np.array([-1, len(landmarks)]))
    parts = ((Z, first), (similar, second))
    return [op("Mul", part, np.array([length])) for part, length in parts if part]


def _decide(op: Make, model: PairClassifier, Z: str, F: str, rank: int) -> None:
    """Write decisions about "pairs" of row numbers."""
    by_classes = isinstance(model.estimator_, MetricClassifier)
    rows, width = Z, rank
    if by_classes:
        rows, width = _class_shares(op, model.estimator_, Z, F), len(model.estimator_.classes_)
    ends = [op("Gather", "pairs", np.array(k), axis=1) for k in (0, 1)]
    A, B = (op("Gather", rows, end, axis=0) for end in ends)
    away = op("Sub", A, B)
    same = op("Equal", _row_sums(op, width, "Abs", away), np.array([0.0]))
    if by_classes:
        d = op("Sub", np.array([1.0]), _row_sums(op, width, "Mul", A, B))
        d = op("Max", d, np.array([0.0]))
    else:
        d = op("Sqrt", _row_sums(op, width, "Mul", away, away))
    v = d = op("Where", same, np.array([0.0]), d)
    if model.forest_:
        v = op("Log", op("Max", d, np.array([model.floor_ or 1.0])))
        points = _in_single(op, model.forest_, F)
        X, other = (op("Gather", points, end, axis=0) for end in ends)
        share = _similar_shares(op, model.forest_, X, other)
        share = op("Min", op("Max", share, np.array([NEVER_SURE])), np.array([1.0 - NEVER_SURE]))
        odds = op("Sub", op("Log", share), op("Log", op("Sub", np.array([1.0]), share)))
        v = op("Sub", v, op("Mul", odds, np.array([model.power_])))
        d = op("Where", same, np.array([0.0]), op("Exp", v))
    alike = op("Add", op("Mul", v, np.array([model.slope_])), np.array([model.intercept_]))
    alike = op("Sigmoid", alike)
    if model.slope_ < 0.0:  # identical points
        alike = op("Where", same, op("Max", alike, np.array([0.5])), alike)
    op("Concat", op("Sub", np.array([1.0]), alike), alike, axis=1, output="probabilities")
    far = op("Greater", op("Gather", d, np.array(0), axis=1), np.array([model.threshold_]))
    op("Where", far, np.array([-1]), np.array([1]), output="label")


def _row_sums(op: Make, width: int, kind: str, *tables: str) -> str:
    """Write the sums of the columns of a product, or of absolute values, as one column."""
    return op("MatMul", op(kind, *tables), np.ones((width, 1)))


def _odds(op: Make, model: Any, Z: str) -> str:
    """Write the linear rule."""
    scores = op("Add", op("MatMul", Z, model.linear_coef_.T.copy()), model.linear_intercept_)
    return op("Softmax", scores, axis=1)


def _votes(op: Make, model: Any, Z: str) -> str:
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


def _forest_shares(op: Make, forest: Forest, F: str) -> str:
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
        "TreeEnsembleRegressor",
        F,
        n_targets=k,
        **{f"nodes_{name}": values.tolist() for name, values in branches.items()},
        **{f"target_{name}": values.tolist() for name, values in votes.items()},
    )
    return op("Cast", shares, to=proto_of(np.float64))


def _in_single(op: Make, forest: Forest, F: str) -> str:
    """Write features as the trees compare them."""
    away = op("Div", op("Sub", F, forest["center"]), forest["scale"])
    return op("Cast", away, to=proto_of(np.float32))


def _similar_shares(op: Make, forest: Forest, X: Any, Z: Any) -> str:
    """Write the share of trees that take rows for similar, in one column, pair by pair."""
    F = op("Concat", op("Abs", op("Sub", X, Z)), op("Add", X, Z), axis=-1)
    F = op("Reshape", F, np.array([-1, 2 * len(forest["center"])]))
    return op("Gather", _forest_shares(op, forest, F), np.array([1]), axis=1)


def onnx_classes(classes: Array) -> Array:
    """Convert class labels to a type that ONNX supports: integers or text."""
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    if classes.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):
            numbers = classes.astype(np.int64)
        if np.array_equal(numbers, classes):
            return numbers
    raise ValueError(
        "ONNX graphs return classes as text or as whole numbers of 64 bits; the classes are "
        f"{classes[:3]!r}. Convert the labels to text, and fit again."
    )


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


def appender(proto: Any) -> Make:
    """Return a function that appends nodes to a graph; what is not a name becomes a constant."""
    helper, numpy_helper = import_module("onnx.helper"), import_module("onnx.numpy_helper")

    def append(kind: str, *inputs: Any, **attributes: Any) -> str:
        names = []
        for one in inputs:
            names.append(one if isinstance(one, str) else f"constant {len(proto.initializer)}")
            if not isinstance(one, str):
                proto.initializer.append(numpy_helper.from_array(one, names[-1]))
        output = attributes.pop("output", f"result {len(proto.node)}")
        attributes["domain"] = "ai.onnx.ml" if kind.startswith("Tree") else ""
        name = f"node {len(proto.node)}"
        proto.node.append(helper.make_node(kind, names, [output], name=name, **attributes))
        return output

    return append
