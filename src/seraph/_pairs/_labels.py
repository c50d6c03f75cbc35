"""What is known about the pairs of rows, from class labels, marked pairs and triplets.

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
from .._validation import shown
from .._warnings import warn
from ._columns import ROUNDED, exact_column, exact_table
from ._names import RowNames

# Types of numpy that classes are compared in; others are compared as objects.
_KINDS = "biufmMUSO"
_MINUS_ONE = (-1, "-1", "-1.0", b"-1", b"-1.0")
# Texts that often mean that a class is unknown, but are taken for classes.
SUSPECTS = {
    "", "?", "-", "--", ".", "n/a", "#n/a", "n.a.", "na", "<na>", "nan", "null", "none", "unknown",
    "unlabeled", "unlabelled", "not labeled", "missing", "undefined", "unclassified",
    "unspecified", "tbd", "to do", "todo",
}  # fmt: skip
# A likeness that leans to neither side; it counts as similar.
_EVEN = 0.5


@dataclass(frozen=True)
class PairLabels:
    """Validated labels of the pairs of `n` rows, and triplets of rows.

    Parameters
    ----------
    codes : ndarray of int of shape (n,)
        Class code of each row; -1 for an unknown class.
    pairs : ndarray of int of shape (l, 2)
        Marked pairs that the codes do not imply, each once, smaller row number first.
    likeness : ndarray of float of shape (l,)
        How likely each of the marked pairs is similar: 1 or 0 where the mark is sure.
    weights : ndarray of float of shape (l,)
        Weight of each of them, above 0.
    triplets : ndarray of int of shape (t, 3)
        Rows a, b and c of each triplet: a is nearer to b than to c.
    n_similar, n_dissimilar, n_unlabeled : int
        Sizes of the paper's sets S, D and U. An unsure mark counts as what it leans to.
    similar_weight, dissimilar_weight : float
        Total weight of what pulls points together and of what moves them apart. A mark of weight
        w and likeness q adds w q to the first and w (1 - q) to the second; a pair of classes adds
        1 to one of them, and a triplet 1 to both.
    n_labeled_rows : int
        Number of rows that belong to some labeled pair or triplet.
    effective_rows : float
        The same number with each row weighted by its strongest mark (Kish's effective sample
        size). A pair of classes and a triplet are marks of weight 1.
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
    likeness: Array
    weights: Array
    triplets: Array
    n_similar: int
    n_dissimilar: int
    n_unlabeled: int
    similar_weight: float
    dissimilar_weight: float
    n_labeled_rows: int
    effective_rows: float
    n_absent_pairs: int = 0

    @property
    def similar(self) -> Array:
        """Which of the marked pairs are similar, or lean to it."""
        return self.likeness >= _EVEN

    @property
    def n_labeled(self) -> int:
        """Number of labeled pairs, #(S u D)."""
        return self.n_similar + self.n_dissimilar

    @property
    def labeled_weight(self) -> float:
        """Total weight of the labeled pairs and the triplets."""
        return self.similar_weight + self.dissimilar_weight - len(self.triplets)

    @property
    def rows_by_class(self) -> Array:
        """Numbers of the rows of known class, those of a class together."""
        known = self.codes >= 0
        if known.all():
            return np.argsort(self.codes, kind="stable")
        rows = np.flatnonzero(known)
        return rows[np.argsort(self.codes[rows], kind="stable")]

    @classmethod
    def make(
        cls,
        n: int,
        y: ArrayLike | None = None,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        pair_weights: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        *,
        names: RowNames | None = None,
        required: bool = True,
    ) -> PairLabels:
        """Check and merge class labels, marked pairs and triplets of `n` rows.

        The marks of a pair add up. A pair whose rows both have a class is settled by their
        classes, and marks of it are dropped.

        Parameters
        ----------
        n : int
            Number of rows.
        y : array-like of shape (n,), optional
            Class labels of any type; -1, NaN, None, pandas.NA and masked entries mean unknown.
            The text "nan" is refused.
        pairs : array-like of int of shape (l, 2), optional
            Row numbers of the marked pairs.
        pair_labels : array-like of shape (l,), optional
            +1 or True for a similar pair, -1 or False for a dissimilar one; or how likely each
            pair is similar, from 0 to 1. Unknown (NaN, None, pandas.NA) is no mark.
        pair_weights : array-like of shape (l,), optional
            Weight of each mark; 0 is no mark. None is 1 for all.
        triplets : array-like of int of shape (t, 3), optional
            Row numbers a, b and c: a is nearer to b than to c.
        names : RowNames, optional
            What `pairs` and `triplets` call the rows; by default their numbers.
        required : bool, default=True
            Whether to refuse labels that leave nothing to learn from.

        Returns
        -------
        PairLabels
        """
        if required and y is None and pairs is None and pair_labels is None and triplets is None:
            raise ValueError(
                "There is nothing to learn from: this method requires y to be passed, but the "
                "target y is None, and so is pairs. Pass class labels as y (-1 where unknown), "
                "or row numbers as pairs with +1 or -1 as pair_labels."
            )
        codes = np.full(n, -1, dtype=np.intp) if y is None else _class_codes(y, n)
        pairs, pair_labels, pair_weights, n_absent = _present(
            pairs, pair_labels, pair_weights, names
        )
        rows, likeness, weights = _marked_pairs(pairs, pair_labels, pair_weights, n)
        if len(rows):
            rows, likeness, weights = _without_implied(rows, likeness, weights, codes)
        triples = _triplets(triplets, n, names)

        sizes = np.bincount(codes[codes >= 0]).tolist()
        implied = _n_pairs(sum(sizes))
        implied_similar = sum(map(_n_pairs, sizes))
        marked_similar = int(np.count_nonzero(likeness >= _EVEN)) if len(rows) else 0
        n_similar = implied_similar + marked_similar
        n_dissimilar = implied - implied_similar + len(likeness) - marked_similar
        if required and n_similar + n_dissimilar + len(triples) == 0:
            raise ValueError(
                f"No labeled pair: y labels {sum(sizes)} of {n} rows, and no pair is marked. "
                "Label at least two rows, or mark at least one pair. (A mark that is unsure or "
                "has a weight of 0 is no mark.)"
            )
        weight_similar = float(weights @ likeness) if len(rows) else 0.0
        weight_dissimilar = float(weights @ (1.0 - likeness)) if len(rows) else 0.0
        if len(rows) or len(triples):
            strongest = (codes >= 0).astype(float) if implied else np.zeros(n)
            np.maximum.at(strongest, rows, weights[:, np.newaxis])
            strongest[triples] = np.maximum(strongest[triples], 1.0)
            n_labeled_rows = int(np.count_nonzero(strongest))
            effective_rows = _effective_size(strongest)
        else:
            n_labeled_rows = sum(sizes) if implied else 0
            effective_rows = float(n_labeled_rows)
        return cls(
            codes=codes,
            pairs=rows,
            likeness=likeness,
            weights=weights,
            triplets=triples,
            n_similar=n_similar,
            n_dissimilar=n_dissimilar,
            n_unlabeled=_n_pairs(n) - n_similar - n_dissimilar,
            similar_weight=implied_similar + weight_similar + len(triples),
            dissimilar_weight=implied - implied_similar + weight_dissimilar + len(triples),
            n_labeled_rows=n_labeled_rows,
            effective_rows=effective_rows,
            n_absent_pairs=n_absent,
        )


