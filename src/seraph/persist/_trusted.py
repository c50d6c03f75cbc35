"""The types that a model file may contain: a fixed list, and none that runs code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import classic

# Files name our classes by the public place users import them from.
_OURS = (
    "seraph.SERAPH",
    "seraph.KernelSERAPH",
    "seraph.MeanMetric",
    "seraph.MetricClassifier",
    "seraph.PairClassifier",
    "seraph.TablePreparer",
    *(f"seraph.classic.{name}" for name in classic.__all__),
)
# The parts of our estimators, and the usual steps before and after them in a pipeline.
_SCIKIT_LEARN = (
    "sklearn.pipeline.Pipeline",
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.impute._knn.KNNImputer",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.KernelCenterer",
    "sklearn.preprocessing._data.PowerTransformer",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._kernel_pca.KernelPCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.neighbors._classification.KNeighborsClassifier",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.cluster._kmeans.KMeans",
)
_BUILTINS = ("NoneType", "bool", "int", "float", "str", "dict", "list", "tuple", "slice")
_NUMPY = ("ndarray", "dtype", "str_", "float64", "float32", "int64", "int32")
_PLAIN = (
    *(f"builtins.{name}" for name in _BUILTINS),
    *(f"numpy.{name}" for name in _NUMPY),
    "numpy.random.mtrand.RandomState",
)
_OBJECTS = (*_OURS, *_SCIKIT_LEARN)
TRUSTED = (*_OBJECTS, *_PLAIN)

# The skops nodes that build these types. The other nodes call functions, so they are refused.
_LOADERS = (
    "DTypeNode",
    "DictNode",
    "JsonNode",
    "ListNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomStateNode",
    "SliceNode",
    "TupleNode",
    "TypeNode",
)


def foreign_part(value: Any, where: str = "") -> tuple[str, str] | None:
    """Find the first part of a model whose type is not trusted.

    Returns
    -------
    tuple of (str, str) or None
        The attribute path of that part and the name of its type; None if every type is trusted.
    """
    name = _type_name(value)
    if name not in TRUSTED:
        return where, name
    for key, inner in parts_of(value):
        found = foreign_part(inner, f"{where}.{key}" if where and key else where + key)
        if found:
            return found
    return None


def foreign_types(nodes: Iterable[dict[str, Any]]) -> list[str]:
    """Return the names of the types in nodes of a schema that are not trusted."""
    found = set()
    for node in nodes:
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name not in TRUSTED or node["__loader__"] not in _LOADERS:
            found.add(name)
    return sorted(found)


def is_object(value: Any) -> bool:
    """Return whether a value is a trusted object with attributes, rather than plain data."""
    return _type_name(value) in _OBJECTS


def _type_name(value: Any) -> str:
    if isinstance(value, type) and issubclass(value, np.number):
        kind: type = value  # the `dtype` of an encoder
    else:
        kind = np.dtype if isinstance(value, np.dtype) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def parts_of(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a trusted value, each with its attribute name or key."""
    if is_object(value):
        yield from vars(value).items()
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield "", key
            yield str(key), inner
    elif isinstance(value, list | tuple) or (
        isinstance(value, np.ndarray) and value.dtype == object
    ):
        for inner in value:
            yield "", inner


def schema_nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every node of a schema, however deep."""
    if isinstance(schema, dict):
        if "__loader__" in schema:
            yield schema
        for inner in schema.values():
            yield from schema_nodes(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from schema_nodes(inner)
