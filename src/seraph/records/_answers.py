"""Answers about pairs: the last one counts, and those that contradict others are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .. import Marks
from .._utils._typing import Array

_WRONG = 0.5  # an answer that is likelier wrong than right is suspicious


@dataclass(frozen=True)
class Answers:
    """Answered pairs, each once.

    Parameters
    ----------
    n : int
        Number of rows.
    pairs : ndarray of int of shape (k, 2)
        The pairs, smaller row first.
    same : ndarray of bool of shape (k,)
        The last answer of each.
    times : ndarray of int of shape (k,)
        How often it was answered.

    Examples
    --------
    >>> said = Answers.of(4, np.array([[0, 1], [2, 3], [1, 0]]), [True, True, False])
    >>> said.pairs.tolist(), said.same.tolist(), said.times.tolist()
    ([[0, 1], [2, 3]], [False, True], [2, 1])
    """

    n: int
    pairs: Array
    same: Array
    times: Array

    @classmethod
    def of(cls, n: int, rows: Array, answers: ArrayLike | None) -> Self:
        """Check answers about pairs of `n` rows."""
        given = np.asarray(answers)
        if given.dtype.kind in "iu":
            given = given > 0
        if given.shape != rows.shape[:1] or rows.shape[1:] != (2,):
            Marks(rows, given, rows=n)  # its error says what is wrong
        rows = np.sort(rows, axis=1)
        keys, last, times = np.unique(rows[::-1] @ [n, 1], return_index=True, return_counts=True)
        last = len(rows) - 1 - last
        marks = Marks(rows[last], given[last], rows=n)
        known = np.isin(keys, marks.pairs @ [n, 1])  # others were unsure
        return cls(n, marks.pairs, marks.similar, times[known])

    def labels(self, kept: Array) -> Marks:
        """Return some of the answers as marks."""
        return Marks(self.pairs[kept], self.same[kept], rows=self.n)

    def credible(self, true: Array) -> tuple[Array, Array]:
        """Return which answers to keep, and the places of the others, the oddest first.

        Those that are likelier wrong than right are left out, unless they were given twice. If a
        and b are the same, and b and c, then a and c are: of answers that contradict each other,
        the surest are kept.

        Parameters
        ----------
        true : ndarray of shape (k,)
            How likely each pair is the same, given its answer.
        """
        wrong = np.where(self.same, 1.0 - true, true) - (self.times > 1)
        kept = np.zeros(len(wrong), dtype=bool)
        group = {row: {row} for row in np.unique(self.pairs).tolist()}
        apart: list[tuple[int, int]] = []
        order = np.argsort(wrong, kind="stable")
        for place in order[wrong[order] <= _WRONG].tolist():
            i, j = self.pairs[place].tolist()
            together = group[i] | group[j]
            if self.same[place]:
                kept[place] = not any(a in together and b in together for a, b in apart)
                if kept[place]:
                    group.update(dict.fromkeys(together, together))
            elif group[i] is not group[j]:
                kept[place] = True
                apart.append((i, j))
        return kept, order[::-1][~kept[order[::-1]]]
