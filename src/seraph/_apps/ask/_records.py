"""Records to ask about: only pairs of neighbors, since few other pairs are the same."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._utils._typing import Array, IntArray
from ...records._column_weights import ColumnWeights, block_gaps
from ._questions import DRAW, POOL, PairQuestions, Question, distances_of

# Pairs that a choice by the model looks at, and how many times as many as wanted are unsure.
_PAIRS, _UNSURE = 5000, 10


@dataclass(frozen=True)
class Records:
    """What sets records apart from other rows.

    Parameters
    ----------
    pairs : ndarray of int of shape (k, 2)
        Pairs of neighboring rows, smaller first.
    block_of : ndarray of int
        The column of the table that each feature belongs to.
    """

    pairs: IntArray
    block_of: IntArray

    def learner(self) -> ColumnWeights:
        """Return the learner of ``seraph duplicates``."""
        return ColumnWeights(self.block_of)


class RecordQuestions(PairQuestions):
    """Questions about neighboring records.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        All records, as vectors.
    rows : ndarray of int
        Rows that can be shown.
    rng : numpy Generator
        For the samples.
    records : Records
        Their neighbors.
    """

    def __init__(self, X: Array, rows: Array, rng: np.random.Generator, records: Records) -> None:
        super().__init__(X, rows, rng)
        self._block_of = records.block_of
        self._pairs = records.pairs[np.isin(records.pairs, rows).all(axis=1)]
        if len(self._pairs) == 0:
            raise ValueError("No two neighboring records can be shown: check --show.")

    def chosen(self, learner: Any, known: Collection[tuple[int, ...]]) -> list[Question]:
        """Return pairs of a sample that the learner is unsure of; no row is in two of them."""
        size = min(_PAIRS, len(self._pairs))
        sample = self._pairs[self._rng.choice(len(self._pairs), size, replace=False)]
        squared = block_gaps(self._X, sample, self._block_of) @ learner.weights_
        order = np.argsort(np.abs(learner.offset_ - squared), kind="stable")
        found: list[Question] = []
        used: set[int] = set()
        for pair in self._rng.permutation(sample[order[: _UNSURE * POOL]]).tolist():
            if tuple(pair) not in known and used.isdisjoint(pair) and len(found) < POOL:
                used.update(pair)
                found.append(Question(tuple(pair)))
        return found

    def _draw(self) -> tuple[Array, Array]:
        """Sample pairs of neighbors; return their rows and Euclidean distances."""
        pairs = self._pairs[self._rng.integers(len(self._pairs), size=DRAW)]
        return pairs, distances_of(self._X, pairs)

    def _any(self, known: Collection[tuple[int, ...]]) -> Question | None:
        """Return the first pair of neighbors that was not asked; None if all were."""
        for pair in self._pairs.tolist():
            if tuple(pair) not in known:
                return Question(tuple(pair))
        return None