def _n_pairs(k: int) -> int:
    return k * (k - 1) // 2


def _effective_size(weights: Array) -> float:
    """Kish's effective sample size, ``(sum w)^2 / sum w^2``: the number of equal weights."""
    if not weights.any():
        return 0.0
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / (shares @ shares))


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
    if labels.dtype.kind == "f" and np.any(np.isfinite(labels) & (np.abs(labels) >= ROUNDED)):
        warn(
            f"y is {labels.dtype} and has classes of 2**53 or more, where floats are rounded: "
            "different classes may have become one. Pass whole numbers (in pandas, Int64 if some "
            "are missing) or text."
        )
    if _are_codes(labels):
        return labels.copy()
    missing = is_missing(labels)
    codes = np.full(n, -1, dtype=np.intp)
    codes[~missing] = _numbered(labels[~missing])
    return codes


def _are_codes(labels: Array) -> bool:
    """Say whether the labels are 0, 1, 2 and so on already, all of them in use."""
    return (
        labels.dtype == np.intp
        and labels.min(initial=0) >= 0
        and labels.max(initial=0) < len(labels)
        and bool(np.bincount(labels).all())
    )


def _numbered(labels: Array) -> Array:
    """Number different labels from 0, in their order if they have one."""
    try:
        return np.searchsorted(np.unique(labels), labels)
    except TypeError:  # labels of several types have no order, but they can be compared
        seen: dict[Any, int] = {}
        return np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.intp)


