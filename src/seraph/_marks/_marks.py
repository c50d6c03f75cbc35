"""Marks: what people know about pairs of rows, cut together with the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import shown
from .._utils._warnings import warn
from ._answers import check_size, mark_weights, pair_likeness
from ._merge import cut, merged
from ._rows import Rows, is_frame
from ._tables import marks_table, read_table

if TYPE_CHECKING:
    import pandas as pd

# A label that leans to neither side; it counts as similar.
EVEN = 0.5


class Marks:
    """Pairs of rows that are alike or not, and triplets of rows, of one table.

    Marks are about the rows of a table, as class labels are, and scikit-learn cuts them together
    with it: their length is the number of *rows*, and ``marks[rows]`` has the marks among those
    rows. So ``cross_validate(SERAPH(), X, params={"marks": marks})`` gives each fold its own.

    Marks do not change. Several marks of one pair add up: their weights are summed, and their
    labels averaged. A pair that is marked both similar and dissimilar is refused.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2), optional
        Pairs of rows: row numbers; or names, if `rows` has them.
    labels : array-like of shape (n_pairs,), optional
        +1 or True for pairs that are alike, -1 or False for pairs that are not; or how likely
        each pair is alike, from 0 to 1. NaN, None and pandas.NA mean unsure, which is no mark.
    weights : array-like of shape (n_pairs,), optional
        How much each mark counts, from 1e-100 to 1e100: a weight of 2 is a mark given twice, and
        0 is no mark.
    triplets : array-like of shape (n_triplets, 3), optional
        Rows a, b and c of answers "a is nearer to b than to c".
    rows : int, array-like of names, or table
        Which table the marks are about: its number of rows; one name for each of its rows; or
        the table itself. The index of a DataFrame of pandas or dask names its rows, and marks by
        name find their rows in any DataFrame that has them, whatever its order. Marks that name
        an absent row are left out and counted.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_pairs, 2)
        Row numbers of the marked pairs, each pair once and the smaller number first.
    labels : ndarray of shape (n_pairs,)
        How likely each pair is alike, from 0 to 1.
    weights : ndarray of shape (n_pairs,)
        How much each mark counts.
    triplets : ndarray of int of shape (n_triplets, 3)
        Row numbers of the triplets.
    names : ndarray of shape (n_rows,) or None
        Names of the rows; None if they go by number.
    n_absent : int
        Number of marks that were left out because they name an absent row.

    Examples
    --------
    >>> from seraph import Marks
    >>> marks = Marks([[0, 1], [2, 3], [0, 3]], [1, 1, -1], rows=120)
    >>> marks
    Marks(120 rows: 2 similar, 1 dissimilar)
    >>> marks[:3]
    Marks(3 rows: 1 similar, 0 dissimilar)
    >>> marks + Marks(triplets=[[4, 5, 6]], rows=120)
    Marks(120 rows: 2 similar, 1 dissimilar, 1 triplet)

    By name, for the rows of a data frame:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"x": [0.0, 1.0, 5.0]}, index=["ann", "bob", "eve"])
    >>> from seraph import Marks
    >>> Marks([["bob", "ann"], ["ann", "eve"]], [1, -1], rows=table).pairs.tolist()
    [[0, 1], [0, 2]]
    """

    __slots__ = ("_given", "_rows", "labels", "n_absent", "pairs", "triplets", "weights")
    __hash__ = None  # type: ignore[assignment]
    __iter__ = None  # a row of marks says nothing

    pairs: Array
    labels: Array
    weights: Array
    triplets: Array
    n_absent: int
    _rows: Rows
    _given: tuple[Array, Array, Array]  # pairs, labels and weights of the marks, not yet merged

    def __init__(
        self,
        pairs: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        rows: Any,
    ) -> None:
        table = Rows.of(rows)
        pairs_, labels_, weights_, n_absent = _pairs(table, pairs, labels, weights)
        triplets_, n_more = _triplets(table, triplets)
        self._set(table, pairs_, labels_, weights_, triplets_, n_absent + n_more)

    def _set(
        self,
        rows: Rows,
        pairs: Array,
        labels: Array,
        weights: Array,
        triplets: Array,
        n_absent: int = 0,
    ) -> Self:
        """Set all attributes; marks in a fixed order, so that equal marks have equal arrays.

        The marks of a pair are kept one by one, so that it does not matter when others are added.
        """
        pairs = np.sort(pairs, axis=1)
        order = np.lexsort(pairs.T[::-1])
        given = pairs[order], labels[order], weights[order]
        triplets = triplets[np.lexsort(triplets.T[::-1])]
        parts = (*merged(*given, rows), triplets)
        for name, array in zip(("pairs", "labels", "weights", "triplets"), parts, strict=True):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_given", given)
        if rows.names is not None:
            rows.names.setflags(write=False)
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "n_absent", n_absent)
        return self

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        marks = cls.__new__(cls)
        return marks._set(*parts)  # noqa: SLF001 (its own class)

    def __reduce__(self) -> tuple[Any, ...]:
        return Marks._of, (self._rows, *self._given, self.triplets, self.n_absent)

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"Marks do not change: make new ones instead of setting {name}.")

    __delattr__ = __setattr__

    @property
    def names(self) -> Array | None:
        """Names of the rows; None if they go by number."""
        return self._rows.names

    @property
    def shape(self) -> tuple[int]:
        """The number of rows: scikit-learn cuts what has as many as X."""
        return (self._rows.n,)

    @property
    def similar(self) -> Array:
        """Which of the pairs are similar, or lean to it."""
        return self.labels >= EVEN

    def __len__(self) -> int:
        return self._rows.n

    def __repr__(self) -> str:
        similar = int(self.similar.sum())
        text = f"{similar:,} similar, {len(self.pairs) - similar:,} dissimilar"
        if n := len(self.triplets):
            text += f", {n:,} triplet{'s' if n > 1 else ''}"
        if self.n_absent:
            text += f", {self.n_absent:,} absent"
        return f"Marks({len(self):,} rows: {text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Marks):
            return NotImplemented
        return self._same_rows(other) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("pairs", "labels", "weights", "triplets")
        )

    def _same_rows(self, other: Marks) -> bool:
        mine, others = self.names, other.names
        if mine is None or others is None:
            return mine is others and len(self) == len(other)
        return mine.tolist() == others.tolist()

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise TypeError(
            "Marks cannot become an array, which would lose the rows they are about: pass them on "
            "as they are. (marks.pairs and marks.labels are arrays.)"
        )

    def __getitem__(self, key: Any) -> Self:
        """Return the marks among some of the rows, numbered as these.

        A row that is taken twice, as by a bootstrap, has its marks twice.
        """
        if isinstance(key, tuple):  # scikit-learn asks an array for [rows, ...]
            if len(key) != 2 or key[1] is not Ellipsis:
                raise IndexError(f"Marks have one dimension, the rows; got {shown(key)}.")
            key = key[0]
        rows = np.arange(len(self))[key]
        if rows.ndim != 1:
            raise TypeError(
                f"Choose rows by a slice, a mask or a list of row numbers; got {shown(key)}."
            )
        pairs, labels, weights = self._given
        pairs, which = cut(pairs, rows, len(self))
        triplets, _ = cut(self.triplets, rows, len(self))
        names = self.names
        if names is not None:
            taken_twice = len(np.unique(rows)) < len(rows)
            names = None if taken_twice else names[rows]
        return self._of(
            Rows(len(rows), names, self._rows.source),
            pairs,
            labels[which],
            weights[which],
            triplets,
        )

    def __add__(self, other: Marks) -> Self:
        """Merge with other marks of the same rows."""
        if not isinstance(other, Marks):
            return NotImplemented
        if not self._same_rows(other):
            raise ValueError(
                f"Only marks about the same rows can be added; got {self} and {other}, "
                f"{'by name' if self.names is not None else 'by number'} and "
                f"{'by name' if other.names is not None else 'by number'}. Make both with the "
                "same rows."
            )
        given = map(np.concatenate, zip(self._given, other._given, strict=True))
        triplets = np.concatenate([self.triplets, other.triplets])
        return self._of(self._rows, *given, triplets, self.n_absent + other.n_absent)

    def aligned(self, X: Any, n: int) -> Marks:
        """Return the marks of the rows of a table, numbered as these.

        Parameters
        ----------
        X : table
            The table. If it is a DataFrame and the marks are by name, its index decides;
            otherwise the marks follow the order of the rows, as class labels do.
        n : int
            Its number of rows.

        Returns
        -------
        Marks
            By number. `n_absent` counts those whose rows the table does not have.

        Examples
        --------
        >>> import pandas as pd
        >>> from seraph import Marks
        >>> marks = Marks([["a", "b"]], [1], rows=["a", "b", "c"])
        >>> marks.aligned(pd.DataFrame({"x": [1.0, 2.0]}, index=["b", "a"]), 2)
        Marks(2 rows: 1 similar, 0 dissimilar)
        """
        if self.names is not None and is_frame(X):
            return self._found_in(Rows.of(X), self.names)
        if len(self) != n:
            raise ValueError(
                f"marks are about {len(self)} rows, but X has {n}. Pass the table that they are "
                "about, or cut the marks as you cut the table: marks[rows]. (Marks by name find "
                "their rows in a DataFrame that has some of them.)"
            )
        return self._of(Rows(len(self)), *self._given, self.triplets, self.n_absent)

    def _found_in(self, rows: Rows, names: Array) -> Marks:
        place = rows.numbers(names[:, np.newaxis], "rows", 1)[:, 0]
        pairs, labels, weights = self._given
        pairs, triplets = place[pairs], place[self.triplets]
        kept, kept_triplets = np.all(pairs >= 0, axis=1), np.all(triplets >= 0, axis=1)
        absent = int((~kept).sum() + (~kept_triplets).sum())
        total = len(pairs) + len(triplets)
        if absent:
            lost = names[np.flatnonzero(place < 0)]
            message = (
                f"X does not have the rows of {absent} of {total} marks, which name "
                f"{shown(lost[0])} and other rows that are not in its index."
            )
            if absent == total:
                raise ValueError(f"{message} Pass the table that the marks are about.")
            warn(f"{message} They are left out.")
        return self._of(
            Rows(rows.n),
            pairs[kept],
            labels[kept],
            weights[kept],
            triplets[kept_triplets],
            self.n_absent + absent,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the marks as a table, as ``seraph fit --pairs`` reads it.

        Returns
        -------
        pandas.DataFrame
            Columns i and j, names or numbers of rows, and similar. There is a column weight if
            the weights differ from 1, and a column than if there are triplets: "i is nearer to
            j than to than", with similar empty.

        Examples
        --------
        >>> from seraph import Marks
        >>> Marks([["b", "a"]], [True], rows=["a", "b"]).to_frame()
           i  j  similar
        0  a  b        1
        """
        return marks_table(self, self._rows)

    @classmethod
    def from_frame(cls, frame: Any, *, rows: Any) -> Self:
        """Read the table that ``to_frame``, ``seraph query`` and ``seraph ask`` write.

        Parameters
        ----------
        frame : DataFrame or mapping of columns
            Columns i and j, and similar: 1 or 0, +1 or -1, true or false, yes or no, or from 0
            to 1; empty if the pair has not been answered. Columns id_i and id_j come before i
            and j if `rows` has names. There may be columns weight and than; others are ignored.
        rows : int, array-like of names, or table
            Which table the marks are about.

        Returns
        -------
        Marks

        Examples
        --------
        >>> from seraph import Marks
        >>> Marks.from_frame({"i": [0, 1], "j": [1, 2], "similar": ["yes", ""]}, rows=3)
        Marks(3 rows: 1 similar, 0 dissimilar)
        """
        table = Rows.of(rows)
        parts = read_table(frame, by_name=table.names is not None)
        return cls(**parts, rows=rows)


