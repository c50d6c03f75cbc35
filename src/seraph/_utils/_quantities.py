"""Detect labels that are a quantity, a regression target, rather than classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Array
from ._warnings import warn

# Whole numbers are taken for classes if they have fewer distinct values than this, or fewer than
# this share of the number of rows; for a quantity surely, above the other share.
_FEWEST = 20
_SHARE, _MOST = 0.2, 0.5
# Numbers with decimals need only so many, if they are more than half of the labels.
_DECIMALS = 5
# Consecutive integers are codes of classes: at most this ratio of their range to their number.
_GAPS = 1.5


def is_quantity(labels: Array, *, surely: bool = False) -> bool:
    """Whether known labels, numbers or text, look like a measured quantity and not like classes.

    Whole numbers may be names, such as numbers of patients: `surely` leaves out those that
    most labels share.

    Examples
    --------
    >>> is_quantity(np.array([str(k / 10) for k in range(100)]))
    True
    >>> is_quantity(np.arange(100) % 40), is_quantity(np.array(["a", "b"] * 50))
    (False, False)
    """
    different = np.unique(np.array([str(label) for label in labels]))
    n = len(different)
    if n < _DECIMALS:
        return False
    try:
        numbers = different.astype(np.float64)
    except ValueError:
        return False
    if not np.isfinite(numbers).all():
        return False
    if np.any(numbers != np.rint(numbers)):
        return n >= _FEWEST or n > _MOST * len(labels)
    share = _MOST if surely else _SHARE
    has_gaps = float(np.ptp(numbers)) + 1.0 > _GAPS * n
    return n >= _FEWEST and n >= share * len(labels) and has_gaps


IN_PYTHON = (
    "learn a distance for it with seraph.classic.MLKR, or make a few classes of it first, for "
    "example with pandas.qcut(values, 3)."
)


def warn_of_quantity(labels: Any, name: str = "y", advice: str = IN_PYTHON) -> None:
    """Warn if labels look like a quantity, and say what to do with one."""
    known = np.asarray(labels)
    if known.dtype.kind != "b" and is_quantity(known):
        n = len({str(label) for label in known.tolist()})
        warn(
            f"{name} has {n} different numbers in {len(known)} labels, and each becomes a class "
            f"of its own. If they measure a quantity, {advice}"
        )
