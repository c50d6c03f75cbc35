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

from .._points import to_memory
from .._utils._rows import ROUNDED
from .._utils._typing import Array
from .._utils._unknown import MINUS_ONE, has_lost_minus_one, is_unknown
from .._utils._warnings import warn
from ._columns import exact_column, exact_table, objects

# Types of numpy that classes are compared in; others are compared as objects.
_KINDS = "biufmMUSO"
_MINUS_ONE = (-1, *MINUS_ONE, *(text.encode() for text in MINUS_ONE))
# Texts that often mean that a class is unknown, but are taken for classes.
SUSPECTS = {
    "", "?", "-", "--", ".", "n/a", "#n/a", "n.a.", "na", "<na>", "nan", "null", "none", "unknown",
    "unlabeled", "unlabelled", "not labeled", "missing", "undefined", "unclassified",
    "unspecified", "tbd", "to do", "todo",
}  # fmt: skip


def read_classes(y: ArrayLike, n: int, name: str = "y") -> tuple[Array, Array]:
    """Return the labels of `n` rows, and which of them are known; warn of doubtful ones.

    Examples
    --------
    >>> read_classes(["a", -1, None], 3)
    (array(['a', -1, None], dtype=object), array([ True, False, False]))
    """
    labels = as_labels(y)
    if len(labels) != n:
        raise ValueError(
            f"{name} has {len(labels)} labels and X has {n} rows: give one label per row, and -1 "
            "where the class is unknown."
        )
    if has_lost_minus_one(labels):
        warn(
            f"{name} is {labels.dtype}, which cannot hold -1. It contains {labels.max()}, which "
            f"counts as a class like any other. If it stands for -1, convert {name} to a signed "
            "type before you mark rows as unlabeled."
        )
    if labels.dtype.kind == "f" and np.any(np.isfinite(labels) & (np.abs(labels) >= ROUNDED)):
        warn(
            f"{name} is {labels.dtype} and has classes of 2**53 or more, where floats are "
            "rounded: different classes may have become one. Pass whole numbers (in pandas, Int64 "
            "if some are missing) or text."
        )
    return labels, ~_is_unlabeled(labels, name)


def number_classes(labels: Array, known: Array) -> Array:
    """Number different known labels from 0, in their order if they have one; -1 for others.

    Examples
    --------
    >>> number_classes(np.array(["b", "a", "b", "c"]), np.array([True, True, True, False]))
    array([ 1,  0,  1, -1])
    """
    codes = np.full(len(labels), -1, dtype=np.intp)
    labels = labels[known]
    try:
        codes[known] = np.searchsorted(np.unique(labels), labels)
    except TypeError:  # labels of several types have no order, but they can be compared
        seen: dict[Any, int] = {}
        codes[known] = [seen.setdefault(label, len(seen)) for label in labels]
    return codes


def as_labels(y: ArrayLike) -> Array:
    """Return labels as a one-dimensional array without changing the type of any.

    Examples
    --------
    >>> as_labels(["a", -1, None])
    array(['a', -1, None], dtype=object)
    """
    if type(y) is not np.ndarray:
        y = _unmask(y) if isinstance(y, np.ma.MaskedArray) else to_memory(y)
        y = exact_table(y) if hasattr(y, "columns") else exact_column(y)
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in _KINDS:
        return y  # nothing that scikit-learn would change, or refuse
    labels: Array = column_or_1d(y if hasattr(y, "dtype") else _object_array(y), warn=True)
    return labels if labels.dtype.kind in _KINDS else labels.astype(object)


def _unmask(y: Any) -> Array:
    """Replace the masked labels by -1 or NaN, or by None where the type holds neither."""
    if not np.any(y.mask):
        return np.asarray(y.data)
    unknown = {"i": -1, "f": np.nan, "M": "NaT", "m": "NaT"}.get(y.dtype.kind)
    labels: Array = y.data.astype(object) if unknown is None else y.data.copy()
    labels[y.mask] = unknown
    return labels


def _object_array(y: ArrayLike) -> Any:
    """Turn a list into an array of objects, so that ``["a", -1]`` keeps its number."""
    nested = (list, tuple, np.ndarray)
    if not isinstance(y, list | tuple) or any(isinstance(label, nested) for label in y):
        return y
    return objects(list(y))


def _is_unlabeled(labels: Array, name: str) -> Array:
    """Say which labels are -1 or missing.

    The text "nan" is refused, whoever has written it. Texts that often mean that a class is
    unknown, such as "" and "unknown", are classes; a warning names them.
    """
    kind = labels.dtype.kind
    if kind in "US":
        texts = np.char.decode(labels, "utf-8", "replace") if kind == "S" else labels
        _look_at_texts(set(np.unique(texts).tolist()), name)
        return np.isin(texts, MINUS_ONE)
    missing = is_unknown(labels)
    if kind in "if":
        return missing | (labels == -1)
    if kind == "O":
        words: set[str] = set()
        for index in np.flatnonzero(~missing):
            label = labels[index]
            missing[index] = label in _MINUS_ONE
            if isinstance(label, str | bytes):
                words.add(label if isinstance(label, str) else label.decode(errors="replace"))
        _look_at_texts(words, name)
    return missing


def _look_at_texts(texts: set[str], name: str) -> None:
    """Refuse the text "nan", and warn of others that often mean that the class is unknown."""
    if "nan" in texts:
        raise ValueError(
            f'{name} contains the text "nan", which may be a class or a missing label (numpy '
            "makes it of the NaN in an array with text). Write None where the class is unknown, "
            "or give the class another name."
        )
    for text in sorted(text for text in texts if text.strip().casefold() in SUSPECTS):
        warn(
            f"{name} has the label {text!r}, which counts as a class. If it means that the class "
            "is unknown, write None or -1 instead."
        )
