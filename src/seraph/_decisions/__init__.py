"""From distances to decisions: thresholds, calibrated probabilities, and folds to choose them on.

::

    _folds       assign points to folds, so that no point is on both sides of a split
    _held_out    distances of pairs whose points a metric has not seen
    _threshold   choose a distance to decide at, and judge it
    _calibrate   turn distances into probabilities
    _methods     what a learner can do with these
    _links       which points marks put together, and which they part
    _cluster     k-means and agglomerative clustering that keep to them
    _candidates  a threshold for candidate pairs that reaches a wanted precision
    _groups      groups of rows from accepted pairs, without chains
    _query_rows  which rows to label next
    _pipelines   notice a pipeline that takes unlabeled rows for a class
    _split       the splitter and the scorer for scikit-learn's cross-validation
"""

from .._public import publish as _publish
from ._candidates import CandidateDecision
from ._cluster import constrained_agglomerative, constrained_k_means
from ._folds import assign_folds, restricted
from ._groups import grouped
from ._held_out import Given, HeldOut, held_out
from ._methods import PairDecisions, pair_points
from ._split import PairKFold, PairScorer

__all__ = [
    "CandidateDecision",
    "Given",
    "HeldOut",
    "PairDecisions",
    "PairKFold",
    "PairScorer",
    "assign_folds",
    "constrained_agglomerative",
    "constrained_k_means",
    "grouped",
    "held_out",
    "pair_points",
    "restricted",
]

_publish(
    globals(),
    "seraph",
    ["PairKFold", "PairScorer", "constrained_agglomerative", "constrained_k_means"],
)
