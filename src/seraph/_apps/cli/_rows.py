"""Which rows of a table to learn from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..._utils._typing import IntArray


def sample_rows(
    n_rows: int, size: int | None, needed: Sequence[int] | IntArray, seed: int
) -> IntArray:
    """Return rows to learn from, in order: all, or a random sample that has the needed ones.

    Examples
    --------
    >>> rows = sample_rows(1000, 5, [17, 3], seed=0)
    >>> len(rows), {3, 17} <= set(rows.tolist())
    (5, True)
    """
    if size is None or size >= n_rows:
        return np.arange(n_rows)
    chosen = np.zeros(n_rows, dtype=bool)
    chosen[np.asarray(needed, dtype=np.intp)] = True
    others = np.flatnonzero(~chosen)
    more = min(max(0, size - int(chosen.sum())), len(others))
    chosen[np.random.default_rng(seed).choice(others, more, replace=False)] = True
    return np.flatnonzero(chosen)
