"""Detect labels that are a quantity, a regression target, rather than classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Array
from ._warnings import warn

# Labels are taken for classes if they have fewer distinct values than this, or fewer than this
# share of the number of rows.
_FEWEST = 20
_SHARE = 0.2
# Consecutive integers are codes of classes: at most this ratio of their range to their number.
_GAPS = 1.5


def is_quantity(labels: Array) -> bool:
    """Whether known labels, numbers or text, look like a measured quantity and not like classes.

    Examples
    --------
    >>> is_quantity(np.array([str(k / 10) for k in range(100)]))
    True
    >>> is_quantity(np.arange(100) % 40), is_quantity(np.array(["a", "b"] * 50))
    (False, False)
    """
    different = np.unique(np.array([str(label) for label in labels]))
    if len(different) < _FEWEST or len(different) < _SHARE * len(labels):
        return False
    try:
        numbers = different.astype(np.float64)
    except ValueError:
        return False
    if not np.isfinite(numbers).all():
        return False
    whole = bool(np.all(numbers == np.rint(numbers)))
    return not whole or float(np.ptp(numbers)) + 1.0 > _GAPS * len(numbers)


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
