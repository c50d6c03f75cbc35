"""Supervision: class labels, and marks of pairs and triplets, validated and merged."""

from ._answers import mark_weights, pair_signs
from ._classes import read_classes
from ._columns import exact_column
from ._labels import PairLabels, aligned_marks, effective_size
from ._marks import Marks
from ._rows import Rows

__all__ = [
    "Marks",
    "PairLabels",
    "Rows",
    "aligned_marks",
    "effective_size",
    "exact_column",
    "mark_weights",
    "pair_signs",
    "read_classes",
]