def as_labels(y: ArrayLike) -> Array:
    """Return labels as a one-dimensional array without changing the type of any.

    Examples
    --------
    >>> as_labels(["a", -1, None])
    array(['a', -1, None], dtype=object)
    """
    if type(y) is not np.ndarray:
        y = _unmasked(y) if isinstance(y, np.ma.MaskedArray) else in_memory(y)
        y = exact_table(y) if hasattr(y, "columns") else exact_column(y)
    if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in _KINDS:
        return y  # nothing that scikit-learn would change, or refuse
    labels: Array = column_or_1d(y if hasattr(y, "dtype") else _object_array(y), warn=True)
    return labels if labels.dtype.kind in _KINDS else labels.astype(object)


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

    The text "nan" is refused, whoever has written it. Texts that often mean that a class is
    unknown, such as "" and "unknown", are classes; a warning names them.

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
    if kind in "US":
        return _is_missing_text(labels.astype(str))
    if kind != "O":
        return np.zeros(len(labels), dtype=bool)
    missing = is_unknown(labels)
    texts: set[str] = set()
    for index in np.flatnonzero(~missing):
        label = labels[index]
        missing[index] = label in _MINUS_ONE
        if isinstance(label, str | bytes):
            texts.add(label if isinstance(label, str) else label.decode(errors="replace"))
    _look_at_texts(texts)
    return missing


def _is_missing_text(labels: Array) -> Array:
    """Say which labels are the text that numpy makes of the -1 of ``["a", -1]``."""
    _look_at_texts(set(np.unique(labels).tolist()))
    return np.isin(labels, ["-1", "-1.0"])


def _look_at_texts(texts: set[str]) -> None:
    """Refuse the text "nan", and warn of others that often mean that the class is unknown."""
    if "nan" in texts:
        raise ValueError(
            'y contains the text "nan", which may be a class or a missing label (numpy makes it '
            "of the NaN in an array with text). Write None where the class is unknown, or give "
            "the class another name."
        )
    for text in sorted(text for text in texts if text.strip().casefold() in SUSPECTS):
        warn(
            f"y has the label {text!r}, which counts as a class. If it means that the class is "
            "unknown, write None or -1 instead."
        )


def _present(
    pairs: ArrayLike | None,
    pair_labels: ArrayLike | None,
    pair_weights: ArrayLike | None,
    names: RowNames | None,
) -> tuple[ArrayLike | None, ArrayLike | None, ArrayLike | None, int]:
    """Return the pairs whose rows are there as row numbers, with their labels and weights."""
    if names is None or pairs is None:
        return pairs, pair_labels, pair_weights, 0
    rows, kept = names.rows(pairs)
    if kept is None or pair_labels is None:
        return rows, pair_labels, pair_weights, 0
    labels = _pair_likeness(in_memory(pair_labels), len(kept))[kept]
    weights = mark_weights(pair_weights, len(kept))[kept]
    return rows, labels, weights, int((~kept).sum())


def _marked_pairs(
    pairs: ArrayLike | None,
    pair_labels: ArrayLike | None,
    pair_weights: ArrayLike | None,
    n: int,
) -> tuple[Array, Array, Array]:
    """Return the marked pairs, each once and smaller row first, their likeness and weights."""
    if pairs is None:
        for name, given in (("pair_labels", pair_labels), ("pair_weights", pair_weights)):
            if given is not None:
                raise ValueError(f"{name} was passed without pairs: pass both or neither.")
        return np.empty((0, 2), dtype=np.intp), np.empty(0), np.empty(0)
    if pair_labels is None:
        raise ValueError("pairs was passed without pair_labels: pass +1 or -1 for each pair.")
    rows, pair_labels = row_numbers(pairs, n), in_memory(pair_labels)
    itself = rows[:, 0] == rows[:, 1]
    if itself.any():
        at = int(np.flatnonzero(itself)[0])
        raise ValueError(f"pairs[{at}] pairs row {rows[at, 0]} with itself: remove it.")
    likeness = _pair_likeness(pair_labels, len(rows))
    weights = mark_weights(pair_weights, len(rows))
    counts = ~np.isnan(likeness) & (weights > 0.0)
    return _merged(np.sort(rows[counts], axis=1), likeness[counts], weights[counts], n)


