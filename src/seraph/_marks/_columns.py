"""Columns and tables of names, of any library, as arrays that keep the type of each value."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._points import to_memory
from .._utils._typing import Array


def as_column(values: Any) -> Any:
    """Return a column of pandas, polars or pyarrow as an array; anything else as it is.

    Through an array of objects, because numpy would round whole numbers where some are missing.
    """
    values = to_memory(values)
    if hasattr(values, "to_pylist"):  # pyarrow
        return plain(objects(values.to_pylist()))
    dtype = getattr(values, "dtype", None)
    if dtype is None or isinstance(dtype, np.dtype):
        return values
    return plain(objects(values.tolist() if hasattr(values, "tolist") else list(values)))


def as_table(values: Any) -> Array:
    """Return a table of names as an array of objects."""
    values = to_memory(values)
    if hasattr(values, "column_names"):  # pyarrow
        return np.column_stack([objects(column.to_pylist()) for column in values.columns])
    return np.asarray(values, dtype=object)


def plain(values: Array) -> Array:
    """Return objects as an array of numbers or of text, if that changes none of them."""
    listed = values.tolist()
    if len({type(value) for value in listed}) != 1:
        return values
    try:
        array = np.array(listed)
    except (TypeError, ValueError, OverflowError):
        return values
    same = array.ndim == 1 and array.dtype.kind in "biufU" and array.tolist() == listed
    return array if same else values


def objects(values: list[Any]) -> Array:
    """Return a list as an array of objects, whatever its elements are."""
    return np.fromiter(values, dtype=object, count=len(values))
