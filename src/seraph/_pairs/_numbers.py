"""The pairs that classes imply, as arrays: by number, and samples of them."""

from __future__ import annotations

import numpy as np

from .._utils._typing import Array


def class_pairs(codes: Array, numbers: Array | None = None, *, similar: bool) -> Array:
    """Return the pairs of two rows of one known class, or of two known classes.

    With the rows of known class in the order of their classes, each row is paired with later ones:
    with the rest of its class, or with all rows after its class. The pairs are numbered in this
    order. Only those asked for are made, so there may be millions of rows; None asks for all.

    Examples
    --------
    >>> codes = np.array([0, 1, -1, 0, 0])
    >>> class_pairs(codes, similar=True).tolist()
    [[0, 3], [0, 4], [3, 4]]
    >>> class_pairs(codes, np.array([2]), similar=False).tolist()
    [[4, 1]]
    """
    rows = np.flatnonzero(codes >= 0)
    rows = rows[np.argsort(codes[rows], kind="stable")]
    class_ends = np.searchsorted(codes[rows], codes[rows], side="right")
    begins = np.arange(1, len(rows) + 1) if similar else class_ends
    ends = class_ends if similar else np.full(len(rows), len(rows))
    last = np.cumsum(ends - begins)  # number of the pairs of a row and of those before it
    if numbers is None:
        numbers = np.arange(last[-1] if len(last) else 0)
    first = np.searchsorted(last, numbers, side="right")
    second = ends[first] - (last[first] - numbers)
    pairs: Array = rows[np.column_stack([first, second])].reshape(-1, 2)
    return pairs


def sample_class_pairs(
    codes: Array, partners: int, rng: np.random.RandomState
) -> tuple[Array, Array, Array]:
    """Sample pairs of classified rows: for each row some of its class, and some of all others.

    In random order on a circle, each row meets the next `partners` of its class, and of all.
    Returns the pairs, 1 or 0 for similar or not, and weights that make the sums over similar and
    over dissimilar pairs right on average.

    Examples
    --------
    >>> codes = np.arange(300) % 3
    >>> pairs, q, weights = sample_class_pairs(codes, 4, np.random.RandomState(0))
    >>> weights[q == 1].sum().round(), 3 * 100 * 99 / 2
    (np.float64(14850.0), 14850.0)
    """
    order = rng.permutation(len(codes))
    parts = []
    for code in np.unique(codes):
        rows = order[codes[order] == code]
        n = len(rows)
        if n <= 2 * partners + 1:
            pairs = rows[class_pairs(np.zeros(n), similar=True)]
            parts.append((pairs, np.ones(len(pairs))))
        else:
            pairs = _neighbors(rows, partners)
            parts.append((pairs, np.full(len(pairs), (n - 1) / (2.0 * partners))))
    similar, weights = (np.concatenate(part) for part in zip(*parts, strict=True))
    others = _neighbors(order, partners)
    others = others[codes[others[:, 0]] != codes[others[:, 1]]]
    sizes = np.bincount(codes)
    n_different = (len(codes) ** 2 - int(sizes @ sizes)) / 2.0
    return (
        np.concatenate([similar, others]),
        np.concatenate([np.ones(len(similar)), np.zeros(len(others))]),
        np.concatenate([weights, np.full(len(others), n_different / max(len(others), 1))]),
    )


def _neighbors(rows: Array, count: int) -> Array:
    """Pair each row with the next ones on a circle."""
    return np.concatenate(
        [np.column_stack([rows, np.roll(rows, -shift)]) for shift in range(1, count + 1)]
    )
