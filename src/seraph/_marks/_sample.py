"""A sample of a dask collection, with what is known about its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._points import choose_rows, count_rows, is_chunked, take_rows, to_memory
from .._utils._typing import Array
from .._utils._warnings import warn
from ._classes import read_classes
from ._labels import aligned_marks
from ._marks import Marks
from ._rows import Rows

# Rows to sample, as many as SERAPH does, and labeled ones to keep.
_MOST = 20_000


def sample_rows(
    X: Any, y: Any = None, marks: Marks | None = None, *, unlabeled: int = _MOST
) -> tuple[Any, Any, Marks | None, Array | None]:
    """Read some rows of a dask collection, in one pass, with their labels and marks.

    They are a sample of all rows, those with a class (a sample of them, if they are many), and
    all marked ones. Returns points in memory, their labels and marks, and the numbers of these
    rows, None for all. Anything but a dask collection is returned as it is.
    """
    if not is_chunked(X):
        return X, y, marks, None
    n = count_rows(X)
    y, marks = aligned_marks(X, n, to_memory(y), marks)
    kept = [np.arange(n) if n <= unlabeled else np.asarray(choose_rows(n, unlabeled, seed=0))]
    if y is not None:
        known = np.flatnonzero(read_classes(y, n)[1])
        chosen = choose_rows(len(known), _MOST, seed=0)
        if chosen is not None:
            warn(f"Of {len(known)} labeled rows of the dask collection, {_MOST} are used.")
        kept.append(known if chosen is None else known[chosen])
    if marks is not None:
        kept += [marks.pairs.ravel(), marks.triplets.ravel()]
    rows = np.unique(np.concatenate(kept))
    y = None if y is None else _safe_indexing(y, rows)
    return take_rows(X, rows), y, None if marks is None else marks[rows], rows


def take_pairs(X: Any, pairs: Any) -> tuple[Any, Array]:
    """Return a table with the rows in pairs of rows of `X`, and the pairs by their places there.

    Only of a dask collection it is another table, of these rows alone.
    """
    numbers = Rows.of(X).require(pairs)
    if not is_chunked(X):
        return X, numbers
    used, places = np.unique(numbers, return_inverse=True)
    return take_rows(X, used), places.reshape(numbers.shape)
