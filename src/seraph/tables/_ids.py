"""Columns of numbers that identify rows or are codes, rather than measure something."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .._utils._typing import Array, FloatArray

# Names of columns of whole numbers that only identify rows.
_ID_NAME = re.compile(
    r"^unnamed\b|(^|[\W_])(id|ids|uid|uuid|idx|index|key|nr|no|row|rowid|code|number)$|[a-z]I[dD]$",
    re.IGNORECASE,
)
# With fewer rows, whole numbers may well rise by chance, or be nearly all distinct.
_FEWEST_ROWS, _FEWEST_DISTINCT = 10, 20
# Whole numbers of which at least this share are distinct may be ids.
_DISTINCT = 0.95
# Ids that are numbered on have few gaps; others have one length. Most amounts may end in 0.
_DENSE, _SPREAD, _ROUND = 4, 10, 0.5
# A number this many times as large as all others may mean "missing"; then, for one such as 999.
_FAR, _FAR_NINES = 1e4, 5.0
# Whole numbers of this many digits are codes: a slip in one digit leaves them alike as text only.
_CODE_DIGITS = 4


def looks_like_ids(name: str, values: Any) -> str:
    """Say why a column seems to identify rows, as a reason of `Column`; "" if it does not.

    Such columns hold whole numbers that are all distinct. They either only rise or only fall
    from row to row, or have the name of an id. They are left out because the order of the rows
    is not a property of what a row describes, and often gives away the class.
    """
    known = _whole_numbers(values)
    if known is None or len(known) < 2:
        return ""
    steps = np.diff(known)
    if len(known) >= _FEWEST_ROWS and np.all(steps == 1.0):
        return "row numbers"
    if len(known) >= _FEWEST_ROWS and (np.all(steps > 0) or np.all(steps < 0)):
        return "in order"
    if _ID_NAME.search(name) and len(np.unique(known)) == len(known):
        return "id name"
    return ""


def suspicion(name: str, values: Any) -> str:
    """Return why a column of numbers that is used may only identify rows, or "".

    Amounts are nearly all distinct, too. But they spread over more digits than ids, which are
    numbered on or have one length, or are round.
    """
    known = _whole_numbers(values)
    if known is None:
        return ""
    if _ID_NAME.search(name):
        return "named like ids"
    if len(known) < _FEWEST_DISTINCT or len(np.unique(known)) < _DISTINCT * len(known):
        return ""
    low, high = np.quantile(np.abs(known), (0.1, 0.9))
    numbered_on = np.ptp(known) < _DENSE * len(known)
    spread = high > _SPREAD * max(low, 1.0) and not numbered_on
    is_round = np.mean(known % 10 == 0) > _ROUND
    return "" if spread or is_round else "nearly distinct"


def sentinel(values: Any) -> float | None:
    """Return a number that may mean a missing one, such as 9999 far from the others, or None."""
    known = np.unique(values[~np.isnan(values)])
    if len(known) < 3:
        return None
    for extreme, others in ((known[-1], known[:-1]), (known[0], known[1:])):
        times = abs(extreme) / max(np.abs(others).max(), 1.0)
        nines = len(set(f"{abs(extreme):.0f}")) == 1 and f"{abs(extreme):.0f}".startswith("999")
        if times >= _FAR or (nines and times >= _FAR_NINES):
            return float(extreme)
    return None


def is_code(values: Array) -> bool:
    """Return whether numbers are codes, such as postcodes: whole, and of four digits or more."""
    known = _whole_numbers(values)
    if known is None or len(known) == 0:
        return False
    return bool(np.median(np.abs(known)) >= 10 ** (_CODE_DIGITS - 1))


def _whole_numbers(values: Any) -> FloatArray | None:
    """Return the values that are not missing; None unless all of them are whole numbers."""
    array: Array = np.asarray(values)
    if array.dtype.kind != "f":
        return None
    known: FloatArray = array[~np.isnan(array)]
    return None if np.any(known != np.floor(known)) else known
