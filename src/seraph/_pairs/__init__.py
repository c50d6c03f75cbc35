"""Labels of points and pairs, checked and merged, and the rows that they belong to."""

from ._columns import exact_column
from ._labels import (
    PairLabels,
    as_labels,
    is_missing,
    is_unknown,
    mark_weights,
    pair_signs,
    row_numbers,
)
from ._names import RowNames, is_frame

__all__ = [
    "PairLabels",
    "RowNames",
    "as_labels",
    "exact_column",
    "is_frame",
    "is_missing",
    "is_unknown",
    "mark_weights",
    "pair_signs",
    "row_numbers",
]
