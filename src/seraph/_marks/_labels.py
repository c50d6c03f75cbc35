"""What is known about the pairs of rows, from class labels, marked pairs and triplets.

Class labels imply a label for every pair of labeled rows. These pairs are never listed; the
class codes stand for them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array
from .._utils._validation import shown
from ._classes import number_classes, read_classes, warn_of_signs
from ._marks import EVEN, Marks
from ._merge import cut
from ._rows import Rows


@dataclass(frozen=True)
class PairLabels:
    """Validated labels of the pairs of `n` rows, and triplets of rows.

    Examples
    --------
    >>> marks = Marks([[3, 4]], [-1], rows=5)
    >>> labels = PairLabels.make(5, ["a", "a", "b", None, None], marks)
    >>> labels.n_similar, labels.n_dissimilar, labels.n_unlabeled
    (1, 3, 6)
    """

    codes: Array  # class code of each row; -1 for an unknown class
    pairs: Array  # those that are marked and not implied, each once, smaller row number first
    likeness: Array  # how likely each of them is similar: 1 or 0 where the mark is sure
    weights: Array  # above 0
    represents: Array  # how many random pairs each of them stands for
    triplets: Array  # rows a, b and c: a is nearer to b than to c
    n_absent_marks: int = 0  # left out, because a row of theirs is absent

    @property
    def similar(self) -> Array:
        """Which of the marked pairs are similar, or lean to it."""
        return self.likeness >= EVEN

    @cached_property
    def implied(self) -> tuple[int, int]:
        """Numbers of pairs that the classes imply: similar ones, and dissimilar ones."""
        sizes = np.bincount(self.codes[self.codes >= 0]).tolist()
        similar = sum(size * (size - 1) // 2 for size in sizes)
        return similar, sum(sizes) * (sum(sizes) - 1) // 2 - similar

    @property
    def n_similar(self) -> int:
        """Number of similar pairs, #S; an uncertain mark counts as its more probable kind."""
        return self.implied[0] + int(np.count_nonzero(self.similar))

    @property
    def n_dissimilar(self) -> int:
        """Number of dissimilar pairs, #D."""
        return self.implied[1] + int(np.count_nonzero(~self.similar))

    @property
    def n_labeled(self) -> int:
        """Number of labeled pairs, #(S u D)."""
        return self.n_similar + self.n_dissimilar

    @property
    def n_unlabeled(self) -> int:
        """Number of all other pairs, #U."""
        n = len(self.codes)
        return n * (n - 1) // 2 - self.n_labeled

    @property
    def similar_weight(self) -> float:
        """Total weight of what pulls points together.

        A mark of weight w and likeness q adds w q; a pair of one class and a triplet add 1.
        """
        return self.implied[0] + float(self.weights @ self.likeness) + len(self.triplets)

    @property
    def dissimilar_weight(self) -> float:
        """Total weight of what moves points apart; a mark adds w (1 - q)."""
        return self.implied[1] + float(self.weights @ (1.0 - self.likeness)) + len(self.triplets)

    @property
    def labeled_weight(self) -> float:
        """Total weight of the labeled pairs and the triplets."""
        return self.similar_weight + self.dissimilar_weight - len(self.triplets)

    @cached_property
    def _strongest(self) -> Array:
        """Weight of the strongest mark of each row; that of classes and of triplets is 1."""
        has_class = (self.codes >= 0) & any(self.implied)
        strongest = has_class.astype(float)
        np.maximum.at(strongest, self.pairs, self.weights[:, np.newaxis])
        strongest[self.triplets] = np.maximum(strongest[self.triplets], 1.0)
        return strongest

    @property
    def is_labeled(self) -> Array:
        """Which rows belong to some labeled pair or triplet."""
        return self._strongest > 0.0

    @property
    def n_labeled_rows(self) -> int:
        """Number of rows that belong to some labeled pair or triplet."""
        return int(np.count_nonzero(self.is_labeled))

    @property
    def effective_rows(self) -> float:
        """The same number, with each row weighted by its strongest mark."""
        return effective_size(self._strongest)

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
        marks: Marks | None = None,
        *,
        required: bool = True,
    ) -> PairLabels:
        """Check class labels, and merge them with the marks of `n` rows.

        A pair whose rows both have a class is settled by their classes, and marks of it are
        dropped. If `required`, labels that leave nothing to learn from are refused.
        """
        if required and y is None and marks is None:
            raise ValueError(
                "There is nothing to learn from: this method requires y to be passed, but the "
                "target y is None, and so is marks. Pass class labels as y (-1 where unknown), "
                "or marks=seraph.Marks(pairs, labels, rows=X)."
            )
        codes = np.full(n, -1, dtype=np.intp)
        if y is not None:
            classes, known = read_classes(y, n)
            warn_of_signs(classes, known)
            codes = number_classes(classes, known)
        if marks is None:
            none = np.empty((0, 3), dtype=np.intp)
            empty = np.empty(0)
            labels = cls(codes, none[:, :2], empty, empty, empty, none)
        else:
            labels = cls(codes, *_without_implied(marks, codes), marks.triplets, marks.n_absent)
        if required and labels.n_labeled + len(labels.triplets) == 0:
            raise ValueError(
                f"No labeled pair: y labels {np.count_nonzero(codes >= 0)} of {n} rows, and no "
                "pair is marked. Label at least two rows, or mark at least one pair. (A mark that "
                "is unsure or has a weight of 0 does not count. If cross-validation has torn the "
                "pairs apart, pass cv=seraph.MarksKFold().)"
            )
        return labels

    @classmethod
    def of(
        cls,
        X: Any,
        n: int,
        y: ArrayLike | Marks | None = None,
        marks: Marks | None = None,
        *,
        required: bool = True,
    ) -> PairLabels:
        """Do the same for marks as the user gave them, of the `n` rows of `X`.

        Where scikit-learn passes only X and y, marks may take the place of y.
        """
        y, aligned = aligned_marks(X, n, y, marks)
        return cls.make(n, y, aligned, required=required)

    def among(self, rows: Array) -> PairLabels:
        """Return the labels of some rows alone, in their order."""
        codes = self.codes[rows]
        pairs, which = cut(self.pairs, rows, len(self.codes))
        pairs = np.sort(pairs, axis=1)
        order = np.lexsort(pairs.T[::-1])
        triplets, _ = cut(self.triplets, rows, len(self.codes))
        return PairLabels(
            number_classes(codes, codes >= 0),
            pairs[order],
            self.likeness[which[order]],
            self.weights[which[order]],
            self.represents[which[order]],
            triplets[np.lexsort(triplets.T[::-1])],
        )

    def sure(self, *, triplets: bool) -> PairLabels:
        """Return the labels without unsure pairs or weights, and with or without triplets."""
        kept = (self.likeness == 0.0) | (self.likeness == 1.0)
        return replace(
            self,
            pairs=self.pairs[kept],
            likeness=self.likeness[kept],
            weights=np.ones(np.count_nonzero(kept)),
            represents=self.represents[kept],
            triplets=self.triplets if triplets else self.triplets[:0],
        )

    def listed(self, most: int) -> tuple[Array, Array, Array]:
        """List pairs of known classes, a sample of `most` if there are more, and all marked ones.

        Returns row numbers, how likely each pair is similar, and its weight.
        """
        rows = np.flatnonzero(self.codes >= 0)
        n = len(rows)
        if n * (n - 1) // 2 <= most:
            i, j = np.triu_indices(n, k=1)
        else:
            rng = np.random.default_rng(0)
            i, j = rng.integers(n, size=most), rng.integers(n - 1, size=most)
            j += j >= i
        implied = np.column_stack([rows[i], rows[j]])
        same = self.codes[implied[:, 0]] == self.codes[implied[:, 1]]
        return (
            np.concatenate([implied, self.pairs]),
            np.concatenate([same, self.likeness]),
            np.concatenate([np.ones(len(implied)), self.weights]),
        )

    @property
    def marks(self) -> Marks:
        """The marks that the classes do not imply."""
        parts = self.pairs, self.likeness, self.weights, self.represents, self.triplets
        return Marks._of(Rows(len(self.codes)), *parts)  # noqa: SLF001 (they are checked)


