"""What the file of a model may hold: a fixed list of types, and nothing that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

# Files name these classes by the public place they are imported from.
_OURS = (
    "seraph.SERAPH",
    "seraph.SERAPHCV",
    "seraph.KernelSERAPH",
    "seraph.KernelMap",
    "seraph.MetricNeighborsClassifier",
    "seraph.classic.Euclidean",
    "seraph.classic.GDM",
    "seraph.classic.ITML",
    "seraph.classic.LDM",
    "seraph.classic.LMNN",
    "seraph.classic.MFDA",
    "seraph.classic.NCA",
)
# Version 0.1.0 wrote the private modules of its day instead. Its files stay readable for ever.
_OLD_MODULES = {
    "seraph.seraph": "seraph",
    "seraph.selection": "seraph",
    "seraph.kernel": "seraph",
    "seraph.neighbors": "seraph",
    "seraph.classic._euclidean": "seraph.classic",
    "seraph.classic._gdm": "seraph.classic",
    "seraph.classic._itml": "seraph.classic",
    "seraph.classic._ldm": "seraph.classic",
    "seraph.classic._lmnn": "seraph.classic",
    "seraph.classic._mfda": "seraph.classic",
    "seraph.classic._nca": "seraph.classic",
}
# What our own are made of, and what commonly stands before and behind them in a pipeline.
_SCIKIT_LEARN = (
    "sklearn.pipeline.Pipeline",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.KernelCenterer",
    "sklearn.decomposition._pca.PCA",
    "sklearn.decomposition._kernel_pca.KernelPCA",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.neighbors._classification.KNeighborsClassifier",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
    "sklearn.linear_model._logistic.LogisticRegression",
    "sklearn.cluster._kmeans.KMeans",
)
_PLAIN = (
    *(f"builtins.{name}" for name in ("NoneType", "bool", "int", "float", "str")),
    *(f"builtins.{name}" for name in ("dict", "list", "tuple")),
    *(f"numpy.{name}" for name in ("ndarray", "dtype", "str_", "float64", "float32")),
    *(f"numpy.{name}" for name in ("int64", "int32")),
    "numpy.random.mtrand.RandomState",
)
_OBJECTS = (*_OURS, *_SCIKIT_LEARN)
TRUSTED = (*_OBJECTS, *_PLAIN)

# How skops may put those together; the other ways of its format call functions.
_LOADERS = (
    "DTypeNode",
    "DictNode",
    "JsonNode",
    "ListNode",
    "NdArrayNode",
    "ObjectNode",
    "RandomStateNode",
    "TupleNode",
    "TypeNode",
)


def foreign_part(value: Any, where: str = "") -> tuple[str, str] | None:
    """The first thing within a model that is not on the list: where it is, and its type."""
    name = _type_name(value)
    if name not in TRUSTED:
        return where, name
    for key, inner in _within(value):
        found = foreign_part(inner, f"{where}.{key}" if where and key else where + key)
        if found:
            return found
    return None


def with_public_names(schema: bytes) -> bytes:
    """The same schema, in which every class of ours is called by its public name."""
    tree = json.loads(schema)
    old = [node for node in _nodes(tree) if node.get("__module__") in _OLD_MODULES]
    for node in old:
        node["__module__"] = _OLD_MODULES[node["__module__"]]
    return json.dumps(tree).encode() if old else schema


def foreign_types(schema: bytes) -> list[str]:
    """Names of the types that a file's schema names and the list does not."""
    found = set()
    for node in _nodes(json.loads(schema)):
        name = f"{node.get('__module__')}.{node.get('__class__')}"
        if name not in TRUSTED or node["__loader__"] not in _LOADERS:
            found.add(name)
    return sorted(found)


def is_object(value: Any) -> bool:
    """Whether a value is on the list, and made of attributes."""
    return _type_name(value) in _OBJECTS


def _type_name(value: Any) -> str:
    kind = np.dtype if isinstance(value, np.dtype) else type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _within(value: Any) -> Iterator[tuple[str, Any]]:
    """What a value on the list is made of, with the names of attributes and keys."""
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


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All nodes of a schema, wherever they stand."""
    if isinstance(schema, dict):
        if "__loader__" in schema:
            yield schema
        for inner in schema.values():
            yield from _nodes(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _nodes(inner)
