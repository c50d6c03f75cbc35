"""Which question comes next: from the model, at random, or for the test.

Whatever the number of rows, a choice looks at a sample of them, so it takes milliseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from math import sqrt
from typing import Any

import numpy as np
from sklearn.metrics import pairwise_distances_argmin_min

from ... import Marks, query_pairs, query_rows
from ..._utils._typing import Array

# Rows that a choice by the model looks at.
_ROWS = 600
# Pairs that a choice without a model looks at, and the share of them that counts as near.
DRAW, _NEAR = 1000, 0.02
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
    """Rows to ask about.

    Parameters
    ----------
    rows : tuple of int
        Two row numbers, smaller first, or one.
    weight : float or None
        Weight of the answer in the test; None for an answer to learn from.
    again : bool
        Whether it was asked before; the new answer takes the place of the old one.
    """

    rows: tuple[int, ...]
    weight: float | None = None
    again: bool = False

    @property
    def key(self) -> str:
        """Name of the question in requests."""
        return "-".join(map(str, self.rows))


Known = Collection[tuple[int, ...]]
Codes = Mapping[int, int]


class Questions(ABC):
    """A way to choose questions. `known` are the rows of questions that were asked.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        All points.
    rows : ndarray of int
        Rows that can be shown.
    rng : numpy Generator
        For the samples.
    """

    def __init__(self, X: Array, rows: Array, rng: np.random.Generator) -> None:
        self._X = X
        self._rows = rows
        self._rng = rng

    @abstractmethod
    def test(self, known: Known, *, near: bool) -> Question | None:
        """Return a question for the test, a `near` pair if wanted; None if there is none left."""

    @abstractmethod
    def plain(self, known: Known) -> Question | None:
        """Return a question without a model; None if there is none left."""

    @abstractmethod
    def chosen(self, learner: Any, known: Known, codes: Codes) -> list[Question]:
        """Return the questions that a fitted learner would ask, the best first.

        `codes` are the class codes of the rows that it has learned from, if rows are named.
        """


class PairQuestions(Questions):
    """Questions about pairs; see `Questions` for the parameters."""

    def __init__(self, X: Array, rows: Array, rng: np.random.Generator) -> None:
        super().__init__(X, rows, rng)
        self._u = rng.random()
        self._near = False

    def test(self, known: Known, *, near: bool) -> Question | None:
        r"""Return a random pair; if `near`, one from a distribution that prefers near ones.

        With pairs ordered by their Euclidean distance, from 0 to 1, this takes the pair at u for a
        uniform u. The u of one test after the other are spread evenly, so that few tests have
        pairs of all kinds of distances. Where few pairs are the same, these are often near: it
        then takes the pair at :math:`u^2`. A pair at r has a density of
        :math:`1 / (2 \sqrt r)`, and its weight undoes that.
        """
        pairs, distances = self._draw()
        order = np.argsort(distances, kind="stable")
        for _ in range(20):
            self._u = (self._u + _GOLDEN) % 1.0
            place = int(DRAW * (self._u**2 if near else self._u))
            pair = tuple(pairs[order[place]].tolist())
            if pair not in known:
                weight = round(2.0 * sqrt((place + 0.5) / DRAW), 4) if near else 1.0
                return Question(pair, weight)
        return self._first((), known)

    def plain(self, known: Known) -> Question | None:
        """Return a random pair, every other time a near one."""
        pairs, distances = self._draw()
        self._near = not self._near
        if self._near:
            pairs = pairs[np.argsort(distances, kind="stable")[: int(_NEAR * DRAW)]]
            pairs = self._rng.permutation(pairs)
        return self._first(map(tuple, pairs.tolist()), known)

    def chosen(self, learner: Any, known: Known, codes: Codes) -> list[Question]:  # noqa: ARG002
        """Return the pairs that ``query_pairs`` chooses from a sample of the rows."""
        learner = posterior_learner(learner)
        if learner is None:  # SERAPH has learned nothing
            return []
        size = min(_ROWS, len(self._rows))
        rows = np.sort(self._rng.choice(self._rows, size, replace=False))
        place = {row: k for k, row in enumerate(rows.tolist())}
        taken = [(place[i], place[j]) for i, j in known if i in place and j in place]
        marks = Marks(taken, np.ones(len(taken)), rows=len(rows))
        found = query_pairs(learner, self._X[rows], min(POOL, size // 2), marks=marks)
        return [Question(tuple(pair)) for pair in np.sort(rows[found], axis=1).tolist()]

    def _draw(self) -> tuple[Array, Array]:
        """Sample pairs; return their rows, smaller first, and their Euclidean distances."""
        n = len(self._rows)
        first = self._rng.integers(n, size=DRAW)
        second = (first + self._rng.integers(1, n, size=DRAW)) % n
        pairs = np.sort(self._rows[np.column_stack([first, second])], axis=1)
        return pairs, distances_of(self._X, pairs)

    def _all(self) -> Iterator[tuple[int, ...]]:
        """Yield all pairs that may be asked about; none are listed before one is needed."""
        yield from combinations(self._rows.tolist(), 2)

    def _first(self, pairs: Iterable[tuple[int, ...]], known: Known) -> Question | None:
        """Return the first of some pairs, or of all, that was not asked; None if all were."""
        new = (pair for pair in chain(pairs, self._all()) if pair not in known)
        return next(map(Question, new), None)


class RowQuestions(Questions):
    """Questions about the class of single rows; see `Questions` for the parameters."""

    def test(self, known: Known, *, near: bool) -> Question | None:  # noqa: ARG002
        """Return a random row."""
        free = self._free(known)
        return Question((int(self._rng.choice(free)),), 1.0) if len(free) else None

    def plain(self, known: Known) -> Question | None:
        """Return the row of a sample that is farthest from those asked about."""
        free = self._free(known)
        if len(free) == 0:
            return None
        sample = self._rng.choice(free, min(_ROWS, len(free)), replace=False)
        asked = np.array([row for (row,) in known], dtype=np.intp)
        if len(asked) == 0:
            return Question((int(sample[0]),))
        _, nearest = pairwise_distances_argmin_min(self._X[sample], self._X[asked])
        return Question((int(sample[np.argmax(nearest)]),))

    def chosen(self, learner: Any, known: Known, codes: Codes) -> list[Question]:
        """Return the rows that ``query_rows`` chooses from a sample of the rows."""
        free = self._free(known)
        if len(free) == 0:
            return []
        sample = self._rng.choice(free, min(_ROWS, len(free)), replace=False)
        rows = np.concatenate([np.array(list(codes), dtype=np.intp), sample])
        y = np.full(len(rows), -1)
        y[: len(codes)] = list(codes.values())
        picked = query_rows(learner, self._X[rows], min(POOL, len(sample)), y=y, random_state=0)
        return [Question((row,)) for row in rows[picked].tolist()]

    def _free(self, known: Known) -> Array:
        asked = np.array([row for (row,) in known], dtype=np.intp)
        return self._rows[~np.isin(self._rows, asked)]


def posterior_learner(learner: Any) -> Any:
    """Return the learner that gives probabilities of pairs: itself, or the SERAPH in a mean.

    None if there is none.
    """
    learners = [learner, *(member for _, member in getattr(learner, "learners_", ()))]
    return next((one for one in learners if hasattr(one, "pair_proba")), None)


def distances_of(Z: Array, pairs: Array) -> Array:
    """Return the Euclidean distances of pairs of rows of `Z`."""
    return np.linalg.norm(Z[pairs[:, 0]] - Z[pairs[:, 1]], axis=1).astype(np.float64)
