"""The estimators of the paper's model, and what is done with the metric they learn."""

from .._public import publish as _publish
from ._cv import SERAPHCV
from ._duplicates import DuplicateFinder, Duplicates
from ._kernel import KernelMap, KernelMetric, KernelSERAPH
from ._neighbors import MetricNeighborsClassifier
from ._pair_classifier import PairClassifier
from ._path import RegularizationPath, seraph_path
from ._queries import query_pairs, query_rows
from ._record_vectors import is_code
from ._seraph import SERAPH

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "DuplicateFinder",
    "Duplicates",
    "KernelMap",
    "KernelMetric",
    "KernelSERAPH",
    "MetricNeighborsClassifier",
    "PairClassifier",
    "RegularizationPath",
    "is_code",
    "query_pairs",
    "query_rows",
    "seraph_path",
]

_publish(globals(), "seraph", [name for name in __all__ if name != "is_code"])
