"""Which values say that something is unknown, and which labels may be such a value."""

from __future__ import annotations

import sys

import numpy as np

from ._typing import Array
from ._warnings import warn

# Texts that count as the label -1.
MINUS_ONE = ("-1", "-1.0")
_ONE = (1, "1", "1.0", b"1", b"1.0")


def is_unknown(values: Array) -> Array:
    """Say which values are NaN, NaT, None or pandas.NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    pandas = sys.modules.get("pandas")  # imported already if anybody passes pandas.NA
    if pandas is not None:
        return np.asarray(pandas.isna(values), dtype=bool)
    unknown = [value is None or bool(value != value) for value in values]  # noqa: PLR0124 (NaN)
    return np.array(unknown, dtype=bool)


def warn_of_lost_signs(labels: Array, name: str) -> None:
    """Warn if labels, of an unsigned type, contain what -1 becomes in it."""
    if np.any(labels == (top := np.iinfo(labels.dtype).max)):
        warn(
            f"{name} is of type {labels.dtype}, in which -1 becomes {top}: {top} counts as a "
            f"class. If it means unlabeled, write {name} = {name}.astype(int), and then "
            f"{name}[{name} == {top}] = -1."
        )


def warn_of_signs(labels: Array, known: Array) -> None:
    """Warn if -1 and 1 are the only labels: they may have been meant as two classes."""
    is_minus_one = ~known & ~is_unknown(labels)
    if not (is_minus_one.any() and known.any()):
        return
    if all(label in _ONE for label in labels[known].tolist()):
        warn(
            "1 and -1 are the only labels, and -1 means unlabeled, so there is only one class. If "
            "-1 is a class, name the classes 0 and 1."
        )
