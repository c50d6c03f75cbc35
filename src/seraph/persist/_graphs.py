"""Converters that skl2onnx calls to write our learners as ONNX operators.

Sums over columns are written as products with a vector of ones: unlike ReduceSum, MatMul has
kept its signature through all versions of the operators. But a MatMul whose left factor has
fewer dimensions fails on 0 points.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem

from .._estimators._kernel import KernelMap
from .._utils._typing import Array

# Kernels that a few ONNX operators can compute.
KERNELS = ("linear", "poly", "polynomial", "rbf")


def linear_shapes(operator: Any) -> None:
    """Tell skl2onnx the shape of what a learner's transform returns."""
    rank = operator.raw_operator._n_features_out
    input_type = operator.inputs[0].type
    operator.outputs[0].type = type(input_type)([input_type.shape[0], rank])


def convert_linear(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of ``X @ components_.T``, beside ``X * isotropic_`` if that is not 0."""
    ops, version = _ops(), container.target_opset
    learner, X, names = operator.raw_operator, operator.inputs[0], operator.outputs
    P = learner.components_.astype(_dtype(operator))
    if not learner.isotropic_:
        ops.OnnxMatMul(X, P.T.copy(), op_version=version, output_names=names).add_to(
            scope, container
        )
        return
    scaled = ops.OnnxMul(X, np.array([learner.isotropic_], P.dtype), op_version=version)
    parts = (ops.OnnxMatMul(X, P.T.copy(), op_version=version), scaled)
    ops.OnnxConcat(
        *(parts if len(P) else parts[1:]), axis=1, op_version=version, output_names=names
    ).add_to(scope, container)


def convert_kernel(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of KernelSERAPH, in double precision as scikit-learn computes it."""
    ops, version = _ops(), container.target_opset
    learner = operator.raw_operator
    offset, slopes = _affine(learner.kernel_map_.projection)
    X = ops.OnnxCast(operator.inputs[0], to=_proto(np.float64), op_version=version)
    values = _kernel_values(learner.kernel_map_, X, learner.n_features_in_, version)
    mapped = ops.OnnxMatMul(
        ops.OnnxSub(values, offset, op_version=version),
        slopes @ learner.components_.T.astype(np.float64),
        op_version=version,
    )
    ops.OnnxCast(
        mapped, to=_proto(_dtype(operator)), op_version=version, output_names=operator.outputs
    ).add_to(scope, container)


def _affine(projection: KernelPCA | Nystroem) -> tuple[Array, Array]:
    """Write the map from kernel values to coordinates as ``(values - offset) @ slopes``.

    KernelPCA subtracts the mean from each row of values. Its slopes do that here: they sum to
    zero, so no mean, which can be larger than the result by many digits, is ever computed.
    """
    if isinstance(projection, Nystroem):
        slopes: Array = projection.normalization_.T
        return np.zeros(len(slopes)), slopes
    variances = projection.eigenvalues_
    scales = np.zeros_like(variances)
    np.divide(1.0, np.sqrt(variances), out=scales, where=variances > 0.0)
    slopes = projection.eigenvectors_ * scales
    return projection._centerer.K_fit_rows_, slopes - slopes.mean(axis=0)


def classifier_shapes(operator: Any) -> None:
    """Tell skl2onnx the types and shapes of the classes and of their probabilities."""
    types = import_module("skl2onnx.common.data_types")
    input_type = operator.inputs[0].type
    classes = onnx_classes(operator.raw_operator.classes_)
    kind = types.StringTensorType if classes.dtype.kind == "U" else types.Int64TensorType
    n = input_type.shape[0]
    operator.outputs[0].type = kind([n])
    operator.outputs[1].type = type(input_type)([n, len(classes)])


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Write the graph of MetricClassifier: the learner, then the rule."""
    ops, version = _ops(), container.target_opset
    sub_estimator = import_module("skl2onnx.algebra.onnx_operator").OnnxSubEstimator
    model = operator.raw_operator
    mapped = sub_estimator(model.estimator_, operator.inputs[0], op_version=version)
    Z = ops.OnnxCast(mapped, to=_proto(np.float64), op_version=version)
    Z = ops.OnnxSub(Z, model.center_, op_version=version)
    Z = ops.OnnxDiv(Z, np.array([model.scale_]), op_version=version)
    if model.rule == "linear":
        shares = _odds(model, Z, version)
    elif model.rule in ("vote", "nearest"):
        shares = _votes(model, Z, version)
    else:
        both = ops.OnnxAdd(_votes(model, Z, version), _odds(model, Z, version), op_version=version)
        shares = ops.OnnxDiv(both, np.array([2.0]), op_version=version)
    best = ops.OnnxArgMax(shares, axis=1, keepdims=0, op_version=version)
    ops.OnnxGather(
        onnx_classes(model.classes_),
        best,
        axis=0,
        op_version=version,
        output_names=operator.outputs[:1],
    ).add_to(scope, container)
    ops.OnnxCast(
        shares, to=_proto(_dtype(operator)), op_version=version, output_names=operator.outputs[1:]
    ).add_to(scope, container)


def _odds(model: Any, Z: Any, version: int) -> Any:
    """Write the linear rule."""
    ops = _ops()
    scores = ops.OnnxMatMul(Z, model.coef_.T.copy(), op_version=version)
    scores = ops.OnnxAdd(scores, model.intercept_, op_version=version)
    return ops.OnnxSoftmax(scores, axis=1, op_version=version)


def _votes(model: Any, Z: Any, version: int) -> Any:
    """Write the vote of the labeled rows, or the choice of the nearest one."""
    ops = _ops()
    members = np.eye(len(model.classes_))[model.codes_]
    # Minus the squared distance, without ||z||^2, which is the same for all labeled rows.
    inner = ops.OnnxMatMul(Z, 2.0 * model.points_.T, op_version=version)
    near = ops.OnnxSub(inner, (model.points_**2).sum(axis=1), op_version=version)
    if model.rule == "nearest":
        row = ops.OnnxArgMax(near, axis=1, keepdims=0, op_version=version)
        return ops.OnnxGather(members, row, axis=0, op_version=version)
    near = ops.OnnxDiv(near, np.array([model.width_]), op_version=version)
    votes = ops.OnnxMatMul(
        ops.OnnxSoftmax(near, axis=1, op_version=version), members, op_version=version
    )
    doubt = 1.0 / (len(model.codes_) + 1.0)
    votes = ops.OnnxMul(votes, np.array([1.0 - doubt]), op_version=version)
    return ops.OnnxAdd(votes, np.array([doubt / len(model.classes_)]), op_version=version)


def _kernel_values(kernel_map: KernelMap, X: Any, n_features: int, version: int) -> Any:
    """Compute the kernel between points and landmarks.

    Scalar factors are multiplied into the matrices beforehand: applied after the product,
    onnxruntime would round them to single precision.
    """
    ops = _ops()
    landmarks = kernel_map.landmarks
    if kernel_map.kernel == "rbf":  # like KernelMap, to keep precision
        center = landmarks.mean(axis=0)
        X, landmarks = ops.OnnxSub(X, center, op_version=version), landmarks - center
    settings = {"gamma": 1.0 / n_features, "degree": 3.0, "coef0": 1.0} | kernel_map.parameters
    gamma, degree, coef0 = (np.array([settings[s]], dtype=np.float64) for s in settings)
    if kernel_map.kernel == "linear":
        return ops.OnnxMatMul(X, landmarks.T.copy(), op_version=version)
    if kernel_map.kernel == "rbf":
        squares = ops.OnnxMatMul(
            ops.OnnxMul(X, X, op_version=version), np.ones((n_features, 1)), op_version=version
        )
        cross = ops.OnnxMatMul(X, -2.0 * landmarks.T, op_version=version)
        d2 = ops.OnnxAdd(
            ops.OnnxAdd(squares, cross, op_version=version),
            (landmarks**2).sum(axis=1),
            op_version=version,
        )
        d2 = ops.OnnxMax(d2, np.array([0.0]), op_version=version)
        return ops.OnnxExp(ops.OnnxMul(d2, -gamma, op_version=version), op_version=version)
    inner = ops.OnnxMatMul(X, gamma * landmarks.T, op_version=version)
    return ops.OnnxPow(ops.OnnxAdd(inner, coef0, op_version=version), degree, op_version=version)


def onnx_classes(classes: Array) -> Array:
    """Convert class labels to a type that ONNX supports: integers or text.

    Raises
    ------
    ValueError
        If a label is neither a whole number of 64 bits nor text.
    """
    if all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(str)
    if classes.dtype.kind in "biuf":
        with np.errstate(invalid="ignore"):
            numbers = classes.astype(np.int64)
        if np.array_equal(numbers, classes) and not np.any((numbers < 0) != (classes < 0)):
            return numbers
    raise ValueError(
        "ONNX graphs return classes as text or as whole numbers of 64 bits; the classes are "
        f"{classes[:3]!r}. Convert the labels to text, and fit again."
    )


def _dtype(operator: Any) -> Any:
    return import_module("skl2onnx.common.data_types").guess_numpy_type(operator.inputs[0].type)


def _proto(dtype: Any) -> int:
    return int(import_module("onnx.helper").np_dtype_to_tensor_dtype(np.dtype(dtype)))


def _ops() -> ModuleType:
    return import_module("skl2onnx.algebra.onnx_ops")