def _merged(rows: Array, likeness: Array, weights: Array, n: int) -> tuple[Array, Array, Array]:
    """Add up the marks of each pair.

    ``w ln p(y)`` is linear in the weight and in the likeness, so marks of one pair are together
    one mark: with the sum of their weights and the weighted mean of their likeness.
    """
    _, first, which = np.unique(
        rows[:, 0] * n + rows[:, 1], return_index=True, return_inverse=True
    )
    which = which.reshape(-1)
    both = np.isin(which, which[likeness == 1.0]) & np.isin(which, which[likeness == 0.0])
    if both.any():
        i, j = rows[np.flatnonzero(both)[0]].tolist()
        raise ValueError(
            f"The pair ({i}, {j}) is marked both similar and dissimilar in pairs: keep one mark, "
            "or give how likely the pair is similar, from 0 to 1, as its label."
        )
    total = np.bincount(which, weights, minlength=len(first))
    mean = np.bincount(which, weights * likeness, minlength=len(first)) / total
    return rows[first], np.clip(mean, 0.0, 1.0), total


def _triplets(triplets: ArrayLike | None, n: int, names: RowNames | None) -> Array:
    """Check that `triplets` holds three different rows each."""
    if triplets is None:
        return np.empty((0, 3), dtype=np.intp)
    if names is not None:
        triplets = names.rows(triplets, "triplets", 3)[0]
    rows = _row_numbers("triplets", in_memory(triplets), 3, n)
    repeated = (rows == np.roll(rows, 1, axis=1)).any(axis=1)
    if repeated.any():
        at = int(np.flatnonzero(repeated)[0])
        raise ValueError(
            f"triplets[{at}] is {tuple(rows[at].tolist())}: a triplet (a, b, c) says that row a "
            "is nearer to row b than to row c, so the three must differ. Remove it."
        )
    return rows


def row_numbers(pairs: ArrayLike, n: int) -> Array:
    """Check that `pairs` holds two columns of row numbers of `n` rows, and return them.

    Examples
    --------
    >>> row_numbers([[0, 2]], 3)
    array([[0, 2]])
    """
    return _row_numbers("pairs", in_memory(pairs), 2, n)


def _row_numbers(name: str, given: ArrayLike, width: int, n: int) -> Array:
    """Check that `given` holds `width` columns of numbers of rows from 0 to n - 1."""
    rows = _array(name, given)
    if rows.size == 0:
        return np.empty((0, width), dtype=np.intp)
    if rows.ndim != 2 or rows.shape[1] != width:
        raise ValueError(
            f"{name} must have shape (n_{name}, {width}), {'two' if width == 2 else 'three'} row "
            f"numbers of X each; got shape {rows.shape}."
        )
    if rows.dtype.kind not in "iu":
        numbers = np.full(rows.shape, np.nan)
        if rows.dtype.kind in "fO":
            with suppress(TypeError, ValueError, OverflowError):  # objects that are not numbers
                numbers = rows.astype(np.float64)
        if not np.all(numbers == np.floor(numbers)):
            raise ValueError(
                f"{name} must hold row numbers of X, which are whole numbers; got {rows.dtype}. "
                "For names of rows, pass ids as well, or X as a DataFrame. (Other libraries take "
                f"{name} of points; fit does not.)"
            )
        rows = numbers
    outside = (rows < 0) | (rows >= n)
    if outside.any():
        at = int(np.flatnonzero(outside.any(axis=1))[0])
        raise ValueError(
            f"{name}[{at}] is {tuple(rows[at].tolist())}, but X has rows 0 to {n - 1}."
        )
    return rows.astype(np.intp)


def pair_signs(pair_labels: ArrayLike, n_pairs: int) -> Array:
    """Check the labels of `n_pairs` pairs, and say which are similar.

    Examples
    --------
    >>> pair_signs([1, -1], 2)
    array([ True, False])
    """
    likeness = _pair_likeness(pair_labels, n_pairs)
    unsure = (likeness != 0.0) & (likeness != 1.0)
    if unsure.any():
        raise ValueError(
            "pair_labels must be +1 (similar) or -1 (dissimilar), or True or False, for this; "
            f"got {shown(np.asarray(pair_labels)[unsure][0])}. Leave unsure pairs out."
        )
    return likeness == 1.0


