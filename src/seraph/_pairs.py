"""What is known of the pairs: class labels, marked pairs, or both, made one.

Class labels imply a label for every pair of labelled rows. Those pairs are never listed:
the class codes stand for them.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from ._sweep._chunks import is_chunked


@dataclass(frozen=True)
class PairLabels:
    """Validated labels of the pairs of `n` rows.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Class code of each row, -1 where the class is not known.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs that do not follow from the codes, each once, the smaller row first.
    similar : ndarray of bool of shape (l,)
        Which of the marked pairs are similar.
    n_similar, n_dissimilar, n_unlabeled : int
        Sizes of the paper's sets S, D and U.
    n_labeled_rows : int
        Number of rows that stand in some labelled pair.

    Examples
    --------
    >>> labels = PairLabels.make(5, y=["a", "a", "b", None, None], pairs=[[3, 4]],
    ...                          pair_labels=[-1])
    >>> labels.n_similar, labels.n_dissimilar, labels.n_unlabeled
    (1, 3, 6)
    """

    codes: NDArray
    pairs: NDArray
    similar: NDArray
    n_similar: int
    n_dissimilar: int
    n_unlabeled: int
    n_labeled_rows: int

    @property
    def n_labeled(self) -> int:
        """Number of labelled pairs, #(S u D)."""
        return self.n_similar + self.n_dissimilar

    @property
    def rows_by_class(self) -> NDArray:
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
        required: bool = True,
    ) -> PairLabels:
        """Check and merge what the user knows of the pairs of `n` rows.

        Parameters
        ----------
        n : int
            Number of rows.
        y : array-like of shape (n,), optional
            Class labels of any type; -1, NaN, None and pandas.NA say "not known".
        pairs : array-like of int of shape (l, 2), optional
            Row numbers of the marked pairs.
        pair_labels : array-like of shape (l,), optional
            +1 or True for a similar pair, -1 or False for a dissimilar one.
        required : bool, default=True
            Whether it is an error if no pair is labelled.

        Returns
        -------
        PairLabels
        """
        if required and y is None and pairs is None and pair_labels is None:
            raise ValueError(
                "There is nothing to learn from: this method requires y to be passed, but the "
                "target y is None, and so is pairs. Pass class labels as y (-1 where unknown), "
                "or pairs=(row numbers) with pair_labels=(+1 or -1)."
            )
        codes = np.full(n, -1, dtype=np.intp) if y is None else _class_codes(y, n)
        rows, similar = _marked_pairs(pairs, pair_labels, n)
        rows, similar = _without_implied(rows, similar, codes)

        sizes = np.bincount(codes[codes >= 0]).tolist()
        implied = _n_pairs(sum(sizes))
        implied_similar = sum(map(_n_pairs, sizes))
        n_similar = implied_similar + int(similar.sum())
        n_dissimilar = implied - implied_similar + int((~similar).sum())
        if required and n_similar + n_dissimilar == 0:
            raise ValueError(
                f"No labelled pair: y gives {sum(sizes)} labelled row(s) out of {n} and no pair "
                "is marked. At least two rows with a class label, or one marked pair, are needed."
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
        )


def _n_pairs(k: int) -> int:
    return k * (k - 1) // 2


def _class_codes(y: ArrayLike, n: int) -> NDArray:
    """Codes 0, 1, ... of the classes in `y`, -1 where the class is not known."""
    labels = as_labels(y)
    if len(labels) != n:
        raise ValueError(
            f"y has {len(labels)} labels and X has {n} rows: give one label per row, "
            "-1 where the class is not known."
        )
    if labels.dtype.kind == "u" and np.any(labels == np.iinfo(labels.dtype).max):
        warnings.warn(
            f"y is {labels.dtype}, which cannot hold -1, and contains {labels.max()}: it is taken "
            "as a class like any other. If it stands for -1, convert y to a signed type before "
            "marking rows as unlabelled.",
            stacklevel=4,
        )
    known = ~is_missing(labels)
    codes = np.full(n, -1, dtype=np.intp)
    if known.any():
        try:
            codes[known] = np.unique(labels[known], return_inverse=True)[1].reshape(-1)
        except TypeError:  # labels of several types have no order, but they can be told apart
            seen: dict[Any, int] = {}
            codes[known] = [seen.setdefault(label, len(seen)) for label in labels[known]]
    return codes


def as_labels(y: ArrayLike) -> NDArray:
    """Labels as an array of one dimension, in which nothing has changed its type.

    Examples
    --------
    >>> as_labels(["a", -1, None])
    array(['a', -1, None], dtype=object)
    """
    if is_chunked(y):
        y = y.compute()  # type: ignore[union-attr]
    labels: NDArray = column_or_1d(y if hasattr(y, "dtype") else _object_array(y), warn=True)
    return labels if labels.dtype.kind in "biufmMUSO" else labels.astype(object)


