"""Supervision: class labels, and marks of pairs and triplets, validated and merged."""

from ._answers import is_unknown, mark_weights, pair_signs
from ._classes import MINUS_ONE, has_lost_minus_one, read_classes, warn_of_signs
from ._columns import exact_column
from ._labels import PairLabels, aligned_marks, effective_size
from ._marks import Marks
from ._rows import Rows

__all__ = [
    "MINUS_ONE",
    "Marks",
    "PairLabels",
    "Rows",
    "aligned_marks",
    "effective_size",
    "exact_column",
    "has_lost_minus_one",
    "is_unknown",
    "mark_weights",
    "pair_signs",
    "read_classes",
    "warn_of_signs",
]
