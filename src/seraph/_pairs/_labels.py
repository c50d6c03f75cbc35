"""Labels of pairs, from class labels, marked pairs, or both.

Class labels imply a label for every pair of labeled rows. These pairs are never listed; the
class codes stand for them.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from .._sweep import in_memory
from .._typing import Array
from .._warnings import warn
from ._names import RowNames


@dataclass(frozen=True)
class PairLabels:
    """Validated labels of the pairs of `n` rows.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Class code of each row; -1 for an unknown class.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs that the codes do not imply, each once, smaller row number first.
    similar : ndarray of bool of shape (l,)
        Which of the marked pairs are similar.
    n_similar, n_dissimilar, n_unlabeled : int
        Sizes of the paper's sets S, D and U.
    n_labeled_rows : int
        Number of rows that belong to some labeled pair.
    n_absent_pairs : int, default=0
        Number of marked pairs that were left out because a row of theirs is absent.

    Examples
    --------
    >>> labels = PairLabels.make(5, y=["a", "a", "b", None, None], pairs=[[3, 4]],
    ...                          pair_labels=[-1])
    >>> labels.n_similar, labels.n_dissimilar, labels.n_unlabeled
    (1, 3, 6)
    """

    codes: Array
    pairs: Array
    similar: Array
    n_similar: int
    n_dissimilar: int
    n_unlabeled: int
    n_labeled_rows: int
    n_absent_pairs: int = 0

    @property
    def n_labeled(self) -> int:
        """Number of labeled pairs, #(S u D)."""
        return self.n_similar + self.n_dissimilar

    @property
    def rows_by_class(self) -> Array:
        """Numbers of the rows of known class, those of a class together."""
        rows = np.flatnonzero(self.codes >= 0)
        return rows[np.argsort(self.codes[rows], kind="stable")]

    @classmethod
    def make(
        cls,
        n: int,
        y: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        *,
        names: RowNames | None = None,
        required: bool = True,
    ) -> PairLabels:
        """Check and merge class labels and marked pairs of `n` rows.

        Parameters
        ----------
        n : int
            Number of rows.
        y : array-like of shape (n,), optional
            Class labels of any type; -1, NaN, None, pandas.NA and masked entries mean unknown.
            The text "nan" is refused, unless numpy has made it from a NaN.
        pairs : array-like of int of shape (l, 2), optional
            Row numbers of the marked pairs.
        pair_labels : array-like of shape (l,), optional
            +1 or True for a similar pair, -1 or False for a dissimilar one.
        names : RowNames, optional
            What `pairs` call the rows; by default their numbers.
        required : bool, default=True
            Whether to refuse labels that leave every pair unlabeled.

        Returns
        -------
        PairLabels
        """
        if required and y is None and pairs is None and pair_labels is None:
            raise ValueError(
                "There is nothing to learn from: this method requires y to be passed, but the "
                "target y is None, and so is pairs. Pass class labels as y (-1 where unknown), "
                "or row numbers as pairs with +1 or -1 as pair_labels."
            )
        codes = np.full(n, -1, dtype=np.intp) if y is None else _class_codes(y, n)
        pairs, pair_labels, n_absent = _present(pairs, pair_labels, names)
        rows, similar = _marked_pairs(pairs, pair_labels, n)
        rows, similar = _without_implied(rows, similar, codes)

        sizes = np.bincount(codes[codes >= 0]).tolist()
        implied = _n_pairs(sum(sizes))
        implied_similar = sum(map(_n_pairs, sizes))
        n_similar = implied_similar + int(similar.sum())
        n_dissimilar = implied - implied_similar + int((~similar).sum())
        if required and n_similar + n_dissimilar == 0:
            raise ValueError(
                f"No labeled pair: y labels {sum(sizes)} of {n} rows, and no pair is marked. "
                "Label at least two rows, or mark at least one pair."
            )
        in_pairs = np.zeros(n, dtype=bool)
        in_pairs[rows] = True
        if implied:
            in_pairs |= codes >= 0
        return cls(
            codes=codes,
            pairs=rows,
            similar=similar,
            n_similar=n_similar,
            n_dissimilar=n_dissimilar,
            n_unlabeled=_n_pairs(n) - n_similar - n_dissimilar,
            n_labeled_rows=int(in_pairs.sum()),
            n_absent_pairs=n_absent,
        )


def _n_pairs(k: int) -> int:
    return k * (k - 1) // 2


