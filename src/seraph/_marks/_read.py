"""Marked pairs and triplets as users give them, checked and found among the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array
from .._utils._validation import shown
from .._utils._warnings import warn
from ._rows import Rows, as_array, as_column, as_floats, is_unknown

_NUMBERS = (int, float, np.number, np.bool_)


def read_pairs(
    rows: Rows,
    pairs: ArrayLike | None,
    labels: ArrayLike | None,
    weights: ArrayLike | None,
    represents: ArrayLike | None,
) -> tuple[Array, Array, Array, Array, int]:
    """Check the marked pairs; count those of absent rows."""
    if pairs is None:
        given = {"labels": labels, "weights": weights, "represents": represents}
        for name, values in given.items():
            if values is not None:
                raise ValueError(f"{name} was passed without pairs: pass both or neither.")
        return np.empty((0, 2), dtype=np.intp), np.empty(0), np.empty(0), np.empty(0), 0
    if labels is None:
        raise ValueError("pairs was passed without labels: pass +1 or -1 for each pair.")
    numbers = rows.numbers(pairs)
    likeness = pair_likeness(labels, len(numbers))
    counts = mark_weights(weights, len(numbers))
    stands_for = mark_weights(represents, len(numbers), "represents")
    itself = (numbers[:, 0] == numbers[:, 1]) & (numbers[:, 0] >= 0)
    if itself.any():
        at = int(np.flatnonzero(itself)[0])
        name = shown(rows.name_rows(numbers[at]).tolist()[0])
        raise ValueError(f"pairs[{at}] pairs row {name} with itself: remove it.")
    present = find_present(rows, pairs, numbers, "pairs")
    kept = present & ~np.isnan(likeness) & (counts > 0.0)
    parts = numbers[kept], likeness[kept], counts[kept], stands_for[kept]
    return *parts, int((~present).sum())


def read_triplets(rows: Rows, triplets: ArrayLike | None) -> tuple[Array, int]:
    """Check that the triplets hold three different rows each; count those of absent rows."""
    if triplets is None:
        return np.empty((0, 3), dtype=np.intp), 0
    numbers = rows.numbers(triplets, "triplets", 3)
    present = find_present(rows, triplets, numbers, "triplets")
    repeated = present & (numbers == np.roll(numbers, 1, axis=1)).any(axis=1)
    if repeated.any():
        at = int(np.flatnonzero(repeated)[0])
        names = tuple(rows.name_rows(numbers[at]).tolist())
        raise ValueError(
            f"triplets[{at}] is {names}: a triplet (a, b, c) means that row a is nearer to row b "
            "than to row c, so the three must differ. Remove it."
        )
    return numbers[present], int((~present).sum())


def find_present(rows: Rows, named: ArrayLike, numbers: Array, what: str) -> Array:
    """Return which marks have all of their rows; warn of the others, and refuse if none has."""
    present = np.all(numbers >= 0, axis=1)
    if not present.all():
        message = rows.absent(named, numbers, what)
        if not present.any():
            raise ValueError(f"{message} Correct the names.")
        warn(f"{message} They are left out. Correct the names, unless that is meant.")
    return present


def report_absent(lost: Array, absent: int, total: int) -> None:
    """Warn that a table lacks the rows `lost` of some marks; refuse if no mark is left."""
    message = (
        f"X does not have the rows of {absent} of {total} marks, which name {shown(lost[0])} and "
        "other rows that are not in its index."
    )
    if absent == total:
        raise ValueError(f"{message} Pass the table that the marks are about.")
    warn(f"{message} They are left out.")


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
