"""Supervision: class labels, and marks of pairs and triplets, validated and merged."""

from ._answers import is_unknown, mark_weights, pair_signs
from ._columns import exact_column
from ._labels import PairLabels, aligned_marks, as_labels, effective_size, is_missing
from ._marks import Marks
from ._rows import Rows

__all__ = [
    "Marks",
    "PairLabels",
    "Rows",
    "aligned_marks",
    "as_labels",
    "effective_size",
    "exact_column",
    "is_missing",
    "is_unknown",
    "mark_weights",
    "pair_signs",
]
