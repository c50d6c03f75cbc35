"""Supervision: class labels, and marks of pairs and triplets, validated and merged."""

from ._classes import read_classes, warn_of_signs
from ._groups import pairs_within
from ._labels import PairLabels, aligned_marks, effective_size
from ._marks import Marks
from ._rows import Rows, as_column, is_frame, plain
from ._sample import sample_rows, take_pairs
from ._screens import answers_of_first, check_chances, contradictory_screens
