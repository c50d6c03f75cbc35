"""The estimators of the paper's model; classifiers and active learning with a learned metric."""

from .._engine import RegularizationPath
from .._utils._public import publish as _publish
from ._classifier import MetricClassifier
from ._cv import SERAPHCV
from ._kernel import KernelMap, KernelMetric, KernelSERAPH
from ._pair_classifier import PairClassifier
from ._path import seraph_path
from ._queries import query_pairs, query_rows
from ._seraph import SERAPH

__all__ = [
    "SERAPH",
    "SERAPHCV",
    "KernelMap",
    "KernelMetric",
    "KernelSERAPH",
    "MetricClassifier",
    "PairClassifier",
    "RegularizationPath",
    "query_pairs",
    "query_rows",
    "seraph_path",
]

_publish(globals(), "seraph", __all__)
