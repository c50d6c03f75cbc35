"""Base classes of all learners, and the shrinkage of a learned metric."""

from ._learner import (
    MahalanobisLearner,
    MahalanobisMetric,
    MetricLearner,
    check_pairs,
    map_points,
)
from ._shrinkage import Blend

__all__ = [
    "Blend",
    "MahalanobisLearner",
    "MahalanobisMetric",
    "MetricLearner",
    "check_pairs",
    "map_points",
]
