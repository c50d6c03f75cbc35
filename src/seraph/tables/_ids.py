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
# Why such a column is left out.
UNNAMED, _ROW_NUMBERS = "row numbers, without a name", "row numbers"
_IN_ORDER, _BY_NAME = "whole numbers, all distinct and in order", "ids, by its name"
IDS = (UNNAMED, _ROW_NUMBERS, _IN_ORDER, _BY_NAME)
# A number so many times as large as all others may mean "missing"; then, for one such as 999.
_FAR, _FAR_NINES = 1e4, 5.0
# Whole numbers of so many digits are codes: a slip in one digit leaves them alike as text only.
_CODE_DIGITS = 4


def looks_like_ids(name: str, values: Any) -> str | None:
    """Say why a column seems to identify rows; None if it seems to measure something.

    Such columns hold whole numbers that are all distinct. They either only rise or only fall
    from row to row, or have the name of an id. They are left out because the order of the rows
    is not a property of what a row describes, and often gives away the class.

    Parameters
    ----------
    name : str
        Name of the column.
    values : array-like
        Its values.

    Returns
    -------
    str or None
        The reason, in words.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.tables import looks_like_ids
    >>> looks_like_ids("Unnamed: 0", np.arange(50.0))
    'row numbers'
    >>> looks_like_ids("patient_id", np.array([7.0, 3.0, 5.0]))
    'ids, by its name'
    >>> looks_like_ids("age", np.array([7.0, 3.0, 5.0]))
    """
    known = _whole_numbers(values)
    if known is None or len(known) < 2:
        return None
    steps = np.diff(known)
    if len(known) >= _FEWEST_ROWS and np.all(steps == 1.0):
        return _ROW_NUMBERS
    if len(known) >= _FEWEST_ROWS and (np.all(steps > 0) or np.all(steps < 0)):
        return _IN_ORDER
    if _ID_NAME.search(name) and len(np.unique(known)) == len(known):
        return _BY_NAME
    return None


def suspicion(name: str, values: Any) -> str | None:
    """Return why a column of numbers that is used may only identify rows, or None.

    Examples
    --------
    >>> suspicion("patient_id", np.array([7.0, 3.0, 3.0]))
    'named like ids'
    >>> suspicion("x", np.random.default_rng(0).permutation(np.arange(50.0)))
    'whole numbers, nearly all distinct'
    >>> suspicion("age", np.array([7.0, 3.0, 3.0]))
    """
    known = _whole_numbers(values)
    if known is None:
        return None
    if _ID_NAME.search(name):
        return "named like ids"
    many = len(known) >= _FEWEST_DISTINCT
    if many and len(np.unique(known)) >= _DISTINCT * len(known):
        return "whole numbers, nearly all distinct"
    return None


def sentinel(values: Any) -> float | None:
    """Return a number that may mean a missing one, such as 9999 far from the others, or None.

    Examples
    --------
    >>> sentinel(np.array([20.0, 31.0, 9999.0])), sentinel(np.array([20.0, 31.0, 40.0]))
    (9999.0, None)
    """
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
    """Return whether numbers are codes, such as postcodes: whole, and of four digits or more.

    Parameters
    ----------
    values : ndarray of float
        Numbers, NaN where one is missing.

    Returns
    -------
    bool
        Whether they are codes.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.tables import is_code
    >>> is_code(np.array([2601.0, np.nan, 3020.0])), is_code(np.array([17.0, 34.0]))
    (True, False)
    """
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
