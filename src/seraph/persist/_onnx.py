"""Convert models to ONNX graphs with skl2onnx."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import OneHotEncoder

from .. import classic
from .._learner import MahalanobisLearner
from .._mean import MeanMetric
from .._seraph import SERAPH
from .._utils._optional import optional_module
from . import _graphs, _heads, _tables
from ._agreement import check_agreement
from ._tables import check_export

_CLASSIC = (getattr(classic, name) for name in classic.__all__)
_LINEAR = (
    SERAPH,
    MeanMetric,
    *(Learner for Learner in _CLASSIC if issubclass(Learner, MahalanobisLearner)),
)


def to_onnx(
    model: BaseEstimator,
    X: Any,
    *,
    dtype: DTypeLike = np.float32,
    target_opset: int | None = None,
) -> Any:
    """Convert a fitted model to an ONNX graph that runs without seraph and without Python.

    The graph has one input, "X" of shape (n_samples, n_features), with any number of rows. If the
    model was fitted on a data frame, the graph instead has one input for each column that it uses,
    with the name of the column and the shape (n_samples, 1): numbers, NaN if missing, or text, ""
    if missing. The graph returns what ``transform`` returns; for a classifier, "label", the
    classes, and then "probabilities", in the order of ``classes_``. The graph of a
    `MetricClassifier` also returns "coordinates", what its ``transform`` returns.

    The graph of a `PairClassifier` has one more input, "pairs" of shape (n_pairs, 2), the numbers
    of rows (int64). It returns "label" and "probabilities" of these pairs, as ``predict`` and
    ``predict_proba`` do, and the "coordinates" of the rows.

    Before it is returned, the graph is run on every row of `X`, and on some of them with missing
    numbers. It is refused if an answer differs from the model's; of a `PairClassifier`, the
    probabilities of pairs of neighboring rows are compared.

    Parameters
    ----------
    model : estimator
        A fitted seraph learner, `MetricClassifier`, `PairClassifier` or `ForestSpace`, or a
        pipeline that ends in one (or has a learner before other steps) and whose other steps
        skl2onnx supports, such as scikit-learn's scalers.
        A ``ColumnTransformer`` must be the first step, of this pipeline or of the classifier's.
        So must a `TablePreparer`; the graph takes numbers and dates as it reads them, as numbers,
        and the cells of categories as they are in `X`, with the spaces around them. It knows
        those of `X`; others are new categories to it.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows to compare the graph with the model on: those that the model was fitted on, or
        rows like them.
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
        If a part of the model has no graph, or if the graph gives a row of `X` another class than
        the model, or numbers that differ by more than rounding in `dtype` explains. The message
        names the step.

    Examples
    --------
    >>> import numpy as np
    >>> import onnxruntime
    >>> from seraph import SERAPH, persist
    >>> X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32)
    >>> learner = SERAPH().fit(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1))
    >>> graph = persist.to_onnx(learner, X)
    >>> session = onnxruntime.InferenceSession(graph.SerializeToString())
    >>> (Z,) = session.run(None, {"X": X})
    >>> bool(np.allclose(Z, learner.transform(X), atol=1e-6))
    True
    """
    optional_module("onnxruntime", "ONNX graphs need onnxruntime", "onnx")
    skl2onnx = optional_module("skl2onnx", "ONNX graphs need skl2onnx", "onnx")
    dtype = check_export(model, dtype)
    if not any(hasattr(model, name) for name in ("transform", "predict")):
        raise ValueError(f"A {type(model).__name__} maps no rows, so no ONNX graph exists for it.")
    preparer, steps, head = _tables.unfold(model)
    raw: dict[str, Any] = {}
    if preparer is not None:
        given, X = X, preparer._read(X)
        raw = _tables.raw_text(given, X)
    if not hasattr(steps, "n_features_in_"):
        raise ValueError(
            f"The first step, {steps[0]!r}, takes neither numbers nor a table: it has no "
            "graph. Export the steps after it, to_onnx(model[1:], X), with X as it returns it."
        )
    types = skl2onnx.common.data_types
    # In double precision, values at the split points of a forest stay on the right side.
    narrow = dtype == np.float32 and head is not None
    is_single = dtype == np.float32 and not narrow
    number = types.FloatTensorType if is_single else types.DoubleTensorType
    names, text = _tables.column_names(steps), _tables.text_columns(steps)
    selects = bool(_tables.selected_columns(steps))
    inputs = [("X", number([None, steps.n_features_in_]))]
    if selects:
        kinds = [types.StringTensorType if name in text else number for name in names]
        inputs = [(name, kind([None, 1])) for name, kind in zip(names, kinds, strict=True)]
    has_forest = head is not None and _heads.forest_of(head) is not None
    mapped = _tables.beside_features(steps) if has_forest else steps
    graph = _convert(skl2onnx, mapped, inputs, number, target_opset)
    if selects:
        _tables.rename_inputs(graph, names)
        for name in raw.keys() & text.keys():
            _tables.read_cells(graph, name, raw[name], X[name], text[name])
    elif names:
        _tables.split_input(graph, names)
    if head is not None:
        _heads.add_head(graph, head)
    if narrow:
        _heads.narrow(graph)
    check_agreement(steps if head is None else head, steps, graph, X, raw, dtype)
    return graph


def _convert(
    skl2onnx: ModuleType, model: Any, inputs: list[Any], number: Any, target_opset: int | None
) -> Any:
    """Convert a model whose inputs have these names and types; `number` is the type of numbers."""
    for kind in _LINEAR:  # our learners
        skl2onnx.update_registered_converter(
            kind, f"Seraph{kind.__name__}", _graphs.step_shapes, _graphs.convert_linear
        )
    last = model.steps[-1][1]
    # skl2onnx up to 1.20 ignores the weights.
    if isinstance(last, KNeighborsClassifier) and last.weights != "uniform":
        raise ValueError(
            "skl2onnx converts KNeighborsClassifier(weights="
            f'{last.weights!r}) incorrectly. Use weights="uniform", or replace the last two steps '
            "of the pipeline by a MetricClassifier."
        )
    try:
        return skl2onnx.convert_sklearn(
            model,
            initial_types=inputs,
            # By default, classifiers would return dictionaries of probabilities.
            options={id(last): {"zipmap": False}} if is_classifier(last) else None,
            target_opset=target_opset,
            custom_conversion_functions={
                SimpleImputer: _graphs.convert_imputer,
                OneHotEncoder: _graphs.convert_encoder,
            },
            custom_shape_calculators={
                SimpleImputer: _graphs.step_shapes,
                OneHotEncoder: partial(_graphs.shapes_of_type, number),
            },
        )
    except Exception as error:  # skl2onnx raises many kinds
        raise ValueError(
            f"skl2onnx cannot convert a part of this {type(model).__name__}: {error}"
        ) from error
