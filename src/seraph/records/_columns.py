"""Tables as columns by name, and their cells as text, numbers or days."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._utils._cells._ids import is_code
from .._utils._typing import Array
from .._utils._validation import shown

_EMPTY = ("", "nan", "none", "nat", "<na>")
# A column is of numbers if so many of its cells are, without signs of currency and commas.
_MOST = 0.95


def as_columns(X: Any) -> dict[str, Array]:
    """Return a table as columns by name: a data frame of any kind, or a mapping to sequences.

    Examples
    --------
    >>> as_columns({"name": ["Ann", "Bo"]})
    {'name': array(['Ann', 'Bo'], dtype=object)}
    """
    names = list(getattr(X, "columns", X if isinstance(X, Mapping) else ()))
    if not names:
        raise ValueError(
            "Records must be a data frame, or a dict of columns by name, with at least one "
            f"column; got {type(X).__name__}."
        )
    columns = {}
    for name in names:
        values = np.asarray(X[name])
        if values.ndim != 1:
            raise ValueError(
                f"Column {shown(name)} must hold one value per record; got {shown(X[name])}."
            )
        columns[str(name)] = values.astype(object) if values.dtype.kind in "US" else values
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Columns must be of one length; got {lengths}.")
    if next(iter(lengths.values())) == 0:
        raise ValueError("There are no records: the table is empty.")
    return columns


def stacked(columns: Mapping[str, Array], others: Mapping[str, Array]) -> dict[str, Array]:
    """Return the columns of two tables, one below the other."""
    if set(columns) != set(others):
        here, there = sorted(set(columns) - set(others)), sorted(set(others) - set(columns))
        raise ValueError(
            f"The two tables have different columns: {here or 'none'} only in the first, "
            f"{there or 'none'} only in the second. Give both the same."
        )
    both = {}
    for name, values in columns.items():
        pair = [values, others[name]]
        kinds = {part.dtype.kind for part in pair}
        if len(kinds) > 1 and not kinds <= set("biuf"):
            pair = [part.astype(object) for part in pair]
        both[name] = np.concatenate(pair)
    return both


def texts_of(values: Array) -> Array:
    """Return cells as text in lower case; "" where there is none.

    Examples
    --------
    >>> texts_of(np.array([2601.0, np.nan])).tolist(), texts_of(np.array(["A  b"])).tolist()
    (['2601', ''], ['a b'])
    """
    if values.dtype.kind == "f":
        whole = np.isfinite(values) & (values == np.floor(values))
        cells = [str(int(v)) if w else str(v) for v, w in zip(values, whole, strict=True)]
    elif values.dtype.kind == "M":
        cells = [str(v) for v in values.astype("datetime64[D]")]
    else:
        cells = [v if isinstance(v, str) else str(v) for v in values.tolist()]
    texts: Array = np.array([" ".join(cell.lower().split()) for cell in cells], dtype=object)
    texts[np.isin(texts, _EMPTY)] = ""
    return texts


def numbers_of(values: Array, texts: Array) -> Array | None:
    """Return cells as numbers, or dates as days, NaN where there is none; None for text.

    Text of numbers counts as numbers, with or without a sign of currency; codes are text. An
    amount of 0 is missing if it is the commonest.

    Examples
    --------
    >>> cells = np.array(["$1,044.50", "", "$29"], dtype=object)
    >>> numbers_of(cells, texts_of(cells)).tolist()
    [1044.5, nan, 29.0]
    """
    if values.dtype.kind == "M":
        days = values.astype("datetime64[s]").astype(np.float64) / 86400.0
        return np.where(np.isnat(values), np.nan, days)
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
    else:
        numbers = np.array([_number(text) for text in texts.tolist()])
        known = texts != ""
        if not known.any() or np.isfinite(numbers[known]).mean() < _MOST:
            return None
    numbers[~np.isfinite(numbers)] = np.nan
    if is_code(numbers):
        return None
    return np.where(numbers == 0.0, np.nan, numbers) if _zero_is_missing(numbers) else numbers


def _zero_is_missing(numbers: Array) -> bool:
    """Return whether 0 stands for a missing amount: no counts, and 0 is the commonest value.

    Examples
    --------
    >>> _zero_is_missing(np.array([0.0, 0.0, 9.5, 12.0])), _zero_is_missing(np.array([0.0, 0, 2]))
    (True, False)
    """
    values, counts = np.unique(numbers[np.isfinite(numbers)], return_counts=True)
    if len(values) < 2 or values[0] != 0.0 or counts[0] <= counts[1:].max():
        return False
    return bool(np.any(values != np.floor(values)))


def _number(text: str) -> float:
    try:
        return float(text.strip("$€£¥ ").replace(",", ""))
    except ValueError:
        return np.nan
