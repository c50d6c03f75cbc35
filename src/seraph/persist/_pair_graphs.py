"""Graphs of a PairClassifier: from rows, and the numbers of two of them, to the probability.

A graph of rows gives each its coordinates and, for a forest, its features before learning beside
them. Nodes after it gather the two rows of each pair, and repeat the formulas of `PairClassifier`
in double precision; the forest compares in single precision, as scikit-learn does.
"""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from .._decide._classifier import MetricClassifier
from .._forest import NEVER_SURE
from .._utils._typing import Array
from ._graphs import Make, appender, dtype_of, forest_shares, operators, proto_of, rename


class Both(TransformerMixin, BaseEstimator):
    """What a learner maps points to, and the points beside it."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    @classmethod
    def at_the_end(cls, model: Any) -> Any:
        """Return a fitted pipeline with this in the place of its learner."""
        if isinstance(model, Pipeline):
            *before, (name, last) = model.steps
            model = copy(model)
            model.steps = [*before, (name, cls.at_the_end(last))]
            return model
        both = cls(model)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(model, name):
                setattr(both, name, getattr(model, name))
        return both

    def fit(self, X: Any, y: Any = None) -> Both:  # noqa: ARG002
        """Return itself: it is made of a fitted learner."""
        return self

    def transform(self, X: Any) -> Array:
        """Map points."""
        return np.hstack([self.learner.transform(X), np.asarray(X)])

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """Return as many names as there are columns."""
        width = len(self.learner.components_) + self.n_features_in_
        return np.array([f"x{k}" for k in range(width)], dtype=object)


def convert_both(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of `Both`."""
    op, X = operators(container), operator.inputs[0]
    P = operator.raw_operator.learner.components_.astype(dtype_of(X))
    mapped = op("MatMul", X, P.T.copy())
    op("Concat", mapped, X, axis=1, output_names=operator.outputs).add_to(scope, container)


def add_pairs(graph: Any, model: Any) -> None:
    """Let a graph of rows decide about "pairs" of their numbers, as `model` does.

    The graph is one of double precision.
    """
    helper, proto = import_module("onnx.helper"), graph.graph
    names = [value.name for value in proto.output]
    by_classes = isinstance(model.estimator_, MetricClassifier)
    rows = names[1] if by_classes else names[-1]
    width = proto.output[names.index(rows)].type.tensor_type.shape.dim[1].dim_value
    last = proto.output[-1].type.tensor_type.shape.dim[1].dim_value
    del proto.output[:]
    for name in names:
        rename(proto, name, f"{name} of rows")
    rows = f"{rows} of rows"
    op = appender(proto)
    ends = [op("Gather", "pairs", np.array(k), axis=1) for k in (0, 1)]
    both = [op("Gather", rows, end, axis=0) for end in ends]
    rank = width - (len(model.forest_["center"]) if model.forest_ else 0)
    size = last if by_classes else rank
    A, B = (op("Gather", side, np.arange(rank), axis=1) for side in both)
    ones, away = np.ones((rank, 1)), op("Sub", A, B)
    if by_classes:
        op("Identity", f"{names[2]} of rows", output="coordinates")
        d = op("Sub", np.array([1.0]), op("MatMul", op("Mul", A, B), ones))
        same = op("Equal", op("MatMul", op("Abs", away), ones), np.array([0.0]))
        d = op("Where", same, np.array([0.0]), op("Max", d, np.array([0.0])))
    else:
        op("Gather", rows, np.arange(rank), axis=1, output="coordinates")
        d = op("Sqrt", op("MatMul", op("Mul", away, away), ones))
        same = op("Equal", d, np.array([0.0]))
    v = d
    if model.forest_:
        v = op("Log", op("Max", d, np.array([model.floor_ or 1.0])))
        odds = _log_odds(op, model.forest_, both, rank)
        v = op("Sub", v, op("Mul", odds, np.array([model.power_])))
        d = op("Where", same, np.array([0.0]), op("Exp", v))
    alike = op("Mul", v, np.array([model.slope_]))
    alike = op("Sigmoid", op("Add", alike, np.array([model.intercept_])))
    if model.slope_ < 0.0:  # identical points
        alike = op("Where", same, op("Max", alike, np.array([0.5])), alike)
    op("Concat", op("Sub", np.array([1.0]), alike), alike, axis=1, output="probabilities")
    far = op("Greater", op("Gather", d, np.array(0), axis=1), np.array([model.threshold_]))
    op("Where", far, np.array([-1]), np.array([1]), output="label")
    integers, numbers = proto_of(np.int64), proto_of(np.float64)
    value = helper.make_tensor_value_info
    proto.input.append(value("pairs", integers, ["n_pairs", 2]))
    proto.output.append(value("label", integers, ["n_pairs"]))
    proto.output.append(value("probabilities", numbers, ["n_pairs", 2]))
    proto.output.append(value("coordinates", numbers, ["n_rows", size]))
    if not any(entry.domain == "ai.onnx.ml" for entry in graph.opset_import):
        graph.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))


def _log_odds(op: Make, forest: dict[str, Any], both: list[str], rank: int) -> str:
    """Write the log-odds of the forest that pairs are alike, in one column."""
    m = len(forest["center"])
    X, Z = (
        op(
            "Cast",
            op(
                "Div",
                op("Sub", op("Gather", side, np.arange(rank, rank + m), axis=1), forest["center"]),
                forest["scale"],
            ),
            to=proto_of(np.float32),
        )
        for side in both
    )
    F = op("Concat", op("Abs", op("Sub", X, Z)), op("Add", X, Z), axis=1)
    share = op("Gather", forest_shares(op, forest, F), np.array([1]), axis=1)
    share = op("Min", op("Max", share, np.array([NEVER_SURE])), np.array([1.0 - NEVER_SURE]))
    return op("Sub", op("Log", share), op("Log", op("Sub", np.array([1.0]), share)))
