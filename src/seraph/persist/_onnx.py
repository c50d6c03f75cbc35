"""Convert models to ONNX graphs with skl2onnx."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.validation import check_is_fitted

from .. import classic
from .._base import MahalanobisLearner
from .._estimators._classifier import MetricClassifier
from .._estimators._cv import SERAPHCV
from .._estimators._kernel import KernelSERAPH
from .._estimators._pair_classifier import PairClassifier
from .._estimators._seraph import SERAPH
from .._utils._validation import shown
from . import _graphs, _tables
from ._agreement import check_agreement, last_step

_LINEAR = (SERAPH, SERAPHCV, *(getattr(classic, name) for name in classic.__all__))


def to_onnx(
    model: BaseEstimator, *, dtype: DTypeLike = np.float32, target_opset: int | None = None
) -> Any:
    """Convert a fitted model to an ONNX graph that runs without seraph and without Python.

    The graph has one input, "X" of shape (n_samples, n_features), with any number of rows. That of
    a model fitted on a data frame has one for each column that it uses instead, of the column's
    name and shape (n_samples, 1): numbers, NaN if missing, or text, "" if missing. The graph
    returns what ``transform`` returns; for a classifier, the classes and then the probabilities,
    in the order of ``classes_``.
    The graph of a `PairClassifier` maps points, too; its metadata hold "threshold", "slope" and
    "intercept", which decide about the Euclidean distance of two mapped points. If it was fitted
    with classes alone, the graph is that of its `MetricClassifier`, and they decide about
    ``1 - p @ q`` with the probabilities p and q of two points.
    Before it is returned, it is run and compared with the model.

    Parameters
    ----------
    model : estimator
        A fitted seraph learner, `MetricClassifier` or `PairClassifier`, or a pipeline
        that contains one and whose other steps skl2onnx supports, such as scikit-learn's scalers.
        A ``ColumnTransformer`` must be the first step, of this pipeline or of the classifier's.
        `KernelSERAPH` needs a linear, poly or rbf kernel.
    dtype : {"float32", "float64"}, default="float32"
        Type of the input and of the numbers returned.
    target_opset : int, optional
        Version of the ONNX operators, for runtimes older than skl2onnx. None uses the newest
        version that skl2onnx supports.

    Returns
    -------
    onnx.ModelProto
        The graph. Its ``SerializeToString()`` returns the bytes of an ``.onnx`` file.

    Raises
    ------
    ValueError
        If a part of the model has no graph, or if the graph differs from the model by more than
        rounding in `dtype` explains.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from seraph import SERAPH, persist
    >>> X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    >>> learner = SERAPH().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> graph = persist.to_onnx(learner)
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> (Z,) = session.run(None, {"X": X})
    >>> bool(np.allclose(Z, learner.transform(X), atol=1e-6))
    True
    """
    skl2onnx = _skl2onnx()
    if isinstance(model, type) or not isinstance(model, BaseEstimator):
        raise ValueError(
            f"model must be a fitted estimator, such as a SERAPH; got {shown(model)}."
        )
    check_is_fitted(model)
    if isinstance(model, PairClassifier):
        graph = to_onnx(model.estimator_, dtype=dtype, target_opset=target_opset)
        for name in ("threshold", "slope", "intercept"):
            graph.metadata_props.add(key=name, value=repr(float(getattr(model, f"{name}_"))))
        return graph
    number = _type_of_numbers(skl2onnx, dtype)
    if target_opset is not None and type(target_opset) is not int:
        raise ValueError(
            f"target_opset must be a whole number or None; got {shown(target_opset)}."
        )
    _check_parts(model)
    model = _tables.unfolded(model)
    for learner in _LINEAR:
        _register(skl2onnx, learner, _graphs.linear_shapes, _graphs.convert_linear)
    _register(skl2onnx, KernelSERAPH, _graphs.linear_shapes, _graphs.convert_kernel)
    _register(skl2onnx, MetricClassifier, _graphs.classifier_shapes, _graphs.convert_classifier)
    # By default, scikit-learn's classifiers would return dictionaries of probabilities.
    last = last_step(model)
    plain = is_classifier(last) and not isinstance(last, MetricClassifier)
    names = _tables.column_names(model)
    used = _tables.used_columns(model)
    columns = [("X", number([None, model.n_features_in_]))]
    if used is not None:
        names, text = used, _tables.text_columns(model)
        texts = skl2onnx.common.data_types.StringTensorType
        columns = [(name, (texts if name in text else number)([None, 1])) for name in names]
    convert, shapes = _tables.converters(np.dtype(dtype))
    try:
        graph = skl2onnx.convert_sklearn(
            model,
            initial_types=columns,
            options={id(last): {"zipmap": False}} if plain else None,
            target_opset=target_opset,
            custom_conversion_functions=convert,
            custom_shape_calculators=shapes,
        )
    except (RuntimeError, NameError, ValueError) as error:
        # RuntimeError is the base class of its errors; NameError is an odd option.
        raise ValueError(
            f"skl2onnx cannot convert a part of this {type(model).__name__}: {error}"
        ) from error
    if names is not None:
        graph = (_tables.concatenated if used is None else _tables.renamed)(graph, names)
    if isinstance(last, MetricClassifier):
        to_onnx(last.estimator_, dtype=dtype, target_opset=target_opset)  # checks its numbers
    check_agreement(model, graph, np.dtype(dtype))
    return graph


def _type_of_numbers(skl2onnx: Any, dtype: DTypeLike) -> Any:
    """Return the type of a graph's inputs and outputs."""
    types = skl2onnx.common.data_types
    inputs = {"float32": types.FloatTensorType, "float64": types.DoubleTensorType}
    try:
        return inputs[np.dtype(dtype).name]
    except (TypeError, ValueError, KeyError):
        raise ValueError(f"dtype must be float32 or float64; got {shown(dtype)}.") from None


