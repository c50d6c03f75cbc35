"""Which question comes next: from the model, at random, or for the test.

Whatever the number of rows, a choice looks at a sample of them, so it takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import sqrt

import numpy as np

from ... import Marks, query_pairs, query_rows
from ..._utils._typing import Array
from ._answers import Answer
from ._learning import Labels, Learning, distances_of

# Rows that a choice by the model looks at.
_ROWS = 600
# Pairs that a choice without a model looks at, and the share of them that counts as near.
_SAMPLE, _NEAR = 1000, 0.02
# Multiples of it, modulo 1, are spread evenly.
_GOLDEN = 0.5 * (sqrt(5.0) - 1.0)
# One question in so many is for the test. With fewer, sixty answers tell too little.
TEST_EVERY = 2
# If none of the first tests is the same, such pairs are rare, and tests prefer near ones.
FIRST_TESTS = 8
# Questions that one fit suggests.
POOL = 12


@dataclass(frozen=True)
class Question:
    """Rows to ask about."""

    rows: tuple[int, ...]  # two row numbers, smaller first, or one
    weight: float | None = None  # of the answer in the test; None for an answer to learn from
    again: bool = False  # it was asked before; the new answer takes the place of the old one

    @property
    def key(self) -> str:
        """Name of the question in requests."""
        return "-".join(map(str, self.rows))


Known = Collection[tuple[int, ...]]


class PairQuestions:
    """Questions about pairs of the `rows` that can be shown.

    `known` are always the rows of the questions that were asked before.
    """

    def __init__(self, learning: Learning, rows: Array, rng: np.random.Generator) -> None:
        self._learning = learning
        self._rows = rows
        self._rng = rng
        self._u = rng.random()
        self._near = False

    def test(self, known: Known, *, near: bool) -> Question | None:
        r"""Return a random pair; if `near`, one from a distribution that prefers near ones.

        With pairs ordered by their Euclidean distance, from 0 to 1, this takes the pair at u for a
        uniform u. The u of one test after the other are spread evenly. Where few pairs are the
        same, these are often near: it then takes the pair at :math:`u^2`. A pair at r has a
        density of :math:`1 / (2 \sqrt r)`, and its weight undoes that. None if nothing is left.
        """
        pairs, distances = self._sample()
        order = np.argsort(distances, kind="stable")
        for _ in range(20):
            self._u = (self._u + _GOLDEN) % 1.0
            place = int(_SAMPLE * (self._u**2 if near else self._u))
            pair = tuple(pairs[order[place]].tolist())
            if pair not in known:
                weight = round(2.0 * sqrt((place + 0.5) / _SAMPLE), 4) if near else 1.0
                return Question(pair, weight)
        return self._first((), known)

    def plain(self, known: Known) -> Question | None:
        """Return a random pair, every other time a near one."""
        pairs, distances = self._sample()
        self._near = not self._near
        if self._near:
            pairs = pairs[np.argsort(distances, kind="stable")[: int(_NEAR * _SAMPLE)]]
            pairs = self._rng.permutation(pairs)
        return self._first(map(tuple, pairs.tolist()), known)

    def chosen(self, answers: Sequence[Answer]) -> list[Question]:
        """Return the pairs that ``query_pairs`` chooses from a sample of the rows."""
        learners = getattr(self._learning.learner, "learners_", ())
        learner = next((one for _, one in learners if hasattr(one, "pair_proba")), None)
        if learner is None:  # SERAPH has learned nothing
            return []
        size = min(_ROWS, len(self._rows))
        rows = np.sort(self._rng.choice(self._rows, size, replace=False))
        place = {row: k for k, row in enumerate(rows.tolist())}
        known = (answer.rows for answer in answers)
        taken = [(place[i], place[j]) for i, j in known if i in place and j in place]
        marks = Marks(taken, np.ones(len(taken)), rows=len(rows))
        pairs = query_pairs(learner, self._learning.X[rows], min(POOL, size // 2), marks=marks)
        return [Question(tuple(pair)) for pair in np.sort(rows[pairs], axis=1).tolist()]

    def _sample(self) -> tuple[Array, Array]:
        """Sample pairs; return their rows, smaller first, and their Euclidean distances."""
        n = len(self._rows)
        first = self._rng.integers(n, size=_SAMPLE)
        second = (first + self._rng.integers(1, n, size=_SAMPLE)) % n
        pairs = np.sort(self._rows[np.column_stack([first, second])], axis=1)
        return pairs, distances_of(self._learning.X, pairs)

    def _first(self, pairs: Iterable[tuple[int, ...]], known: Known) -> Question | None:
        """Return the first of these pairs, or of all, that was not asked; None if all were."""
        every = chain(pairs, combinations(self._rows.tolist(), 2))
        return next((Question(pair) for pair in every if pair not in known), None)


class RowQuestions:
    """Questions about the class of single rows; see `PairQuestions` for the parameters."""

    def __init__(self, learning: Learning, rows: Array, rng: np.random.Generator) -> None:
        self._learning = learning
        self._rows = rows
        self._rng = rng

    def test(self, known: Known, *, near: bool) -> Question | None:  # noqa: ARG002
        """Return a random row."""
        free = self._free(known)
        return Question((int(self._rng.choice(free)),), 1.0) if len(free) else None

    def plain(self, known: Known) -> Question | None:
        """Return a random row."""
        question = self.test(known, near=False)
        return question and Question(question.rows)

    def chosen(self, answers: Sequence[Answer]) -> list[Question]:
        """Return the rows that ``query_rows`` chooses from a sample of the rows."""
        sample = self._free({answer.rows for answer in answers}, _ROWS)
        if len(sample) == 0:
            return []
        codes = Labels.of([a for a in answers if a.weight is None]).codes
        rows = np.concatenate([np.array(list(codes), dtype=np.intp), sample])
        y = np.full(len(rows), -1)
        y[: len(codes)] = list(codes.values())
        learner, n = self._learning.learner, min(POOL, len(sample))
        picked = query_rows(learner, self._learning.X[rows], n, y=y, random_state=0)
        return [Question((row,)) for row in rows[picked].tolist()]

    def _free(self, known: Known, most: int | None = None) -> Array:
        """Return the rows that were not asked about, in random order; at most this many."""
        asked = np.array([row for (row,) in known], dtype=np.intp)
        return self._rng.permutation(np.setdiff1d(self._rows, asked))[:most]
