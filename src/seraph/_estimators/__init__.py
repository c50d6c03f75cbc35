"""Classifiers and active learning with a learned metric."""

from .._utils._public import publish as _publish
from ._classifier import MetricClassifier
from ._pair_classifier import PairClassifier
from ._queries import query_pairs, query_rows

__all__ = ["MetricClassifier", "PairClassifier", "query_pairs", "query_rows"]

_publish(globals(), "seraph", __all__)
