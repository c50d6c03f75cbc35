"""Checks of single parameters."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from ._typing import Array

_LONGEST = 200  # characters of a value that a message cites


def shown(value: Any) -> str:
    """Return a value as messages show it: on one line, and numbers as Python writes them."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return str(value)
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return in_short(repr(value))
    except Exception:  # of a user's class; or a whole number of more digits than Python prints
        return f"a value of type {type(value).__name__}"


def in_short(text: object) -> str:
    """Return a text on one line, cut off where it is long."""
    line = " ".join(str(text).split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."


def check_number(
    name: str,
    value: Any,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    above: float = -np.inf,
    below: float = np.inf,
    integer: bool = False,
    instead: object = ...,
) -> None:
    """Refuse a value that is neither a finite number from `low` to `high` nor `instead`.

    It must be `above` and `below` the other limits. `instead` may be a tuple of several values.
    """
    others = instead if isinstance(instead, tuple) else (instead,)
    if value is None or isinstance(value, str):
        if value in others:
            return
    elif isinstance(value, Integral if integer else Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number beyond the range of floats
            number = np.inf
        if math.isfinite(number) and low <= number <= high and above < number < below:
            return
    noun = "whole number" if integer else "number"
    limits = {"of at least": low, "above": above, "of at most": high, "below": below}
    limit = " and".join(f" {word} {x:.15g}" for word, x in limits.items() if not np.isinf(x))
    other = "" if instead is ... else f", or {' or '.join(map(repr, others))}"
    raise ValueError(f"{name} must be a finite {noun}{limit}{other}; got {shown(value)}.")


def check_choice(name: str, value: Any, choices: tuple[str | None, ...]) -> None:
    """Refuse a value that is not one of the `choices`."""
    if not isinstance(value, str | None) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {shown(value)}.")


def check_flag(name: str, value: Any) -> None:
    """Refuse a value that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; got {shown(value)}.")


def check_n_jobs(value: Any) -> None:
    """Refuse a parameter `n_jobs` that is not a number of threads as joblib counts them."""
    if value is None or (isinstance(value, Integral) and not isinstance(value, bool) and value):
        return
    raise ValueError(
        "n_jobs must be a whole number (of threads; -1 for all cores) other than 0, or None; "
        f"got {shown(value)}."
    )


def check_seed(value: Any) -> None:
    """Refuse a parameter `random_state` that scikit-learn cannot use."""
    try:
        check_random_state(value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 - 1, or a RandomState; "
            f"got {shown(value)}."
        ) from error


def check_unmasked(X: Any) -> None:
    """Refuse a masked array with masked entries; scikit-learn would drop the mask."""
    if isinstance(X, np.ma.MaskedArray) and (n_masked := int(np.sum(X.mask))):
        raise ValueError(
            f"A masked array has {n_masked} masked entries, and every entry must be known. "
            "Fill them with its method filled, or impute them."
        )


def two_points(u: Any, v: Any, n_features: int | None) -> Array:
    """Return two points as the rows of an array; refuse anything else."""
    try:
        points = np.asarray([u, v])
    except (TypeError, ValueError):  # of different lengths, or no sequences
        points = np.empty(0, dtype=object)
    is_valid = points.dtype.kind in "biuf" and points.ndim == 2
    is_valid = is_valid and n_features in (None, points.shape[1])
    if is_valid and np.isfinite(points).all():
        return points.astype(np.float64)
    numbers = "finite numbers" if n_features is None else f"{n_features} finite numbers each"
    raise ValueError(f"u and v must be points, {numbers}; got {shown(u)} and {shown(v)}.")


# Errors of numpy and Python about cells that are not numbers.
_NO_NUMBERS = ("could not convert", "setting an array element", "float() argument must be")
_COMPLEX = "Complex data not supported"


@contextmanager
def as_numbers(name: str, table: Any = None) -> Iterator[None]:
    """Refuse a table of other types than numbers, around its conversion to an array.

    numpy silently converts dates and bytes, so the types of the `table` are checked first.
    """
    if table is not None:
        _refuse_other_types(name, table)
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"{name} holds a whole number beyond the range of floating-point numbers, which end "
            "at about 1.8e308. Correct it, or scale the features."
        ) from error
    except (TypeError, ValueError) as error:
        if str(error).startswith(_COMPLEX):
            raise ValueError(
                f"{name} must be a table of real numbers: {_COMPLEX}. Take their sizes, or their "
                "two parts as two columns."
            ) from error
        if not str(error).startswith(_NO_NUMBERS):
            raise
        raise _kind(error)(
            f"{name} must be a table of numbers, with as many in each row: {_sentence(error)} "
            "Turn words into numbers, or leave their columns out."
        ) from error


_DATES = (
    "Turn dates and durations into numbers, such as days since a day of your choice, or leave "
    "their columns out."
)
_ADVICE = {  # by numpy's letters for types that are not numbers
    "M": _DATES,
    "m": _DATES,
    "S": "Decode text, and turn it into numbers; or leave its columns out.",
    "V": "Stack its fields as columns (numpy.lib.recfunctions.structured_to_unstructured), or "
    "pass a data frame.",
}


def check_read(name: str, table: Any) -> None:
    """Refuse a table that has not been read yet, such as a LazyFrame of polars."""
    for method in ("collect", "to_table"):
        if callable(getattr(table, method, None)):
            kind = type(table).__name__
            raise TypeError(f"{name} is a {kind}, which is not read yet: pass {name}.{method}().")


def _refuse_other_types(name: str, table: Any) -> None:
    """Refuse dates, durations, bytes and records."""
    check_read(name, table)
    for column, dtype in _types(table):
        if advice := _ADVICE.get(_letter(dtype)):
            where = "" if column is None else f" in column {shown(column)}"
            kind = dtype.__name__ if isinstance(dtype, type) else in_short(dtype)
            raise TypeError(f"{name} must be a table of numbers; got {kind}{where}. {advice}")


def check_rows_by_number(X: Any) -> None:
    """Refuse a dask DataFrame, whose rows have no numbers, where rows are taken by number."""
    if hasattr(X, "dask") and hasattr(X, "iloc"):
        raise TypeError(
            f"X is a dask DataFrame of {len(X.columns)} columns, whose rows cannot be taken by "
            "number, as folds and pairs of rows are. Pass X.compute(), or, if it does not fit "
            "into memory, the array X.to_dask_array(lengths=True)."
        )


def _types(table: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the columns of a table and their types; of objects, the types of those inside."""
    if isinstance(table, list | tuple):
        try:
            table = np.asarray(table)
        except (TypeError, ValueError, OverflowError):  # ragged, say: refused later on
            return
    columns, dtype = getattr(table, "columns", None), getattr(table, "dtype", None)
    if columns is not None and hasattr(table, "dtypes"):  # of pandas, polars or dask
        dtypes = list(table.dtypes)
        yield from zip(columns, dtypes, strict=False)
        if hasattr(table, "iloc") and not hasattr(table, "dask"):
            for place, column in enumerate(columns):
                if getattr(dtypes[place], "kind", "") == "O":
                    yield from ((column, kind) for kind in set(map(type, table.iloc[:, place])))
        return
    yield None, dtype
    if isinstance(table, np.ndarray) and table.dtype.kind == "O":
        yield from ((None, kind) for kind in set(map(type, table.flat)))


def _letter(dtype: Any) -> str:
    """Return numpy's letter for a type of numpy, Python or polars; empty if it has none."""
    if isinstance(dtype, type):
        kinds = {np.datetime64: "M", np.timedelta64: "m", bytes: "S", np.bytes_: "S"}
        return kinds.get(dtype, "")
    if hasattr(dtype, "is_temporal"):  # polars
        return "M" if dtype.is_temporal() else "S" if str(dtype) == "Binary" else ""
    return getattr(dtype, "kind", "")


@contextmanager
def blame_step(step: Any, name: str = "X") -> Iterator[None]:
    """Name the step of a pipeline that refuses a table."""
    try:
        yield
    except NotFittedError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise _kind(error)(
            f"{type(step).__name__} cannot prepare {name}: {_sentence(error)} Correct {name}, or "
            "prepare it in another way."
        ) from error


def _kind(error: Exception) -> type[Exception]:
    return TypeError if isinstance(error, TypeError) else ValueError


def _sentence(error: Exception) -> str:
    """Return the first line of a message, with text as Python writes it."""
    line = (str(error).splitlines() or [type(error).__name__])[0]
    return plain_numbers(line).rstrip(".:") + "."


def plain_numbers(text: object) -> str:
    """Return a text in which numbers are written as Python writes them, not as numpy does."""
    return re.sub(r"np\.\w+\((.*?)\)", r"\1", str(text))
