"""Marks: what people know about pairs of rows, cut together with the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._public import publish
from .._utils._typing import Array
from ._given import read_pairs, read_triplets, report_absent
from ._merge import chosen_rows, cut, merge_marks
from ._rows import Rows, is_frame
from ._sources import (
    marks_of_classes,
    marks_of_corrections,
    marks_of_feedback,
    marks_of_groups,
)
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
        pairs_, labels_, weights_, n_absent = read_pairs(table, pairs, labels, weights)
        triplets_, n_more = read_triplets(table, triplets)
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
        parts = (*merge_marks(*given, rows), triplets)
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
        """The number of rows, so that scikit-learn splits the marks together with ``X``."""
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
        rows = chosen_rows(key, len(self))
        pairs, labels, weights = self._given
        pairs, which = cut(pairs, rows, len(self))
        triplets, _ = cut(self.triplets, rows, len(self))
        names = self.names
        if names is not None:
            taken_twice = len(np.unique(rows)) < len(rows)
            names = None if taken_twice else names[rows]
        taken = Rows(len(rows), names, self._rows.source)
        return self._of(taken, pairs, labels[which], weights[which], triplets)

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

    def align(self, X: Any, n: int) -> Marks:
        """Return the marks among the rows of a table, with the row numbers of that table.

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
        >>> marks.align(pd.DataFrame({"x": [1.0, 2.0]}, index=["b", "a"]), 2)
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
        if absent:
            report_absent(names[np.flatnonzero(place < 0)], absent, len(pairs) + len(triplets))
        found = pairs[kept], labels[kept], weights[kept], triplets[kept_triplets]
        return self._of(Rows(rows.n), *found, self.n_absent + absent)

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

    @classmethod
    def from_groups(
        cls,
        groups: ArrayLike,
        label: float,
        *,
        rows: Any,
        weight: float = 1.0,
        partners: int = 10,
    ) -> Self:
        """Mark rows of one group, such as one visit, one customer or one photo.

        Parameters
        ----------
        groups : array-like of shape (n_rows,)
            The group of each row; -1, NaN or None for rows without one.
        label : float
            How likely two rows of a group are alike: from 0 to 1, or +1 or -1 for certain.
        rows : int, array-like of names, or table
            Which table the marks are about.
        weight : float, default=1.0
            How much each mark counts.
        partners : int, default=10
            All pairs are marked in groups where no row has more partners than that. In larger
            ones each row gets as many, spread evenly: n rows have at most ``n * partners`` marks.

        Returns
        -------
        Marks

        Examples
        --------
        Two faces in one photo are hardly ever the same person, but there are mirrors:

        >>> from seraph import Marks
        >>> photo = ["beach", "beach", "beach", "party", "party", None]
        >>> Marks.from_groups(photo, 0.05, rows=6)
        Marks(6 rows: 0 similar, 4 dissimilar)
        """
        table = Rows.of(rows)
        return cls._of(table, *marks_of_groups(groups, label, table, weight, partners))

    @classmethod
    def from_classes(
        cls, y: ArrayLike, *, rows: Any, weight: float = 1.0, partners: int = 10
    ) -> Self:
        """Mark rows of one class as similar, and rows of two classes as dissimilar.

        Learners take `y` as it is. Marks can have a weight, and go where only marks do.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            The class of each row; -1, NaN or None where :ref:`unknown <unlabeled>`.
        rows : int, array-like of names, or table
            Which table the marks are about.
        weight : float, default=1.0
            How much each mark counts.
        partners : int, default=10
            Largest number of rows of its class, and of rows of other classes, that each row is
            paired with, as in ``from_groups``.

        Returns
        -------
        Marks

        Examples
        --------
        >>> from seraph import Marks
        >>> Marks.from_classes(["cat", "cat", "dog", None], rows=4, weight=0.5)
        Marks(4 rows: 1 similar, 2 dissimilar)
        """
        table = Rows.of(rows)
        return cls._of(table, *marks_of_classes(y, table, weight, partners))

    @classmethod
    def from_corrections(
        cls,
        before: ArrayLike,
        after: ArrayLike,
        *,
        rows: Any,
        kept_weight: float = 0.1,
        partners: int = 10,
    ) -> Self:
        """Mark what somebody has changed in a clustering.

        Rows that were put together are similar, rows that were taken apart are dissimilar. Rows
        that nobody has moved may be right, or nobody looked: that is weak evidence.

        Parameters
        ----------
        before, after : array-like of shape (n_rows,)
            The cluster of each row; -1, NaN or None if it is in none. Clusters need not keep
            their names. Two rows that are in none afterwards may be alike or not.
        rows : int, array-like of names, or table
            Which table the marks are about.
        kept_weight : float, default=0.1
            How much a pair counts that was left together or apart: labels of 0.9 and 0.1. With
            0, the learner sees the exceptions alone.
        partners : int, default=10
            Largest number of rows of each kind that a row is paired with, as in
            ``from_groups``. If few rows were moved, only these are paired with others.

        Returns
        -------
        Marks

        Examples
        --------
        The third row was moved from the first cluster to the second:

        >>> from seraph import Marks
        >>> marks = Marks.from_corrections([0, 0, 0, 1], [0, 0, 1, 1], rows=4, kept_weight=0)
        >>> marks.pairs.tolist(), marks.labels.tolist()
        ([[0, 2], [1, 2], [2, 3]], [0.0, 0.0, 1.0])
        """
        table = Rows.of(rows)
        return cls._of(table, *marks_of_corrections(before, after, table, kept_weight, partners))

    @classmethod
    def from_feedback(
        cls,
        query: ArrayLike,
        shown: ArrayLike,
        chosen: ArrayLike,
        *,
        rows: Any,
        skipped_weight: float = 0.1,
        triplets: int = 0,
    ) -> Self:
        """Read a log of searches: what was shown for a row, and what was chosen.

        A choice is a mark of 0.9. A row that was shown and not chosen gets a weak mark of 0.1; it
        may be good, or nobody looked. Choices of one row for one query add up. A sure mark of the
        same pair, such as a stated dislike, takes their place. Triplets say that the query is
        nearer to a row that was chosen for it than to one that never was.

        Parameters
        ----------
        query, shown : array-like of shape (n_lines,)
            Rows by name or number, one line for each row that was shown. A query that is not in
            the table needs a row of its own there. A row that is shown for itself is ignored.
        chosen : array-like of bool of shape (n_lines,)
            Whether the row that was shown was chosen.
        rows : int, array-like of names, or table
            Which table the marks are about. Lines with a name that is not there are left out and
            counted; a row number that is not there is refused.
        skipped_weight : float, default=0.1
            How much it counts that a row was not chosen. 0 for nothing.
        triplets : int, default=0
            Largest number of triplets of each chosen row. On searches among texts, marks alone
            ranked better (:doc:`/questions`).

        Returns
        -------
        Marks

        Examples
        --------
        >>> from seraph import Marks
        >>> marks = Marks.from_feedback([0, 0, 0], [4, 7, 9], [False, True, False], rows=10)
        >>> marks.pairs.tolist(), marks.labels.tolist(), marks.weights.tolist()
        ([[0, 4], [0, 7], [0, 9]], [0.1, 0.9, 0.1], [0.1, 1.0, 0.1])
        """
        table = Rows.of(rows)
        log = marks_of_feedback(query, shown, chosen, table, skipped_weight, triplets)
        return cls._of(table, *log)


publish(globals(), "seraph", ["Marks"])
