"""Class labels as users write them, and the one rule for which rows have none.

A row is unlabeled if its label is -1, as in scikit-learn, or missing: NaN, NaT, None, pandas.NA or
masked. The texts "-1" and "-1.0" count as -1, because numpy writes them for it in an array with
text. Anything else is a class. Every estimator, splitter, figure and command goes by this rule;
docs/user_guide.md has it for users.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from .._utils._typing import Array
from .._utils._warnings import LabelWarning, warn
from ..tables._words import is_missing
from ._rows import as_column, as_table, is_unknown, objects

# Types of numpy that classes are compared in; others are compared as objects.
_KINDS = "biufmMUO"
_MINUS_ONE = (-1, "-1", "-1.0")
_ONE = (1, "1", "1.0", b"1", b"1.0")


def read_classes(y: ArrayLike, n: int, name: str = "y") -> tuple[Array, Array]:
    """Return the labels of `n` rows, and which of them are known."""
    labels = as_labels(y)
    if len(labels) != n:
        raise ValueError(
            f"{name} has {len(labels)} labels and X has {n} rows: give one label per row, and -1 "
            "where the class is unknown."
        )
    return labels, ~_is_unlabeled(labels, name)


def number_classes(labels: Array, known: Array) -> Array:
    """Number different known labels from 0, in their order if they have one; -1 for others."""
    codes = np.full(len(labels), -1, dtype=np.intp)
    labels = labels[known]
    try:
        codes[known] = np.unique(labels, return_inverse=True)[1]
    except TypeError:  # labels of several types have no order, but they can be compared
        seen: dict[Any, int] = {}
        codes[known] = [seen.setdefault(label, len(seen)) for label in labels]
    return codes


def as_labels(y: ArrayLike) -> Array:
    """Return labels as a one-dimensional array without changing the type of any."""
    values: Any = y
    if isinstance(y, np.ma.MaskedArray):
        values = y.data
        if np.any(y.mask):
            values = y.data.astype(object)
            values[y.mask] = None
    elif hasattr(y, "columns"):
        values = as_table(y)
    elif not isinstance(y, list | tuple):
        values = as_column(y)
    elif not any(isinstance(label, list | tuple | np.ndarray) for label in y):
        values = objects(list(y))  # so that ["a", -1] keeps its number
    labels: Array = column_or_1d(values, warn=True)
    if labels.dtype.kind == "S":
        labels = np.char.decode(labels, "utf-8", "replace")
    return labels if labels.dtype.kind in _KINDS else labels.astype(object)


def _is_unlabeled(labels: Array, name: str) -> Array:
    """Return which labels are -1 or missing; refuse the text "nan", and warn of words like it."""
    kind = labels.dtype.kind
    if kind == "U":
        _check_words(np.unique(labels).tolist(), name)
        return np.isin(labels, _MINUS_ONE[1:])
    if kind == "u" and np.any(labels == (top := np.iinfo(labels.dtype).max)):
        warn(
            f"{name} is of type {labels.dtype}, in which -1 becomes {top}: {top} counts as a "
            f"class. If it means unlabeled, write {name} = {name}.astype(int), and then "
            f"{name}[{name} == {top}] = -1."
        )
    unlabeled = is_unknown(labels)
    if kind in "if":
        return unlabeled | (labels == -1)
    if kind == "O":
        known = labels[~unlabeled].tolist()
        _check_words(sorted({word for word in known if isinstance(word, str)}), name)
        unlabeled[~unlabeled] = [label in _MINUS_ONE for label in known]
    return unlabeled


def _check_words(words: list[str], name: str) -> None:
    if "nan" in words:
        raise ValueError(
            f'{name} contains the text "nan", which may be a class or a missing label (numpy '
            "makes it of the NaN in an array with text). Write None where the class is unknown, "
            "or give the class another name."
        )
    for word in words:
        if is_missing(word, unknown=True):
            warn(
                f"{name} has the label {word!r}, which counts as a class. If it means that the "
                "class is unknown, write None or -1 instead.",
                LabelWarning,
            )


def warn_of_signs(labels: Array, known: Array) -> None:
    """Warn if -1 and 1 are the only labels: they may have been meant as two classes."""
    is_minus_one = ~known & ~is_unknown(labels)
    if not (is_minus_one.any() and known.any()):
        return
    if all(label in _ONE for label in labels[known].tolist()):
        warn(
            "1 and -1 are the only labels, and -1 means unlabeled, so there is only one class. If "
            "-1 is a class, name the classes 0 and 1."
        )
