"""Labels and weights of marked pairs, read and validated."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._utils._rows import as_array, as_floats
from .._utils._typing import Array
from .._utils._unknown import is_unknown
from .._utils._validation import shown
from ._columns import as_column

_NUMBERS = (int, float, np.number, np.bool_)


def pair_likeness(labels: ArrayLike, n_pairs: int) -> Array:
    """Turn labels into how likely each pair is similar; NaN where that is unknown."""
    values = _one_per_pair("labels", labels, n_pairs)
    known = ~is_unknown(values)
    numbers = np.full(n_pairs, np.nan)
    listed = values[known].tolist()
    valid = [isinstance(label, _NUMBERS) and -1 <= label <= 1 for label in listed]
    if all(valid):
        numbers[known] = listed
        signs = np.isin(numbers[known], [1.0, -1.0])
        if signs.all():
            return (numbers + 1.0) / 2.0
        if not np.any(numbers[known] < 0.0):
            return numbers
        if np.any(numbers[known] == -1.0):
            raise ValueError(
                f"labels has both -1 and {numbers[known][~signs][0]:g}. Use +1 and -1, or how "
                "likely each pair is similar, from 0 to 1; and NaN or None where you are unsure."
            )
        valid = (numbers[known] >= 0.0).tolist()
    at = valid.index(False)
    raise ValueError(
        "labels must be +1 (similar) or -1 (dissimilar), or True or False, or how likely "
        "each pair is similar, from 0 to 1; and NaN or None where you are unsure; got "
        f"{shown(listed[at])} at {np.flatnonzero(known)[at]}."
    )


def mark_weights(weights: ArrayLike | None, n_pairs: int, what: str = "weights") -> Array:
    """Return the weight of each mark, or what else counts it, checked; ones for None."""
    if weights is None:
        return np.ones(n_pairs)
    values = _one_per_pair(what, weights, n_pairs)
    numbers = as_floats(values, "biufO")
    bad = ~(np.isfinite(numbers) & (numbers >= 0.0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{what} must be finite numbers of at least 0 (0 leaves the mark out); got "
            f"{shown(values[at])} at {at}."
        )
    return numbers


def _one_per_pair(name: str, values: ArrayLike, n_pairs: int) -> Array:
    """Return labels or weights of pairs as an array; refuse any other number of them."""
    column = as_array(name, as_column(values))
    if column.size == 0 == n_pairs:
        return np.empty(0)
    if column.shape != (n_pairs,):
        raise ValueError(
            f"{name} must hold one {name.removesuffix('s')} per pair: got shape {column.shape} "
            f"for {n_pairs} pairs."
        )
    return column
