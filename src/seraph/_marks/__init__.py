"""Supervision: class labels, and marks of pairs and triplets, validated and merged."""

from ._classes import read_classes
from ._columns import as_column, plain
from ._labels import PairLabels, aligned_marks, effective_size
from ._marks import Marks
from ._rows import Rows, is_frame
from ._sample import sample_rows, take_pairs

__all__ = [
    "Marks",
    "PairLabels",
    "Rows",
    "aligned_marks",
    "as_column",
    "effective_size",
    "is_frame",
    "plain",
    "read_classes",
    "sample_rows",
    "take_pairs",
]
