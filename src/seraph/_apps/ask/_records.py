"""Records that may describe the same thing: what ``seraph duplicates`` asks and finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..._utils._typing import Array, BoolArray, IntArray
from ...records import DuplicateFinder, Duplicates
from ._answers import Answer, Place
from ._learning import Advice, interval_of
from ._screens import Asked, Question

# Pairs that are chosen at a time.
_POOL = 20
# A range of the recall that is no wider than this is narrow.
_NARROW = 0.1


@dataclass(frozen=True)
class Records:
    """A finder that is fitted to the records of one table, or of two."""

    finder: DuplicateFinder
    n_first: int | None = None  # rows of the first of two tables; those of the second come after

    @property
    def below(self) -> IntArray:
        """Rows before those of each end of a pair."""
        return np.array([0, self.n_first or 0])

    def answers(self, answers: Sequence[Answer]) -> tuple[IntArray, BoolArray]:
        """Return pairs and answers as the finder takes them, each as often as it was given."""
        known = [a for a in answers if a.value is not None for _ in range(a.times)]
        pairs = np.array([a.rows for a in known], dtype=np.intp).reshape(-1, 2)
        return pairs - self.below, np.array([a.value for a in known], dtype=bool)


class RecordLearning:
    """The questions of ``seraph duplicates --ask``, and what the answers tell."""

    def __init__(self, records: Records, rows: Array, rng: np.random.Generator) -> None:
        self._records = records
        self._rng = rng
        self._rows = set(rows.tolist())  # that can be shown
        candidates = records.finder.candidates() + records.below
        self._rest = [pair for pair in map(tuple, candidates.tolist()) if self._rows >= {*pair}]
        if not self._rest:
            raise ValueError("No two neighboring records can be shown: check --show.")
        self._kinds: set[bool | str | None] = set()
        self._past: list[tuple[int, Duplicates]] = []
        self._spread = self._pool = self.chosen([])

    def question(self, known: Asked) -> Question | None:
        """Return a pair that has no answer, one that the finder would ask about first.

        Before anything is learned, these are spread over all similarities.
        """
        pairs = chain(self._pool, self._spread, self._rest)
        return next((Question(pair) for pair in pairs if pair not in known), None)

    def chosen(self, answers: Sequence[Answer]) -> list[tuple[int, ...]]:
        """Return the pairs that the finder would ask about, in random order."""
        pairs, same = self._records.answers(answers)
        try:
            asked = self._records.finder.questions(_POOL, *((pairs, same) if len(same) else ()))
        except ValueError:  # all of them are answered
            return []
        known = {answer.rows for answer in answers}
        new = map(tuple, (self._rng.permutation(asked) + self._records.below).tolist())
        return [pair for pair in new if pair not in known and self._rows >= {*pair}]

    @property
    def judgments(self) -> list[dict[str, Any]]:
        """Precision and recall after how many answers, oldest first, for JSON."""
        return [
            {"answers": n, "figures": [interval_of(found.precision), interval_of(found.recall)]}
            for n, found in self._past
        ]

    @property
    def verdict(self) -> str:
        """How many duplicates there are, and how many of them are found; "" before that."""
        if not self._past:
            return ""
        last = self._past[-1][1]
        return (
            f"{self._counts()} Precision {_range(last.precision)}: the share of the found pairs "
            f"that is right. Recall {_range(last.recall)}: the share of the duplicates among "
            "similar records that is found."
        )

    def _counts(self) -> str:
        last = self._past[-1][1]
        return (
            f"{len(last.pairs):,} pairs of duplicates found, in {last.n_groups:,} groups. About "
            f"{last.n_same[0]:,.0f} of the {last.n_candidates:,} pairs of similar records are "
            "duplicates."
        )

    def values(self) -> dict[str, Any]:
        """Return the verdict as plain values."""
        if not self._past:
            return {"duplicates": None, "precision": None, "recall": None}
        last = self._past[-1][1]
        figures = {"precision": interval_of(last.precision), "recall": interval_of(last.recall)}
        return {"duplicates": len(last.pairs), **figures}

    def refit(self, answers: Sequence[Answer]) -> bool:
        """Find the duplicates; return whether there are answers of both kinds."""
        self._kinds = {answer.value for answer in answers} - {None}
        if len(self._kinds) < 2:
            return False
        n = sum(answer.value is not None for answer in answers)
        duplicates = self._records.finder.find(*self._records.answers(answers))
        self._past = [*(past for past in self._past if past[0] < n), (n, duplicates)]
        self._pool = self.chosen(answers)
        return True

    def judge(self, answers: Sequence[Answer]) -> None:
        """Do nothing: what was found says how good it is."""

    def odd(self) -> list[Place]:
        """Return the pairs whose answers the finder set aside, the oddest first."""
        odd = self._past[-1][1].suspicious if self._past else np.empty((0, 2), dtype=np.intp)
        return [tuple(pair) for pair in (odd + self._records.below).tolist()]

    def advice(self, *, left: bool) -> Advice:
        """Say how many duplicates are found, and whether to go on."""
        if not left:
            return Advice(f"There is nothing left to ask. {self.verdict}", stop=True)
        if not self._past:
            if len(self._kinds) != 1:
                return Advice("The first duplicates are found after a few answers.")
            missing = "different" if True in self._kinds else "the same"
            return Advice(f"Learning starts once two records are called {missing}.")
        _, low, high = self._past[-1][1].recall
        if high - low <= _NARROW:
            return Advice(f"{self._counts()} This is a good moment to finish.", stop=True)
        return Advice(f"{self._counts()} More answers narrow the ranges below.")

    def picture(self, answers: Sequence[Answer]) -> dict[str, Any]:  # noqa: ARG002
        """Return nothing: records are not points of a map."""
        return {}


def _range(values: tuple[float, float, float]) -> str:
    value, low, high = values
    return f"{value:.2f} ({low:.2f} to {high:.2f})"