def _class_codes(y: ArrayLike, n: int) -> Array:
    """Number the classes in `y` from 0; -1 for an unknown class."""
    labels = as_labels(y)
    if len(labels) != n:
        raise ValueError(
            f"y has {len(labels)} labels and X has {n} rows: give one label per row, and -1 "
            "where the class is unknown."
        )
    if labels.dtype.kind == "u" and np.any(labels == np.iinfo(labels.dtype).max):
        warn(
            f"y is {labels.dtype}, which cannot hold -1. It contains {labels.max()}, which counts "
            "as a class like any other. If it stands for -1, convert y to a signed type before "
            "you mark rows as unlabeled."
        )
    known = ~is_missing(labels)
    codes = np.full(n, -1, dtype=np.intp)
    if known.any():
        try:
            codes[known] = np.unique(labels[known], return_inverse=True)[1].reshape(-1)
        except TypeError:  # labels of several types have no order, but they can be compared
            seen: dict[Any, int] = {}
            codes[known] = [seen.setdefault(label, len(seen)) for label in labels[known]]
    return codes


def as_labels(y: ArrayLike) -> Array:
    """Return labels as a one-dimensional array without changing the type of any.

    Examples
    --------
    >>> as_labels(["a", -1, None])
    array(['a', -1, None], dtype=object)
    """
    y = _unmasked(y) if isinstance(y, np.ma.MaskedArray) else in_memory(y)
    labels: Array = column_or_1d(y if hasattr(y, "dtype") else _object_array(y), warn=True)
    return labels if labels.dtype.kind in "biufmMUSO" else labels.astype(object)


def _unmasked(y: Any) -> Array:
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
    array = np.empty(len(y), dtype=object)
    array[:] = y
    return array


def is_missing(labels: Array) -> Array:
    """Say which labels are -1, NaN, None or pandas.NA.

    Examples
    --------
    >>> is_missing(as_labels(["a", -1, None]))
    array([False,  True,  True])
    """
    kind = labels.dtype.kind
    if kind == "f":
        return np.isnan(labels) | (labels == -1)
    if kind == "i":
        return labels == -1
    if kind in "mM":
        return np.isnat(labels)
    if kind in "US":  # numpy turns the -1 of ["a", -1] into text
        return _is_missing_text(labels.astype(str))
    if kind != "O":
        return np.zeros(len(labels), dtype=bool)
    pandas = sys.modules.get("pandas")  # imported already if anybody passes pandas.NA
    missing = np.zeros(len(labels), dtype=bool) if pandas is None else pandas.isna(labels)
    for index in np.flatnonzero(~missing):
        label = labels[index]
        is_nan = bool(label != label)  # noqa: PLR0124 (whatever its type)
        missing[index] = label is None or is_nan or label in (-1, "-1")
    _refuse_nan_text(any(isinstance(label, str) and label == "nan" for label in labels))
    return missing


def _is_missing_text(labels: Array) -> Array:
    """Say which labels numpy has made from -1 or NaN.

    numpy makes room for 32 characters where it turns floats into text, so a wider type than the
    text needs shows that there were floats.
    """
    missing = labels == "-1"
    if (
        labels.dtype.itemsize == 32 * np.dtype("U1").itemsize
        and np.char.str_len(labels).max(initial=0) < 32
    ):
        return missing | (labels == "nan") | (labels == "-1.0")
    _refuse_nan_text(bool(np.any(labels == "nan")))
    return missing


def _refuse_nan_text(found: bool) -> None:
    if found:
        raise ValueError(
            'y contains the text "nan", which may be a class or a missing label. Write None '
            "where the class is unknown, or give the class another name."
        )


def _present(
    pairs: ArrayLike | None, pair_labels: ArrayLike | None, names: RowNames | None
) -> tuple[ArrayLike | None, ArrayLike | None, int]:
    """Return the pairs whose rows are there as row numbers, with their labels."""
    if names is None or pairs is None:
        return pairs, pair_labels, 0
    rows, kept = names.rows(pairs)
    if kept is None or pair_labels is None:
        return rows, pair_labels, 0
    return rows, pair_signs(in_memory(pair_labels), len(kept))[kept], int((~kept).sum())