def _object_array(y: ArrayLike) -> Any:
    """A list as an array in which ``["a", -1]`` keeps its number and None its type."""
    nested = list | tuple | np.ndarray
    if not isinstance(y, list | tuple) or any(isinstance(label, nested) for label in y):
        return y
    array = np.empty(len(y), dtype=object)
    array[:] = y
    return array


def is_missing(labels: NDArray) -> NDArray:
    """Which labels are -1, NaN, None or pandas.NA.

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
    if kind in "US":  # numpy turns the -1 in ["a", -1] into text
        return labels.astype(str) == "-1"
    if kind != "O":
        return np.zeros(len(labels), dtype=bool)
    pandas = sys.modules.get("pandas")  # whoever passes pandas.NA has imported it
    missing = np.zeros(len(labels), dtype=bool) if pandas is None else pandas.isna(labels)
    for index in np.flatnonzero(~missing):
        label = labels[index]
        missing[index] = label is None or label != label or label == -1 or label == "-1"
    return missing


def _marked_pairs(
    pairs: ArrayLike | None, pair_labels: ArrayLike | None, n: int
) -> tuple[NDArray, NDArray]:
    """Marked pairs, each once with the smaller row first, and which are similar."""
    if pairs is None:
        if pair_labels is not None:
            raise ValueError("pair_labels came without pairs: pass both or neither.")
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    if pair_labels is None:
        raise ValueError("pairs came without pair_labels: pass +1 or -1 for each pair.")
    rows = _row_numbers(pairs)
    outside = (rows < 0) | (rows >= n)
    if outside.any():
        at = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"pairs[{at}] is {tuple(rows[at].tolist())}, but X has rows 0 to {n - 1}."
        )
    rows = rows.astype(np.intp)
    itself = rows[:, 0] == rows[:, 1]
    if itself.any():
        at = int(np.flatnonzero(itself)[0])
        raise ValueError(f"pairs[{at}] pairs row {rows[at, 0]} with itself: remove it.")
    similar = _pair_signs(pair_labels, len(rows))

    rows = np.sort(rows, axis=1)
    _, first, inverse = np.unique(
        rows[:, 0] * n + rows[:, 1], return_index=True, return_inverse=True
    )
    clash = similar != similar[first][inverse.reshape(-1)]
    if clash.any():
        i, j = rows[np.flatnonzero(clash)[0]].tolist()
        raise ValueError(
            f"The pair ({i}, {j}) is marked both similar and dissimilar in pairs: decide which."
        )
    return rows[first], similar[first]


def _row_numbers(pairs: ArrayLike) -> NDArray:
    """Whole numbers in two columns, of whatever type."""
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
        with suppress(TypeError, ValueError):  # objects that are no numbers
            numbers = rows.astype(np.float64)
    if not np.all(numbers == np.floor(numbers)):
        raise ValueError(
            f"pairs must hold row numbers of X, which are whole numbers; got {rows.dtype}. "
            "(Pairs of points, as other libraries take them, are not accepted by fit.)"
        )
    return numbers


def _pair_signs(pair_labels: ArrayLike, n_pairs: int) -> NDArray:
    signs = _array("pair_labels", pair_labels)
    if signs.size == 0 == n_pairs:
        return np.empty(0, dtype=bool)
    if signs.shape != (n_pairs,):
        raise ValueError(
            f"pair_labels must hold one label per pair: got shape {signs.shape} "
            f"for {n_pairs} pairs."
        )
    if signs.dtype.kind == "O" and all(isinstance(sign, bool | np.bool_) for sign in signs):
        signs = signs.astype(bool)  # pandas hands its own booleans over as objects
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


def _array(name: str, values: ArrayLike) -> NDArray:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length: {error}") from error


def _without_implied(rows: NDArray, similar: NDArray, codes: NDArray) -> tuple[NDArray, NDArray]:
    """Drop marked pairs that follow from the class labels, and refuse those that contradict."""
    first, second = codes[rows[:, 0]], codes[rows[:, 1]]
    implied = (first >= 0) & (second >= 0)
    clash = implied & ((first == second) != similar)
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        i, j = rows[at].tolist()
        marked, said = ("similar", "different") if similar[at] else ("dissimilar", "the same")
        raise ValueError(
            f"The pair ({i}, {j}) is marked {marked} in pairs, but y gives its rows {said} "
            "class(es): it would be both similar and dissimilar. Correct one of the two."
        )
    return rows[~implied], similar[~implied]
