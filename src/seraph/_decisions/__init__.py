"""From distances to decisions: thresholds, calibrated probabilities, and folds to choose them on.

::

    _folds       assign points to folds, so that no point is on both sides of a split; the same
                 as a splitter of scikit-learn
    _held_out    distances of pairs whose points a metric has not seen
    _threshold   choose a distance to decide at, and judge it
    _calibrate   turn distances into probabilities
    _links       which points marks put together, and which they part
    _cluster     k-means and agglomerative clustering that keep to them
    _typical     which rows to label next
"""

from .._utils._public import publish as _publish
from ._calibrate import calibrated, probabilities
from ._cluster import constrained_agglomerative, constrained_k_means
from ._folds import MarksKFold, assign_folds, deal_classes, points_of_folds
from ._held_out import class_distances, held_out, row_distances
from ._threshold import STRATEGIES, WITH_TARGET, choose_threshold, decision_threshold, judged
from ._typical import typical_rows

__all__ = [
    "STRATEGIES",
    "WITH_TARGET",
    "MarksKFold",
    "assign_folds",
    "calibrated",
    "choose_threshold",
    "class_distances",
    "constrained_agglomerative",
    "constrained_k_means",
    "deal_classes",
    "decision_threshold",
    "held_out",
    "judged",
    "points_of_folds",
    "probabilities",
    "row_distances",
    "typical_rows",
]

_publish(globals(), "seraph", ["MarksKFold", "constrained_agglomerative", "constrained_k_means"])
