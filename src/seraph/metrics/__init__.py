"""Figures of merit of a distance: over all pairs, and over the neighbors of each point.

Every figure sweeps the distances in tiles, so none stores an n x n array.
"""

from .._public import publish as _publish
from ._known_rows import known_rows_scorer
from ._pairs import equal_error_rate, pair_auc
from ._probability import expected_calibration_error
from ._retrieval import map_at_r, precision_at_1, recall_at_k

__all__ = [
    "equal_error_rate",
    "expected_calibration_error",
    "known_rows_scorer",
    "map_at_r",
    "pair_auc",
    "precision_at_1",
    "recall_at_k",
]

_publish(globals())
