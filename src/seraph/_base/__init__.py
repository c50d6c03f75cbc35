"""What all learners share: the learned distance in use, and its shrinkage."""

from ._learner import (
    MahalanobisLearner,
    MahalanobisMetric,
    MetricLearner,
    check_pairs,
    mapped,
)
from ._shrinkage import Blend

__all__ = [
    "Blend",
    "MahalanobisLearner",
    "MahalanobisMetric",
    "MetricLearner",
    "check_pairs",
    "mapped",
]
