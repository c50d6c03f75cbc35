"""Figures of merit of a distance: over all pairs, and over the neighbors of each point.

Every figure computes the distances in tiles, so none stores an n x n array.

Ties are exact. For whole numbers (binary, count and one-hot data, also translated) distances are
compared without any rounding, as long as they are below 2**26 and no coordinate is beyond 2**44.
Other points have rounding errors of their own, from scaling or from a learned map. So squared
distances that are within 2**-44 of each other (about 6e-14 of their size) are a tie, and points
that are no farther apart than 2**-46 of their norm coincide. (In float32, or far from the origin,
the points lose more than that: then ties follow from the numbers as given.) No figure depends on
the order of the rows, or on the tiles.
"""

from .._utils._public import publish as _publish
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
