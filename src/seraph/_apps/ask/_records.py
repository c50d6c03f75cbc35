"""Records to ask about: only pairs of neighbors, since few other pairs are the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.decomposition import TruncatedSVD

from ..._utils._questions import open_questions, without_repeats
from ..._utils._typing import Array, IntArray
from ...records import DuplicateFinder
from ._questions import DRAW, POOL, Codes, Known, PairQuestions, Question

# Pairs that a choice by the model looks at.
_PAIRS = 5000
_PLANE = 8  # dimensions that the map of the records is made from


@dataclass(frozen=True)
class Records:
    """What sets records apart from other rows: a finder that is fitted to them."""

    finder: DuplicateFinder

    @property
    def pairs(self) -> IntArray:
        """Pairs of neighboring rows, smaller first; those of a second table come last."""
        pairs: IntArray = self.finder.pairs_
        return pairs

    @property
    def n_first(self) -> int | None:
        """Rows of the first of two tables; None if there is only one."""
        return self.finder.n_ if self.finder.links_ else None

    def points(self) -> Array:
        """Return the records as points, for the map of them."""
        vectors = self.finder.similarities_.vectors
        size = max(1, min(_PLANE, min(vectors.shape) - 1))
        return np.asarray(TruncatedSVD(size, random_state=0).fit_transform(vectors))

    def learned(self, pairs: IntArray, same: Array) -> Any:
        """Return the model of ``seraph duplicates``, learned from answers."""
        finder = self.finder
        return finder.prior_.learned(finder.similarities_(pairs), same, finder.features_)

    def suspicious(self, pairs: IntArray, same: Array) -> IntArray:
        """Return the pairs whose answers ``seraph duplicates`` sets aside, the oddest first."""
        below = np.array([0, self.n_first or 0])
        return self.finder.suspicious(pairs - below, same) + below

    def distances(self, model: Any, pairs: IntArray) -> tuple[Array, Array]:
        """Return how unlike pairs are, by the model and by the letters of the whole records."""
        similarities = self.finder.similarities_
        return -model.margins(similarities(pairs)), 1.0 - similarities.score(pairs)


class RecordQuestions(PairQuestions):
    """Questions about neighboring records; see `Questions` for the other parameters."""

    def __init__(self, X: Array, rows: Array, rng: np.random.Generator, records: Records) -> None:
        super().__init__(X, rows, rng)
        self._score = records.finder.similarities_.score
        shown = np.isin(records.pairs, rows).all(axis=1)
        self._pairs, self._features = records.pairs[shown], records.finder.features_[shown]
        if len(self._pairs) == 0:
            raise ValueError("No two neighboring records can be shown: check --show.")

    def chosen(self, learner: Any, known: Known, codes: Codes) -> list[Question]:  # noqa: ARG002
        """Return pairs that the answers leave open; no row is in two of them."""
        size = min(_PAIRS, len(self._pairs))
        sample = self._rng.choice(len(self._pairs), size, replace=False)
        order = sample[
            open_questions(expit(learner.margins(self._features[sample])), POOL, self._rng)
        ]
        new = [pair for pair in self._pairs[order].tolist() if tuple(pair) not in known]
        pairs = without_repeats(np.array(new, dtype=np.intp).reshape(-1, 2), POOL)
        return [Question(tuple(pair)) for pair in pairs.tolist()]

    def _draw(self) -> tuple[Array, Array]:
        """Sample pairs of neighbors; return their rows and how unlike they are."""
        pairs = self._pairs[self._rng.integers(len(self._pairs), size=DRAW)]
        return pairs, 1.0 - self._score(pairs)

    def _all(self) -> Iterator[tuple[int, ...]]:
        """Yield all pairs of neighbors."""
        yield from map(tuple, self._pairs.tolist())
