"""From distances to decisions: thresholds, calibrated probabilities, and folds to choose them on.

::

    _folds       assign points to folds, so that no point is on both sides of a split; the same
                 as a splitter of scikit-learn
    _held_out    distances of pairs whose points a metric has not seen
    _threshold   choose a distance to decide at, and judge it
    _calibrate   turn distances into probabilities
"""

from .._utils._public import publish as _publish
from ._calibrate import calibrate, probabilities
from ._folds import MarksKFold, assign_folds
from ._held_out import class_distances, measure_held_out, row_distances
from ._threshold import (
    STRATEGIES,
    WITH_TARGET,
    decision_threshold,
    judge_threshold,
)

__all__ = [
    "STRATEGIES",
    "WITH_TARGET",
    "MarksKFold",
    "assign_folds",
    "calibrate",
    "class_distances",
    "decision_threshold",
    "judge_threshold",
    "measure_held_out",
    "probabilities",
    "row_distances",
]

_publish(globals(), "seraph", ["MarksKFold"])
