"""Convert class labels to codes and names."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._marks import as_labels, is_missing
from .._utils._typing import Array


def class_codes(labels: ArrayLike | None, n: int, name: str = "y") -> tuple[Array, list[str]]:
    """Return the class codes 0, 1, ..., -1 where unknown, and the names of the classes.

    `name` is that of the labels in error messages.

    Examples
    --------
    >>> class_codes(["b", "a", None, "b", -1], 5)
    (array([ 1,  0, -1,  1, -1]), ['a', 'b'])
    """
    codes = np.full(n, -1, dtype=np.intp)
    if labels is None:
        return codes, []
    values = as_labels(labels)
    if len(values) != n:
        raise ValueError(
            f"{name} has {len(values)} labels and there are {n} points: give one label per point, "
            "-1 where the class is unknown."
        )
    rows = np.flatnonzero(~is_missing(values))
    known = values[rows].tolist()
    classes = set(known)
    try:
        ordered = sorted(classes)
    except TypeError:  # labels of different types cannot be compared
        ordered = sorted(classes, key=str)
    number = {label: code for code, label in enumerate(ordered)}
    codes[rows] = [number[label] for label in known]
    return codes, [str(label) for label in ordered]
