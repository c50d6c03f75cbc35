"""Answers about screens of rows, as answers about their pairs.

An answer holds within its screen. Groups that are joined across screens repeat each wrong tap many
times: with 5 % of them, learning loses more than the joined pairs give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array
from .._utils._validation import shown
from ._classes import number_classes, read_classes
from ._read import find_present
from ._rows import Rows, as_table

# What a row of a screen is, next to another one: its group there, or one of these.
UNSURE, _LIKE_FIRST, _NOT_LIKE_FIRST = -1, 0, -2


def pairs_of_screens(
    rows: Rows, screens: Any, answers: ArrayLike, chances: ArrayLike | None = None
) -> tuple[Array, Array, Array, int]:
    """Return the answered pairs, whether each is similar, how many random pairs it represents.

    And how many screens name an absent row. The first row is random, so that its pair with a row
    that had the chance c represents a multiple of 1 / c random pairs: the mean over the answers
    is 1. The other pairs of a screen represent none.

    A pair that was answered several times is what most of its answers say; a tie says nothing.

    Examples
    --------
    Rows 3, 7 and 9, of which 7 is like 3:

    >>> pairs, similar, *_ = pairs_of_screens(Rows(10), [[3, 7, 9]], [[1, 0]])
    >>> pairs.tolist(), similar.tolist()
    ([[3, 7], [3, 9], [7, 9]], [1.0, 0.0, 0.0])
    """
    shape = np.shape(screens)
    if len(shape) != 2 or shape[1] < 2:
        raise ValueError(
            f"screens must have the shape (n_screens, size), with at least 2 rows on each; got "
            f"the shape {shape}. (One screen is [rows].)"
        )
    numbers = rows.numbers(screens, "screens", shape[1])
    present = find_present(rows, screens, numbers, "screens")
    pairs, votes, said = _votes(numbers[present], _groups(answers, shape)[present])
    twice = pairs[:, 0] == pairs[:, 1]
    if twice.any():
        raise ValueError(f"A screen shows row {shown(_name(rows, pairs[twice][0, 0]))} twice.")
    weights = np.zeros(said.shape)
    if chances is not None:  # pairs of the first row come first
        weights[:, : shape[1] - 1] = 1.0 / check_chances(chances, shape)[present]
    pairs, place = np.unique(pairs, axis=0, return_inverse=True)
    total, weight = (
        np.bincount(place.ravel(), values, minlength=len(pairs))
        for values in (votes, weights[said])
    )
    kept = total != 0
    represents = np.ones(kept.sum()) if chances is None else stand_for(weight)[kept]
    return pairs[kept], (total[kept] > 0).astype(float), represents, int((~present).sum())


def check_chances(chances: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return the chances of the rows of screens, with one row fewer than the `shape`."""
    table, expected = np.asarray(chances, dtype=np.float64), (shape[0], shape[1] - 1)
    if table.shape != expected or not ((table > 0.0) & (table <= 1.0)).all():
        raise ValueError(
            f"chances must be above 0, at most 1, and of shape {expected}, as query_screens "
            f"returned them; got the shape {table.shape}, from {table.min(initial=1.0):g} to "
            f"{table.max(initial=0.0):g}."
        )
    return table


def stand_for(weights: Array) -> Array:
    """Divide the weights by the mean of those that are not zero."""
    return weights / (weights.sum() / max(1, np.count_nonzero(weights)) or 1.0)


def answers_of_first(answers: ArrayLike, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """Return whether each other row of a screen is like the first, and whether that is known.

    Examples
    --------
    >>> same, known = answers_of_first([["a", "b", "a", None]], (1, 4))
    >>> same.tolist(), known.tolist()
    ([[False, True, False]], [[True, True, False]])
    """
    groups = _groups(answers, shape)
    first, others = groups[:, :1], groups[:, 1:]
    return others == first, (others != UNSURE) & (first != UNSURE)


def contradictory_screens(numbers: Array, answers: ArrayLike) -> Array:
    """Return the screens with a pair of rows that another screen answers differently."""
    pairs, votes, said = _votes(numbers, _groups(answers, numbers.shape))
    _, place = np.unique(pairs, axis=0, return_inverse=True)
    count = np.bincount(place.ravel())
    total = np.bincount(place.ravel(), votes, minlength=len(count))
    return np.unique(np.nonzero(said)[0][(np.abs(total) < count)[place.ravel()]])


def _votes(numbers: Array, groups: Array) -> tuple[Array, Array, Array]:
    """Return the answered pairs, 1 or -1 for alike or not, and which of all pairs they are."""
    i, j = np.triu_indices(numbers.shape[1], k=1)
    one, other = groups[:, i], groups[:, j]
    # Two rows that are not like the first may be alike or not.
    said = (one != UNSURE) & (other != UNSURE) & ((one >= 0) | (other >= 0))
    pairs = np.sort(np.stack([numbers[:, i], numbers[:, j]], axis=-1)[said], axis=1)
    return pairs, np.where((one == other)[said], 1, -1), said


def _groups(answers: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return the group of each row on its screen: numbers from 0, or the codes above."""
    table = as_table(answers)
    if table.shape == shape:
        labels, known = read_classes(table.ravel(), table.size, "answers")
        return number_classes(labels, known).reshape(shape)
    if table.shape != (shape[0], shape[1] - 1):
        raise ValueError(
            f"answers must have the shape {shape}, a group for each row, or "
            f"{(shape[0], shape[1] - 1)}, whether each row is like the first; got {table.shape}."
        )
    labels, known = read_classes(table.ravel(), table.size, "answers")
    wrong = [label for label in labels[known].tolist() if label not in (0, 1)]
    if wrong:
        raise ValueError(
            "Whether a row is like the first of its screen is 1, 0, or -1 for unsure; got "
            f"{shown(wrong[0])}. (Names of groups need one for the first row, too.)"
        )
    like = np.full(labels.shape, UNSURE)
    like[known] = np.where(labels[known].astype(bool), _LIKE_FIRST, _NOT_LIKE_FIRST)
    return np.column_stack([np.full(shape[0], _LIKE_FIRST), like.reshape(table.shape)])


def _name(rows: Rows, row: int) -> Any:
    return rows.name_rows(np.array([row])).tolist()[0]
