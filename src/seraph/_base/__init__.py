"""What all learners share: the learned distance in use, and its shrinkage."""

from ._learner import MahalanobisLearner, MahalanobisMetric, check_pairs, mapped, pair_points
from ._shrinkage import Blend

__all__ = [
    "Blend",
    "MahalanobisLearner",
    "MahalanobisMetric",
    "check_pairs",
    "mapped",
    "pair_points",
]