def aligned_marks(
    X: Any, n: int, y: ArrayLike | Marks | None, marks: Marks | None
) -> tuple[ArrayLike | None, Marks | None]:
    """Return class labels, and marks by number of the `n` rows of `X`, from whichever came."""
    if isinstance(y, Marks):
        if marks is not None:
            raise ValueError("Marks were passed as y and as marks: pass them once.")
        y, marks = None, y
    if marks is not None and not isinstance(marks, Marks):
        raise TypeError(
            "marks must be a seraph.Marks, which knows the rows it is about: "
            f"marks=seraph.Marks(pairs, labels, rows=X); got {shown(marks)}."
        )
    return y, None if marks is None else marks.align(X, n)


def effective_size(weights: Array) -> float:
    """Return Kish's effective sample size, ``(sum w)^2 / sum w^2``; 0 without weights."""
    if not weights.any():
        return 0.0
    shares = weights / weights.max()
    return float(shares.sum() ** 2 / (shares @ shares))


def _without_implied(marks: Marks, codes: Array) -> tuple[Array, Array, Array, Array]:
    """Drop marked pairs that the class labels imply, and refuse those that contradict them."""
    first, second = codes[marks.pairs[:, 0]], codes[marks.pairs[:, 1]]
    left = (first < 0) | (second < 0)
    clash = ~left & (marks.labels == np.where(first == second, 0.0, 1.0))
    if clash.any():
        at = int(np.flatnonzero(clash)[0])
        i, j = marks.pairs[at].tolist()
        marked, said = ("similar", "different") if marks.labels[at] else ("dissimilar", "the same")
        raise ValueError(
            f"The pair ({i}, {j}) is marked {marked}, but y gives its rows {said} "
            "class(es). Correct one of the two."
        )
    return marks.pairs[left], marks.labels[left], marks.weights[left], marks.represents[left]
