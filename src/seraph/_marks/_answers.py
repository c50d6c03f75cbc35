"""Labels and weights of marked pairs, read and validated."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from .._points import to_memory
from .._utils._rows import as_array, as_floats
from .._utils._typing import Array
from .._utils._unknown import is_unknown
from .._utils._validation import shown

# Weights of marks: sums of these over all pairs, and their products with labels, neither overflow
# nor vanish.
LIGHTEST, HEAVIEST = 1e-100, 1e100


def pair_signs(labels: ArrayLike, n_pairs: int) -> Array:
    """Check the labels of `n_pairs` pairs, and say which are similar.

    Examples
    --------
    >>> pair_signs([1, -1], 2)
    array([ True, False])
    """
    likeness = pair_likeness(labels, n_pairs)
    unsure = (likeness != 0.0) & (likeness != 1.0)
    if unsure.any():
        raise ValueError(
            "labels must be +1 (similar) or -1 (dissimilar), or True or False, for this; "
            f"got {shown(np.asarray(labels)[unsure][0])}. Leave unsure pairs out."
        )
    return likeness == 1.0


def pair_likeness(labels: ArrayLike, n_pairs: int) -> Array:
    """Turn labels into how likely each pair is similar; NaN where that is unknown."""
    given = _one_per_pair("labels", labels, n_pairs)
    unknown = is_unknown(given)
    if given.dtype.kind not in "biuf":
        for at in np.flatnonzero(~unknown):
            if not isinstance(given[at], Real) or not abs(given[at]) <= 1:
                raise _bad_pair_label(given[at])
    known = given[~unknown].astype(np.float64)
    numbers = np.full(n_pairs, np.nan)
    numbers[~unknown] = known
    if np.isin(known, [1.0, -1.0]).all():
        return (numbers + 1.0) / 2.0
    outside = (known < 0.0) | (known > 1.0)
    if not outside.any():
        return numbers
    if np.all(known[outside] == -1.0):
        other = known[~np.isin(known, [1.0, -1.0])][0]
        raise ValueError(
            f"labels has both -1 and {other:g}. Use +1 and -1, or how likely each pair is "
            "similar, from 0 to 1; and NaN or None where you are unsure."
        )
    raise _bad_pair_label(known[outside & (known != -1.0)][0])


def _bad_pair_label(label: object) -> ValueError:
    return ValueError(
        "labels must be +1 (similar) or -1 (dissimilar), or True or False, or how likely "
        "each pair is similar, from 0 to 1; and NaN or None where you are unsure; got "
        f"{shown(label)}."
    )


def mark_weights(weights: ArrayLike | None, n_pairs: int) -> Array:
    """Return the weight of each mark, checked; ones for None.

    Examples
    --------
    >>> mark_weights(None, 2)
    array([1., 1.])
    """
    if weights is None:
        return np.ones(n_pairs)
    given = _one_per_pair("weights", weights, n_pairs)
    numbers = as_floats(given, "biufO")
    bad = ~(np.isfinite(numbers) & (numbers >= 0.0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            "weights must be finite numbers of at least 0 (0 leaves the mark out); got "
            f"{shown(given[at])} at {at}."
        )
    return numbers


def check_size(weights: Array) -> None:
    """Refuse weights of marks whose sums might overflow, or whose products might vanish."""
    bad = (weights > HEAVIEST) | ((weights > 0.0) & (weights < LIGHTEST))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"weights must be from {LIGHTEST:g} to {HEAVIEST:g}, or 0; got {shown(weights[at])} "
            f"at {at}. Divide all weights by a common factor."
        )


def _one_per_pair(name: str, values: ArrayLike, n_pairs: int) -> Array:
    """Return labels or weights of pairs as an array; refuse any other number of them."""
    given = as_array(name, to_memory(values))
    if given.size == 0 == n_pairs:
        return np.empty(0)
    if given.shape != (n_pairs,):
        raise ValueError(
            f"{name} must hold one {name.removesuffix('s')} per pair: got shape {given.shape} "
            f"for {n_pairs} pairs."
        )
    return given
