"""Figures of merit of a distance: over all pairs, and over the neighbors of each point.

No figure stores an n x n array; large tables are sampled, as each docstring says.
"""

from .._utils._public import publish as _publish
from ._pairs import equal_error_rate, pair_auc
from ._retrieval import map_at_r, precision_at_1, recall_at_k

__all__ = [
    "equal_error_rate",
    "map_at_r",
    "pair_auc",
    "precision_at_1",
    "recall_at_k",
]

_publish(globals())