def _pairs(
    rows: Rows, pairs: ArrayLike | None, labels: ArrayLike | None, weights: ArrayLike | None
) -> tuple[Array, Array, Array, int]:
    """Check the marked pairs; count those of absent rows."""
    if pairs is None:
        for name, given in (("labels", labels), ("weights", weights)):
            if given is not None:
                raise ValueError(f"{name} was passed without pairs: pass both or neither.")
        return np.empty((0, 2), dtype=np.intp), np.empty(0), np.empty(0), 0
    if labels is None:
        raise ValueError("pairs was passed without labels: pass +1 or -1 for each pair.")
    found = rows.numbers(pairs)
    likeness = pair_likeness(labels, len(found))
    counts = mark_weights(weights, len(found))
    check_size(counts)
    itself = (found[:, 0] == found[:, 1]) & (found[:, 0] >= 0)
    if itself.any():
        at = int(np.flatnonzero(itself)[0])
        name = shown(rows.called(found[at])[0].item())
        raise ValueError(f"pairs[{at}] pairs row {name} with itself: remove it.")
    present = _present(rows, pairs, found, "pairs")
    kept = present & ~np.isnan(likeness) & (counts > 0.0)
    return found[kept], likeness[kept], counts[kept], int((~present).sum())


def _triplets(rows: Rows, triplets: ArrayLike | None) -> tuple[Array, int]:
    """Check that the triplets hold three different rows each; count those of absent rows."""
    if triplets is None:
        return np.empty((0, 3), dtype=np.intp), 0
    found = rows.numbers(triplets, "triplets", 3)
    present = _present(rows, triplets, found, "triplets")
    repeated = present & (found == np.roll(found, 1, axis=1)).any(axis=1)
    if repeated.any():
        at = int(np.flatnonzero(repeated)[0])
        raise ValueError(
            f"triplets[{at}] is {tuple(rows.called(found[at]).tolist())}: a triplet (a, b, c) "
            "says that row a is nearer to row b than to row c, so the three must differ. Remove "
            "it."
        )
    return found[present], int((~present).sum())


def _present(rows: Rows, given: ArrayLike, found: Array, what: str) -> Array:
    """Say which marks have all of their rows; warn of the others, and refuse if none has."""
    present = np.all(found >= 0, axis=1)
    if not present.all():
        message = rows.absent(given, found, what)
        if not present.any():
            raise ValueError(f"{message} Correct the names.")
        warn(f"{message} They are left out. Correct the names, unless that is meant.")
    return present


publish(globals(), "seraph", ["Marks"])
