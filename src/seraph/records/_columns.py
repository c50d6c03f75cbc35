"""Tables of any library as data frames, and their cells as text, numbers or days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils._typing import Array
from .._utils._validation import check_read
from ..tables._ids import is_code
from ..tables._reading import read_numbers
from ..tables._words import cell_text, is_missing

_SOME = 1000  # distinct cells that show whether a column holds text, before all of them are read


def as_frame(X: Any, other: Any = None) -> Any:
    """Return a data frame of any library, or a dict of columns, as one of pandas.

    The rows of another table come below.
    """
    try:
        import pandas as pd
        import rapidfuzz  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"DuplicateFinder needs {error.name}: pip install 'seraph-learn[records]'."
        ) from error
    if isinstance(X, Mapping):
        frame = pd.DataFrame({name: np.asarray(column) for name, column in X.items()})
    else:
        check_read("X", X)
        X = X.compute() if type(X).__module__.startswith("dask") else X
        frame = X.to_pandas() if hasattr(X, "to_pandas") else X
    if not isinstance(frame, pd.DataFrame) or frame.size == 0:
        raise ValueError(
            "Records must be a data frame, or a dict of columns by name, that is not empty; got "
            f"{type(X).__name__}."
        )
    frame = frame.rename(columns=str)
    for name in frame.columns[frame.columns.duplicated()]:
        raise ValueError(f"Two columns are called {name!r}: rename one of them.")
    if other is None:
        return frame
    below = as_frame(other)
    if odd := sorted({*frame.columns} ^ {*below.columns}):
        raise ValueError(
            f"The two tables have different columns: only one has {odd}. Give both the same."
        )
    return pd.concat([frame, below], ignore_index=True)


def texts_of(values: Array) -> Array:
    """Return cells as text in lower case; "" where there is none."""
    cells = values.astype("datetime64[D]") if values.dtype.kind == "M" else values
    different, which = distinct(cells)
    texts = [
        "" if is_missing(cell, unknown=True) else " ".join(cell_text(cell).lower().split())
        for cell in different.tolist()
    ]
    return np.array([*texts, ""], dtype=object)[which]


def numbers_of(values: Array) -> Array | None:
    """Return cells as numbers, or dates as days, NaN where there is none; None for text.

    Text of numbers is read as a table's is, with decimal commas, thousands and a unit; codes are
    text.
    """
    if values.dtype.kind == "M":
        days = values.astype("datetime64[s]").astype(np.float64) / 86400.0
        return None if np.isnat(values).all() else np.where(np.isnat(values), np.nan, days)
    different, _ = distinct(values)
    if read_numbers(different[:: len(different) // _SOME + 1]) is None:
        return None
    numbers = read_numbers(values)
    return None if numbers is None or np.isnan(numbers).all() or is_code(numbers) else numbers


def distinct(cells: Array) -> tuple[Array, Array]:
    """Return the distinct cells, and which of them each cell is; -1 where there is none."""
    import pandas as pd

    which, different = pd.factorize(cells)  # by hashes: nothing is sorted
    return np.asarray(different), which
