"""Marks from what people have: groups, corrected clusters and feedback on a search.

No function lists all pairs of a large group. Each row gets a few partners, spread evenly over the
candidates by the golden ratio, so that the same records give the same marks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._utils._rows import as_array
from .._utils._typing import Array
from .._utils._validation import check_number, shown
from ._answers import pair_likeness
from ._classes import number_classes, read_classes
from ._columns import as_column, objects
from ._read import find_present
from ._rows import Rows

GOLDEN = (5.0**0.5 - 1.0) / 2.0
# Evidence that nobody has stated leaves a doubt, so that it contradicts no mark.
LIKELY, UNLIKELY = 0.9, 0.1


class Evidence(NamedTuple):
    """Marks by row number, with doubles."""

    pairs: Array
    labels: Array
    weights: Array
    triplets: Array
    n_absent: int = 0


def of_groups(
    groups: ArrayLike, label: float, rows: Rows, weight: float, partners: int
) -> Evidence:
    """Mark pairs of rows of one group."""
    check_number("weight", weight, low=0.0)
    codes = _codes("groups", groups, rows)
    pairs = sample_pairs(codes, np.arange(rows.n), codes >= 0, partners)
    return _evidence((pairs, _likeness(label), weight))


def of_corrections(
    before: ArrayLike, after: ArrayLike, rows: Rows, kept_weight: float, partners: int
) -> Evidence:
    """Mark pairs that were put together or taken apart, and weakly those that were left."""
    check_number("kept_weight", kept_weight, low=0.0)
    old, new = _codes("before", before, rows), _codes("after", after, rows)
    single = np.arange(rows.n)
    # A row without a cluster was with no other row.
    alone = np.where(old >= 0, old, old.max(initial=-1) + 1 + single)
    joined = sample_pairs(new, alone, new >= 0, partners, largest_stays=True)
    parted = sample_pairs(old, new, old >= 0, partners, largest_stays=True)
    settled = (old >= 0) & (new >= 0)
    both = number_classes(old + (old.max(initial=0) + 1) * new, settled)
    stayed = sample_pairs(both, single, settled, partners)
    distant = sample_pairs(np.zeros_like(new), new, settled, partners)
    distant = distant[old[distant[:, 0]] != old[distant[:, 1]]]
    return _evidence(
        (joined, 1.0, 1.0),
        (parted, 0.0, 1.0),
        (stayed, LIKELY, kept_weight),
        (distant, UNLIKELY, kept_weight),
    )


def of_feedback(
    query: ArrayLike,
    shown_rows: ArrayLike,
    chosen: ArrayLike,
    rows: Rows,
    skipped_weight: float,
) -> Evidence:
    """Mark queries with the rows that were chosen for them, and weakly with the others."""
    check_number("skipped_weight", skipped_weight, low=0.0)
    lines, picked, n_absent = _read_log(query, shown_rows, chosen, rows)
    marks = _evidence((lines[picked], LIKELY, 1.0), (lines[~picked], UNLIKELY, skipped_weight))
    return marks._replace(n_absent=n_absent)


def sample_pairs(
    same: Array, apart: Array, allowed: Array, partners: int, *, largest_stays: bool = False
) -> Array:
    """Pair rows that have one code in `same` and two codes in `apart`, each with a few others.

    All such pairs if no row has more than `partners`. Otherwise every row gets that many, or all
    it can have, and there are at most `partners` pairs for each row. If `largest_stays`, that
    holds for the rows outside the largest part in `apart` of each code in `same`: few rows that
    were moved cost few pairs, however many rows stayed.

    Examples
    --------
    >>> same, apart = np.array([0, 0, 1, 0]), np.array([0, 1, 2, 0])
    >>> sample_pairs(same, apart, np.ones(4, dtype=bool), 10).tolist()
    [[0, 1], [1, 3]]
    """
    check_number("partners", partners, low=1, integer=True)
    rows = np.flatnonzero(allowed)
    rows = rows[np.lexsort((apart[rows], same[rows]))]
    block = _ends(same[rows][:, np.newaxis])
    hole = _ends(np.column_stack([same[rows], apart[rows]]))
    asking = _outside_largest(block, hole) if largest_stays else np.arange(len(rows))
    place, other = _spread(block[asking], hole[asking], int(partners))
    pairs = np.sort(np.column_stack([rows[asking[place]], rows[other]]), axis=1)
    return np.unique(pairs, axis=0)


def _spread(block: Array, hole: Array, most: int) -> tuple[Array, Array]:
    """Choose up to `most` places from the block of each place, none of them from its hole.

    `block` and `hole` hold the start and the end of ranges, of shape (n, 2). Neighbors begin a
    golden section apart, so that no place of the block is chosen much more often than another.
    """
    gap = hole[:, 1] - hole[:, 0]
    count = block[:, 1] - block[:, 0] - gap
    most = min(most, int(count.max(initial=0)))
    taken = np.minimum(count, most)[:, np.newaxis]
    number = np.arange(len(block))
    first = (GOLDEN * number % 1.0 * count).astype(np.intp)[:, np.newaxis]
    turns = np.arange(most)
    step = first + turns * count[:, np.newaxis] // np.maximum(taken, 1)
    other = block[:, :1] + step % np.maximum(count, 1)[:, np.newaxis]
    other = np.where(other >= hole[:, :1], other + gap[:, np.newaxis], other)
    valid = turns < taken
    return np.nonzero(valid)[0], other[valid]


def _outside_largest(block: Array, hole: Array) -> Array:
    """Return the places outside the largest hole of their block, the first if several are."""
    size = hole[:, 1] - hole[:, 0]
    order = np.lexsort((hole[:, 0], -size, block[:, 0]))  # the largest hole of a block first
    first = np.full(len(block), -1)
    if len(block):
        first = hole[order[block[:, 0]], 0]
    return np.flatnonzero(hole[:, 0] != first)


def _ends(keys: Array) -> Array:
    """Return the start and the end of the run of equal keys that each place is in."""
    changes = np.any(keys[1:] != keys[:-1], axis=1)
    run = np.concatenate([[0], np.cumsum(changes)])[: len(keys)]
    places = np.arange(len(keys))
    starts = np.searchsorted(run, run, side="left")
    ends = np.searchsorted(run, run, side="right")
    return np.column_stack([starts, ends]).reshape(len(places), 2)


def _read_log(
    query: ArrayLike, shown_rows: ArrayLike, chosen: ArrayLike, rows: Rows
) -> tuple[Array, Array, int]:
    """Return the lines (query, row) of a log, which were chosen, and how many are absent.

    A row that is shown for itself is left out.
    """
    columns = [_column(name, values) for name, values in (("query", query), ("shown", shown_rows))]
    picked = _column("chosen", chosen)
    lengths = [len(column) for column in (*columns, picked)]
    if len(set(lengths)) > 1:
        raise ValueError(
            "query, shown and chosen must have one entry for each row shown; got {}, {} and {} "
            "entries.".format(*lengths)
        )
    lines = np.column_stack([objects(column.tolist()) for column in columns])
    numbers = rows.numbers(lines, "lines")
    present = find_present(rows, lines, numbers, "lines")
    kept = present & (numbers[:, 0] != numbers[:, 1])
    return numbers[kept], _flags(picked)[kept], int((~present).sum())


def _column(name: str, values: ArrayLike) -> Array:
    column = as_array(name, as_column(values))
    if column.ndim != 1:
        raise ValueError(
            f"{name} must be one column, with one entry for each row shown; got shape "
            f'{column.shape}. In pandas, log.explode(["shown", "chosen"]) makes it one.'
        )
    return column


def _flags(chosen: Array) -> Array:
    """Read which rows were chosen."""
    bad = [cell for cell in chosen.tolist() if cell not in (0, 1)]
    if bad:
        raise ValueError(
            f"chosen must be True or False, or 1 or 0, for each row shown; got {shown(bad[0])}. "
            'Compare words (chosen == "yes"), and leave out rows that nobody saw.'
        )
    return chosen.astype(bool)


def _codes(name: str, values: ArrayLike, rows: Rows) -> Array:
    labels, known = read_classes(values, rows.n, name)
    return number_classes(labels, known)


def _likeness(label: Any) -> float:
    """Read one label for all pairs."""
    (likeness,) = pair_likeness([label], 1)
    if np.isnan(likeness):
        raise ValueError(
            "label must say how likely two rows of a group are alike: +1, -1, or from 0 to 1; got "
            f"{shown(label)}."
        )
    return float(likeness)


def _evidence(*parts: tuple[Array, float, float]) -> Evidence:
    """Put together pairs of one label and one weight each; marks of weight 0 are left out."""
    kept = [part for part in parts if part[2] > 0.0]
    lengths = [len(pairs) for pairs, _, _ in kept]
    return Evidence(
        np.concatenate([np.empty((0, 2), dtype=np.intp), *(pairs for pairs, _, _ in kept)]),
        np.repeat([label for _, label, _ in kept], lengths).astype(float),
        np.repeat([weight for _, _, weight in kept], lengths).astype(float),
        np.empty((0, 3), dtype=np.intp),
    )
