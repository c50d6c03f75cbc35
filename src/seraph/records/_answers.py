"""Answers about pairs: the last one counts, and those that contradict others are set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from .. import Marks
from .._utils._typing import Array
from ..tables._words import is_missing

_WRONG = 0.5  # an answer that is likelier wrong than right is suspicious


@dataclass(frozen=True)
class Answers:
    """Answered pairs of `n` rows, each once, the smaller row first, and the last answer of each.

    Those are `confirmed` that were answered twice, "cannot tell" left aside.
    """

    n: int
    pairs: Array
    same: Array
    confirmed: Array

    @classmethod
    def of(cls, n: int, rows: ArrayLike, answers: ArrayLike | None) -> Self:
        """Check answers about pairs of `n` rows."""
        answered = np.asarray(answers)
        if answered.dtype.kind in "iu":
            answered = answered > 0
        sure = ~np.array([is_missing(answer) for answer in answered.ravel().tolist()], dtype=bool)
        pairs = np.sort(np.asarray(rows), axis=-1)
        Marks(pairs, np.where(sure, 1.0, np.nan).reshape(answered.shape), rows=n)  # checks both
        _, last, which = np.unique(pairs[::-1] @ [n, 1], return_index=True, return_inverse=True)
        last = len(pairs) - 1 - last
        marks = Marks(pairs[last], answered[last], rows=n)  # without the unsure ones
        times = np.bincount(which[::-1], sure, len(last))[sure[last]]
        return cls(n, marks.pairs, marks.similar, times > 1)

    def labels(self, kept: Array) -> Marks:
        """Return some of the answers as marks."""
        return Marks(self.pairs[kept], self.same[kept], rows=self.n)

    def credible(self, true: Array) -> tuple[Array, Array]:
        """Return which answers to keep, and the places of the others, the oddest first.

        Those that are likelier wrong than right are left out; `true` is how likely each pair is
        the same, given its answer. If a and b are the same, and b and c, then a and c are: of
        answers that contradict each other, the surest are kept.
        """
        wrong = np.where(self.same, 1.0 - true, true)
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
