"""Integer columns as exact arrays, without a detour through floats.

Above 2^53 not every whole number is a float. Ids are often that long, and most ways from a column
with missing values to an array lead through floats: different classes or rows would become one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._utils._typing import Array


def exact_column(values: Any) -> Any:
    """Return a column of whole numbers as an array, of objects with None if some are missing.

    For columns of pandas, polars or pyarrow. Anything else is returned as it is: numpy makes an
    array of it without rounding.

    Examples
    --------
    >>> import pandas as pd
    >>> exact_column(pd.Series([2**53 + 1, None], dtype="Int64"))
    array([9007199254740993, None], dtype=object)
    """
    if hasattr(values, "to_pylist"):  # pyarrow
        is_unsigned = str(values.type).startswith("uint") and not values.null_count
        return np.asarray(values) if is_unsigned else objects(values.to_pylist())
    dtype: Any = getattr(values, "dtype", None)
    if hasattr(values, "null_count") and hasattr(values, "to_list"):  # polars
        if dtype.is_unsigned_integer() and not values.null_count():
            return values.to_numpy()
        return objects(values.to_list()) if dtype.is_integer() else values
    if isinstance(dtype, np.dtype) or dtype is None:
        return values
    if hasattr(dtype, "categories"):  # pandas
        return _of_categories(values)
    if getattr(dtype, "kind", "") not in "iu":
        return values
    missing = np.asarray(values.isna())
    if not missing.any():
        return values.to_numpy(dtype=dtype.numpy_dtype)
    return values.to_numpy(dtype=object, na_value=None)


def exact_table(values: Any) -> Array:
    """Return a table of names as an array of objects.

    Examples
    --------
    >>> import pandas as pd
    >>> exact_table(pd.DataFrame({"a": [2**53 + 1], "b": [0.5]}))
    array([[9007199254740993, 0.5]], dtype=object)
    """
    if hasattr(values, "columns") and hasattr(values, "iloc"):  # pandas
        columns = [values.iloc[:, place] for place in range(values.shape[1])]
    elif hasattr(values, "get_columns"):  # polars
        columns = values.get_columns()
    elif hasattr(values, "column_names"):  # pyarrow
        columns = values.columns
    else:
        return np.asarray(values, dtype=object)
    table = np.empty((len(values), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = np.asarray(exact_column(column), dtype=object)
    return table


def _of_categories(values: Any) -> Any:
    column = getattr(values, "array", values)  # of a Series or an index
    categories = exact_column(column.categories)
    if getattr(categories.dtype, "kind", "") not in "iuO":
        return values
    labels = np.asarray(categories)
    codes = np.asarray(column.codes)
    if (codes >= 0).all():
        return labels[codes]
    found = objects([*labels.tolist(), None])
    return found[codes]  # the code -1, for missing values, takes the last


def objects(values: list[Any]) -> Array:
    """Return a list as an array of objects, whatever its elements are."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