def _pair_likeness(pair_labels: ArrayLike, n_pairs: int) -> Array:
    """Turn labels into how likely each pair is similar; NaN where that is unknown."""
    labels = _array("pair_labels", pair_labels)
    if labels.size == 0 == n_pairs:
        return np.empty(0)
    if labels.shape != (n_pairs,):
        raise ValueError(
            f"pair_labels must hold one label per pair: got shape {labels.shape} "
            f"for {n_pairs} pairs."
        )
    unknown = is_unknown(labels)
    numbers = np.full(n_pairs, np.nan)
    for at in np.flatnonzero(~unknown) if labels.dtype.kind not in "biuf" else ():
        if not isinstance(labels[at], Real) or not abs(labels[at]) <= 1:
            raise _bad_pair_label(labels[at])
    numbers[~unknown] = labels[~unknown].astype(np.float64)
    known = numbers[~unknown]
    if np.isin(known, [1.0, -1.0]).all():
        return (numbers + 1.0) / 2.0
    outside = (known < 0.0) | (known > 1.0)
    if not outside.any():
        return numbers
    if np.all(known[outside] == -1.0):
        other = known[~np.isin(known, [1.0, -1.0])][0]
        raise ValueError(
            f"pair_labels has both -1 and {other:g}. Use +1 and -1, or how likely each pair is "
            "similar, from 0 to 1; and NaN or None where you are unsure."
        )
    raise _bad_pair_label(known[outside & (known != -1.0)][0])


def _bad_pair_label(label: object) -> ValueError:
    return ValueError(
        "pair_labels must be +1 (similar) or -1 (dissimilar), or True or False, or how likely "
        "each pair is similar, from 0 to 1; and NaN or None where you are unsure; got "
        f"{shown(label)}."
    )


def is_unknown(values: Array) -> Array:
    """Say which values are NaN, NaT, None or pandas.NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    unknown = np.zeros(len(values), dtype=bool)
    if values.dtype.kind == "O":
        pandas = sys.modules.get("pandas")  # imported already if anybody passes pandas.NA
        if pandas is not None:
            unknown = np.asarray(pandas.isna(values), dtype=bool)
        for at in np.flatnonzero(~unknown):
            unknown[at] = values[at] is None or bool(values[at] != values[at])
    return unknown


def mark_weights(pair_weights: ArrayLike | None, n_pairs: int) -> Array:
    """Return the weight of each mark, checked; ones for None.

    Examples
    --------
    >>> mark_weights(None, 2)
    array([1., 1.])
    """
    if pair_weights is None:
        return np.ones(n_pairs)
    given = _array("pair_weights", in_memory(pair_weights))
    if given.size == 0 == n_pairs:
        return np.empty(0)
    if given.shape != (n_pairs,):
        raise ValueError(
            f"pair_weights must hold one weight per pair: got shape {given.shape} "
            f"for {n_pairs} pairs."
        )
    weights = np.full(n_pairs, np.nan)
    if given.dtype.kind in "biufO":
        with suppress(TypeError, ValueError, OverflowError):  # objects that are not numbers
            weights = given.astype(np.float64)
    bad = ~(np.isfinite(weights) & (weights >= 0.0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            "pair_weights must be finite numbers of at least 0 (0 leaves the mark out); got "
            f"{shown(given[at])} at {at}."
        )
    return weights


def _array(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length: {error}") from error


def _without_implied(
    rows: Array, likeness: Array, weights: Array, codes: Array
) -> tuple[Array, Array, Array]:
    """Drop marked pairs that the class labels imply, and refuse those that contradict them."""
    first, second = codes[rows[:, 0]], codes[rows[:, 1]]
    implied = (first >= 0) & (second >= 0)
    clash = implied & (likeness == np.where(first == second, 0.0, 1.0))
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        i, j = rows[at].tolist()
        similar = likeness[at] == 1.0
        marked, said = ("similar", "different") if similar else ("dissimilar", "the same")
        raise ValueError(
            f"The pair ({i}, {j}) is marked {marked} in pairs, but y gives its rows {said} "
            "class(es). Correct one of the two."
        )
    return rows[~implied], likeness[~implied], weights[~implied]
