"""Marks: what people know about pairs of rows, cut together with the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._public import publish
from .._utils._typing import Array
from .._utils._validation import check_number
from ._classes import number_classes, read_classes
from ._groups import pairs_within
from ._merge import chosen_rows, cut, merge_marks
from ._read import read_pairs, read_triplets, report_absent
from ._rows import Rows, is_frame
from ._screens import pairs_of_screens
from ._tables import marks_table, read_table

if TYPE_CHECKING:
    import pandas as pd

# A label that leans to neither side; it counts as similar.
EVEN = 0.5
_PARTS = ("pairs", "labels", "weights", "represents", "triplets")


class Marks:
    """Pairs of rows that are alike or not: pairwise constraints, as the literature calls them.

    Marks are about the rows of a table, as class labels are, and scikit-learn cuts them together
    with it: their length is the number of *rows*, and ``marks[rows]`` has the marks among those
    rows. In cross-validation they take the place of y, with folds that keep pairs whole:
    ``cross_validate(SERAPH(), X, marks, cv=MarksKFold())``.

    Marks do not change. Several marks of one pair add up: their weights are summed, and their
    labels averaged. A pair that is marked both similar and dissimilar is refused.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2), optional
        Pairs of rows: row numbers; or names, if `rows` has them.
    labels : array-like of shape (n_pairs,), optional
        +1 or True for pairs that are alike, -1 or False for pairs that are not; or how likely
        each pair is alike, from 0 to 1. Pairs with NaN, None or pandas.NA are left out.
    weights : array-like of shape (n_pairs,), optional
        How much each mark counts: a weight of 2 is a mark given twice, and 0 leaves it out.
    represents : array-like of shape (n_pairs,), optional
        How many random pairs each mark stands for, if the pairs are no random sample: 0 for none.
        The report of a :class:`seraph.PairClassifier` counts pairs so, and targets of precision
        or recall; learning does not.
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
    represents : ndarray of shape (n_pairs,)
        How many random pairs each mark stands for.
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
    >>> Marks([["bob", "ann"], ["ann", "eve"]], [1, -1], rows=table).pairs.tolist()
    [[0, 1], [0, 2]]

    Each fold of a cross-validation gets its own marks:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from seraph import SERAPH, MarksKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> pairs = np.random.default_rng(0).permutation(150).reshape(-1, 2)
    >>> marks = Marks(pairs, y[pairs[:, 0]] == y[pairs[:, 1]], rows=X)
    >>> scores = cross_validate(SERAPH(), X, marks, cv=MarksKFold())["test_score"]
    >>> bool((scores > 0.8).all())
    True
    """

    __hash__ = None  # type: ignore[assignment]
    __iter__ = None  # a single row has no marks

    pairs: Array
    labels: Array
    weights: Array
    represents: Array
    triplets: Array
    n_absent: int
    _rows: Rows
    _unmerged: tuple[Array, Array, Array, Array]  # pairs, labels, weights and represents

    def __init__(
        self,
        pairs: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        *,
        weights: ArrayLike | None = None,
        represents: ArrayLike | None = None,
        triplets: ArrayLike | None = None,
        rows: Any,
    ) -> None:
        table = Rows.of(rows)
        *parts, n_absent = read_pairs(table, pairs, labels, weights, represents)
        triplets_, n_more = read_triplets(table, triplets)
        self._set(table, *parts, triplets_, n_absent + n_more)

    def _set(self, rows: Rows, *parts: Any) -> Self:
        """Set all attributes; marks in a fixed order, so that equal marks have equal arrays.

        The marks of a pair are kept one by one, so that it does not matter when others are added.
        """
        pairs, labels, weights, represents, triplets, *absent = parts
        pairs = np.sort(pairs, axis=1)
        order = np.lexsort((represents, weights, labels, *pairs.T[::-1]))
        unmerged = pairs[order], labels[order], weights[order], represents[order]
        triplets = triplets[np.lexsort(triplets.T[::-1])]
        merged = zip(_PARTS, (*merge_marks(*unmerged, rows), triplets), strict=True)
        values = dict(merged) | {"_rows": rows, "_unmerged": unmerged, "n_absent": sum(absent)}
        for array in (*(values[name] for name in _PARTS), rows.names):
            if array is not None:
                array.setflags(write=False)
        for name, value in values.items():
            object.__setattr__(self, name, value)
        return self

    @classmethod
    def _of(cls, *parts: Any) -> Self:
        marks = cls.__new__(cls)
        return marks._set(*parts)  # noqa: SLF001 (its own class)

    def __reduce__(self) -> tuple[Any, ...]:
        return Marks._of, (self._rows, *self._unmerged, self.triplets, self.n_absent)

    def __setattr__(self, name: str, value: object = None) -> None:
        raise AttributeError(f"Marks do not change: make new ones instead of setting {name}.")

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
        text += f", {self.n_absent:,} absent" if self.n_absent else ""
        return f"Marks({len(self):,} rows: {text})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Marks):
            return NotImplemented
        return self._same_rows(other) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in _PARTS
        )

    def _same_rows(self, other: Marks) -> bool:
        mine, others = (np.asarray(marks.names) for marks in (self, other))
        return len(self) == len(other) and np.array_equal(mine, others)

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
        pairs, *values = self._unmerged
        pairs, which = cut(pairs, rows, len(self))
        triplets, _ = cut(self.triplets, rows, len(self))
        names = self.names
        if names is not None:
            names = names[rows] if len(np.unique(rows)) == len(rows) else None
        taken = Rows(len(rows), names, self._rows.source)
        return self._of(taken, pairs, *(column[which] for column in values), triplets)

    def __add__(self, other: Marks) -> Self:
        """Merge with other marks of the same rows."""
        if not isinstance(other, Marks):
            return NotImplemented
        if not self._same_rows(other):
            ways = ["by number" if marks.names is None else "by name" for marks in (self, other)]
            raise ValueError(
                f"Only marks about the same rows can be added; got {self} and {other}, {ways[0]} "
                f"and {ways[1]}. Make both with the same rows."
            )
        both = zip(
            (*self._unmerged, self.triplets), (*other._unmerged, other.triplets), strict=True
        )
        return self._of(self._rows, *map(np.concatenate, both), self.n_absent + other.n_absent)

    def align(self, X: Any, n: int) -> Marks:
        """Return the marks among the rows of a table, with the row numbers of that table.

        `n_absent` counts those whose rows the table does not have.

        Parameters
        ----------
        X : table
            The table. If it is a DataFrame and the marks are by name, its index decides;
            otherwise the marks follow the order of the rows, as class labels do.
        n : int
            Its number of rows.

        Examples
        --------
        >>> import pandas as pd
        >>> from seraph import Marks
        >>> marks = Marks([["a", "b"]], [1], rows=["a", "b", "c"])
        >>> marks.align(pd.DataFrame({"x": [1.0, 2.0]}, index=["b", "a"]), 2)
        Marks(2 rows: 1 similar, 0 dissimilar)
        """
        names = self.names
        if names is None or not is_frame(X):
            if len(self) == n and names is None:
                return self
            if len(self) == n:
                return self._of(Rows(n), *self._unmerged, self.triplets, self.n_absent)
            raise ValueError(
                f"marks are about {len(self)} rows, but X has {n}. Pass the table that they are "
                "about, or cut the marks as you cut the table: marks[rows]. (Marks by name find "
                "their rows in a DataFrame that has some of them.)"
            )
        rows = Rows.of(X)
        place = rows.numbers(names[:, np.newaxis], "rows", 1)[:, 0]
        pairs, *values = self._unmerged
        pairs, triplets = place[pairs], place[self.triplets]
        kept, kept_triplets = np.all(pairs >= 0, axis=1), np.all(triplets >= 0, axis=1)
        absent = int((~kept).sum() + (~kept_triplets).sum())
        if absent:
            report_absent(names[np.flatnonzero(place < 0)], absent, len(pairs) + len(triplets))
        present = *(column[kept] for column in (pairs, *values)), triplets[kept_triplets]
        return self._of(Rows(rows.n), *present, self.n_absent + absent)

    def to_frame(self) -> pd.DataFrame:
        """Return the marks as a table, as ``seraph fit --pairs`` reads it.

        It has columns i and j, numbers of rows, and similar; weight and represents if they differ
        from 1; than if there are triplets, "i is nearer to j than to than"; and id_i, id_j and
        id_than if rows have names, which then decide.

        Examples
        --------
        >>> from seraph import Marks
        >>> Marks([["b", "a"]], [True], rows=["a", "b"]).to_frame()
           i  j  similar id_i id_j
        0  0  1        1    a    b
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
            and j if `rows` has names. There may be columns weight, represents, and than (or
            id_than). Lines with a screen count as in `from_screens`: chance is that of a row to
            be shown with the first one, and empty for other pairs. More columns are ignored.
        rows : int, array-like of names, or table
            Which table the marks are about.

        Examples
        --------
        >>> from seraph import Marks
        >>> Marks.from_frame({"i": [0, 1], "j": [1, 2], "similar": ["yes", ""]}, rows=3)
        Marks(3 rows: 1 similar, 0 dissimilar)
        """
        return cls(**read_table(frame, by_name=Rows.of(rows).names is not None), rows=rows)

    @classmethod
    def from_groups(
        cls, groups: ArrayLike, label: float, *, rows: Any, weight: float = 1.0, partners: int = 10
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
            All pairs are marked in groups of up to ``2 * partners + 1`` rows. In larger ones each
            row is in ``2 * partners`` pairs, spread evenly: n rows have ``n * partners`` marks.

        Examples
        --------
        Two faces in one photo are hardly ever the same person, but there are mirrors:

        >>> from seraph import Marks
        >>> photo = ["beach", "beach", "beach", "party", "party", None]
        >>> Marks.from_groups(photo, 0.05, rows=6)
        Marks(6 rows: 0 similar, 4 dissimilar)
        """
        check_number("label", label, low=-1.0, high=1.0)
        table = Rows.of(rows)
        pairs = pairs_within(number_classes(*read_classes(groups, table.n, "groups")), partners)
        labels, weights = np.full(len(pairs), label), np.full(len(pairs), weight)
        marks = cls(pairs, labels, weights=weights, rows=table.n)
        return cls._of(table, *marks._unmerged, marks.triplets)

    @classmethod
    def from_screens(
        cls, screens: Any, answers: ArrayLike, *, rows: Any, chances: ArrayLike | None = None
    ) -> Self:
        """Mark the pairs of screens of rows, as :func:`seraph.query_screens` chooses them.

        Only rows of one screen are marked with each other. A pair that was answered several times
        is what most of its answers say; if they are even, it is not marked.

        Parameters
        ----------
        screens : array-like of shape (n_screens, size)
            Rows of each screen, by name or number.
        answers : array-like of shape (n_screens, size) or (n_screens, size - 1)
            A group for each row, with equal codes or names for rows of a screen that are the
            same; or for each row but the first whether it is like the first: 1 or 0. -1, NaN or
            None where the person was unsure.
        rows : int, array-like of names, or table
            Which table the marks are about. Screens with a name that is not there are left out
            and counted.
        chances : array-like of shape (n_screens, size - 1), optional
            The chance of each row to be shown with the first one, as ``query_screens`` returned
            them. By these, the pairs of first rows represent random pairs, and the other pairs
            none: so the report of a :class:`seraph.PairClassifier` holds for random pairs.

        Examples
        --------
        Rows 7 and 2 are like row 3, and row 9 is not:

        >>> from seraph import Marks
        >>> Marks.from_screens([[3, 7, 9, 2]], [[1, 0, 1]], rows=10)
        Marks(10 rows: 3 similar, 3 dissimilar)

        The same rows sorted into groups; nobody knows about row 2:

        >>> Marks.from_screens([[3, 7, 9, 2]], [["cat", "cat", "dog", None]], rows=10)
        Marks(10 rows: 1 similar, 2 dissimilar)
        """
        table = Rows.of(rows)
        pairs, similar, represents, absent = pairs_of_screens(table, screens, answers, chances)
        none = np.empty((0, 3), dtype=np.intp)
        return cls._of(table, pairs, similar, np.ones(len(pairs)), represents, none, absent)


publish(globals(), "seraph", ["Marks"])
