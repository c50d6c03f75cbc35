"""Class labels of points, some of which are not known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_UNKNOWN = {"-1", "-1.0", "nan", "None", "<NA>", "NaT"}


def class_codes(labels: ArrayLike | None, n: int, name: str = "y") -> tuple[NDArray, list[str]]:
    """Codes 0, 1, ... of the classes, -1 where not known, and the names of the classes.

    Parameters
    ----------
    labels : array-like of shape (n,) or None
        Class labels of any type; -1, NaN, None or pandas.NA where unknown. None is unknown
        everywhere.
    n : int
        Number of points.
    name : str, default="y"
        What an error calls the labels.

    Returns
    -------
    ndarray of int of shape (n,), list of str
        The codes and the names.

    Examples
    --------
    >>> class_codes(["b", "a", None, "b", -1], 5)
    (array([ 1,  0, -1,  1, -1]), ['a', 'b'])
    """
    codes = np.full(n, -1, dtype=np.intp)
    if labels is None:
        return codes, []
    values = np.asarray(labels, dtype=object).reshape(-1).tolist()
    if len(values) != n:
        raise ValueError(
            f"{name} has {len(values)} labels and there are {n} points: give one label per point, "
            "-1 where the class is not known."
        )
    known = [k for k, label in enumerate(values) if not _is_unknown(label)]
    classes = {values[k] for k in known}
    try:
        ordered = sorted(classes)
    except TypeError:  # labels of several types have no order of their own
        ordered = sorted(classes, key=str)
    number = {label: code for code, label in enumerate(ordered)}
    codes[known] = [number[values[k]] for k in known]
    return codes, [str(label) for label in ordered]


def _is_unknown(label: Any) -> bool:
    """Whether a label is -1, NaN, None or pandas.NA; a class may be called "None"."""
    if isinstance(label, str | bytes):
        return label in ("-1", b"-1")
    return str(label) in _UNKNOWN
