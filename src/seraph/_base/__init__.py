"""Base classes of all learners, and the shrinkage of a learned metric."""

from ._learner import (
    MahalanobisLearner,
    MahalanobisMetric,
    MetricLearner,
    check_pairs,
    map_points,
)
from ._shrinkage import MOST_FEATURES, Blend

__all__ = [
    "MOST_FEATURES",
    "Blend",
    "MahalanobisLearner",
    "MahalanobisMetric",
    "MetricLearner",
    "check_pairs",
    "map_points",
]