def _check_parts(part: Any) -> None:
    """Raise an error for parts that have no graph, or would get a wrong one."""
    if isinstance(part, KernelSERAPH) and part.kernel_map_.kernel not in _graphs.KERNELS:
        raise ValueError(
            "No ONNX graph exists for a KernelSERAPH with "
            f"kernel={shown(part.kernel_map_.kernel)}. Fit it with one of "
            f"{', '.join(_graphs.KERNELS)}."
        )
    if isinstance(part, MahalanobisLearner) and part._n_features_out == 0:
        raise ValueError(
            f"This {type(part).__name__} has learned a metric of rank 0, so its graph would "
            "be empty. Lower lam or add labels, and fit it again."
        )
    # skl2onnx up to 1.20 ignores the weights.
    if isinstance(part, KNeighborsClassifier) and part.weights != "uniform":
        raise ValueError(
            "skl2onnx converts KNeighborsClassifier(weights="
            f'{part.weights!r}) incorrectly. Use weights="uniform", or replace the last two steps '
            "of the pipeline by a MetricClassifier."
        )
    for name, step in getattr(part, "steps", ()):
        if not isinstance(step, BaseEstimator):
            raise ValueError(
                f"The step {name!r} of the pipeline is {step!r}, which skl2onnx does not "
                "support: leave that step out."
            )
        _check_parts(step)
    if isinstance(part, MetricClassifier):
        _graphs.onnx_classes(part.classes_)
        _check_parts(part.estimator_)


def _register(skl2onnx: ModuleType, learner: type, shapes: Any, convert: Any) -> None:
    skl2onnx.update_registered_converter(learner, f"Seraph{learner.__name__}", shapes, convert)


def _skl2onnx() -> ModuleType:
    try:
        import_module("onnx")
        return import_module("skl2onnx")
    except ImportError as error:
        raise ImportError(
            "ONNX graphs need skl2onnx: pip install 'seraph-learn[onnx]'."
        ) from error