def _marked_pairs(
    pairs: ArrayLike | None, pair_labels: ArrayLike | None, n: int
) -> tuple[Array, Array]:
    """Return the marked pairs, each once and smaller row first, and which are similar."""
    if pairs is None:
        if pair_labels is not None:
            raise ValueError("pair_labels was passed without pairs: pass both or neither.")
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    if pair_labels is None:
        raise ValueError("pairs was passed without pair_labels: pass +1 or -1 for each pair.")
    rows, pair_labels = row_numbers(pairs, n), in_memory(pair_labels)
    itself = rows[:, 0] == rows[:, 1]
    if itself.any():
        at = int(np.flatnonzero(itself)[0])
        raise ValueError(f"pairs[{at}] pairs row {rows[at, 0]} with itself: remove it.")
    similar = pair_signs(pair_labels, len(rows))

    rows = np.sort(rows, axis=1)
    _, first, inverse = np.unique(
        rows[:, 0] * n + rows[:, 1], return_index=True, return_inverse=True
    )
    clash = similar != similar[first][inverse.reshape(-1)]
    if clash.any():
        i, j = rows[np.flatnonzero(clash)[0]].tolist()
        raise ValueError(
            f"The pair ({i}, {j}) is marked both similar and dissimilar in pairs: keep one mark."
        )
    return rows[first], similar[first]


def row_numbers(pairs: ArrayLike, n: int) -> Array:
    """Check that `pairs` holds two columns of row numbers of `n` rows, and return them.

    Examples
    --------
    >>> row_numbers([[0, 2]], 3)
    array([[0, 2]])
    """
    rows = _whole_numbers(in_memory(pairs))
    outside = (rows < 0) | (rows >= n)
    if outside.any():
        at = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"pairs[{at}] is {tuple(rows[at].tolist())}, but X has rows 0 to {n - 1}."
        )
    return rows.astype(np.intp)


def _whole_numbers(pairs: ArrayLike) -> Array:
    rows = _array("pairs", pairs)
    if rows.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ValueError(
            "pairs must have shape (n_pairs, 2), two row numbers of X each; "
            f"got shape {rows.shape}."
        )
    if rows.dtype.kind in "iu":
        return rows
    numbers = np.full(rows.shape, np.nan)
    if rows.dtype.kind in "fO":
        with suppress(TypeError, ValueError):  # objects that are not numbers
            numbers = rows.astype(np.float64)
    if not np.all(numbers == np.floor(numbers)):
        raise ValueError(
            f"pairs must hold row numbers of X, which are whole numbers; got {rows.dtype}. "
            "For names of rows, pass ids as well, or X as a DataFrame. (Other libraries take "
            "pairs of points; fit does not.)"
        )
    return numbers


def pair_signs(pair_labels: ArrayLike, n_pairs: int) -> Array:
    """Check the labels of `n_pairs` pairs, and say which are similar.

    Examples
    --------
    >>> pair_signs([1, -1], 2)
    array([ True, False])
    """
    signs = _array("pair_labels", pair_labels)
    if signs.size == 0 == n_pairs:
        return np.empty(0, dtype=bool)
    if signs.shape != (n_pairs,):
        raise ValueError(
            f"pair_labels must hold one label per pair: got shape {signs.shape} "
            f"for {n_pairs} pairs."
        )
    if signs.dtype.kind == "O" and all(isinstance(sign, bool | np.bool_) for sign in signs):
        signs = signs.astype(bool)  # pandas passes its own booleans as objects
    if signs.dtype == bool:
        return signs
    if signs.dtype.kind == "O":
        known = np.array([isinstance(sign, Real) and abs(sign) == 1 for sign in signs])
    else:
        known = np.isin(signs, [1, -1])
    if not known.all():
        raise ValueError(
            "pair_labels must be +1 (similar) or -1 (dissimilar), or True or False; got "
            f"{signs[~known][0]!r}."
        )
    return (signs == 1).astype(bool)


def _array(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length: {error}") from error


def _without_implied(rows: Array, similar: Array, codes: Array) -> tuple[Array, Array]:
    """Drop marked pairs that the class labels imply, and refuse those that contradict them."""
    first, second = codes[rows[:, 0]], codes[rows[:, 1]]
    implied = (first >= 0) & (second >= 0)
    clash = implied & ((first == second) != similar)
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        i, j = rows[at].tolist()
        marked, said = ("similar", "different") if similar[at] else ("dissimilar", "the same")
        raise ValueError(
            f"The pair ({i}, {j}) is marked {marked} in pairs, but y gives its rows {said} "
            "class(es). Correct one of the two."
        )
    return rows[~implied], similar[~implied]
