"""Dask collections: mean, covariance and the rows that are needed, in one pass over the chunks."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from .._utils._typing import Array
from ._arrays import FLOATS, Moments, is_chunked, to_memory

# Number of results that one task merges, in order, so that the sum does not depend on which
# worker finishes first.
_FAN_IN = 16


def as_dask_array(X: Any) -> Any:
    """Turn a dask collection into a dask array of floats with whole rows in each chunk.

    float16 becomes float32, any other type than that and float64 becomes float64. The lengths of
    the chunks may be unknown.
    """
    array = X.to_dask_array() if hasattr(X, "to_dask_array") else X
    if array.ndim != 2:
        raise ValueError(
            f"Expected a table of points, of 2 dimensions; got a dask collection of {array.ndim}."
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: the points must be real numbers.")
    if array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    if array.dtype in FLOATS:
        return array
    return array.astype(np.float32 if array.dtype == np.float16 else np.float64)


def map_rows(X: Any, function: Callable[..., Array], width: int) -> Any:
    """Apply a function of rows to each chunk of a dask collection, when it is computed.

    The function turns rows into as many rows of `width` columns.
    """
    array = as_dask_array(X)
    chunks, like = (array.chunks[0], (width,)), np.empty((0, 0), dtype=array.dtype)
    return array.map_blocks(function, chunks=chunks, meta=like)


def read_chunks(
    X: Any, labeled: Callable[[int], Array], choose: Callable[[int], Array | None]
) -> tuple[Any, ...] | None:
    """Read a dask collection: once if the lengths of its chunks are known, else twice.

    `labeled` and `choose` return the labeled rows, and those to sample from, of a number of rows.
    Returns the moments of all rows, a function that takes rows, their type, the sampled rows, and
    those in memory. None for a collection that is not larger than the sample, or that has no more
    rows than features: it is brought into memory as a whole.
    """
    from dask.delayed import delayed

    array = as_dask_array(X)
    chunks, lengths = _parts(array)
    n, m = int(lengths.sum()), array.shape[1]
    sampled = choose(n)
    if sampled is None or n <= m:
        return None
    rows = np.union1d(sampled, labeled(n))
    edges = np.cumsum([0, *lengths])
    places = np.searchsorted(rows, edges)
    read = delayed(_read_chunk)
    parts = [
        read(chunk, rows[places[k] : places[k + 1]] - edges[k]) for k, chunk in enumerate(chunks)
    ]
    while len(parts) > 1:
        groups = [parts[start : start + _FAN_IN] for start in range(0, len(parts), _FAN_IN)]
        parts = [delayed(_merge)(group) for group in groups]
    moments, points = parts[0].compute()
    if not np.isfinite(moments.scatter).all():
        raise ValueError(
            "Input X contains NaN or infinity, or numbers whose squares overflow: fill in or "
            "drop rows with missing values first, and scale large numbers."
        )

    def take(wanted: Any) -> Array:
        return points[np.searchsorted(rows, wanted)]

    return moments, take, array.dtype, sampled, rows


def count_rows(X: Any) -> int:
    """Return the number of rows; of a dask collection that does not know it, by reading it."""
    return int(_parts(X)[1].sum()) if is_chunked(X) else _num_samples(X)


def take_rows(X: Any, rows: Array) -> Any:
    """Read some rows of a dask collection, in increasing order: a DataFrame of a frame."""
    from dask.delayed import delayed

    parts, lengths = _parts(X)
    edges = np.cumsum([0, *lengths])
    places = np.searchsorted(rows, edges)
    taken = [
        delayed(_take)(part, rows[places[k] : places[k + 1]] - edges[k])
        for k, part in enumerate(parts)
        if places[k] < places[k + 1] or k == 0  # (The first, for the columns.)
    ]
    tables = delayed(list)(taken).compute()
    if not hasattr(X, "columns"):
        return np.concatenate(tables)
    import pandas

    return pandas.concat(tables)


def _parts(X: Any) -> tuple[list[Any], Array]:
    """Return the chunks of a collection as delayed tables of whole rows, and their lengths."""
    from dask.delayed import delayed

    if hasattr(X, "columns"):
        parts = X.to_delayed()
        return parts, np.array(delayed(list)([delayed(len)(part) for part in parts]).compute())
    array = as_dask_array(X)
    if np.isnan(array.shape[0]):
        array = array.copy()  # the user's collection stays as it is
        array.compute_chunk_sizes()
    return list(array.to_delayed().ravel()), np.array(array.chunks[0])


def _take(part: Any, rows: Array) -> Any:
    return part.iloc[rows] if hasattr(part, "iloc") else to_memory(part)[rows]


def _read_chunk(chunk: Any, rows: Array) -> tuple[Moments, Array]:
    points = to_memory(chunk)
    with np.errstate(over="ignore", invalid="ignore"):
        return Moments.of(points), points[rows]


def _merge(parts: list[tuple[Moments, Array]]) -> tuple[Moments, Array]:
    moments, points = zip(*parts, strict=True)
    with np.errstate(over="ignore", invalid="ignore"):
        return reduce(Moments.merge, moments), np.concatenate(points)
