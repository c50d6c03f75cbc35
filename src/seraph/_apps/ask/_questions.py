"""What is asked next: screens of rows.

A screen is drawn by `seraph.query_screens` among a random part of the rows, so it takes
milliseconds, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import query_screens
from ..._utils._typing import Array
from ._answers import Answer
from ._learning import Learning
from ._screens import Known, Question

# Rows of a screen, and how many of them are near the first one.
SIZE, _NEAR = 8, 4
# Rows that a screen is drawn from.
_ROWS = 4000
# Screens that are drawn until one has a pair that has no answer yet.
_TRIES = 20


class Screens:
    """Screens of the `rows` that can be shown; with `names`, of those without a name."""

    def __init__(
        self, learning: Learning, rows: Array, rng: np.random.Generator, *, names: bool = False
    ) -> None:
        self._learning = learning
        self._rows = rows
        self._rng = rng
        self._names = names

    def plain(self, known: Known) -> Question | None:
        """Return a screen with something that is not `known`; None if nothing is left."""
        if self._names:
            asked = [row for rows in known for row in rows]
            free = np.setdiff1d(self._rows, np.array(asked, dtype=np.intp))
            return self._drawn(free) if len(free) else None
        for _ in range(_TRIES):
            screen = self._drawn(self._rows)
            if screen.is_new(known):
                return screen
        return None

    def chosen(self, answers: Sequence[Answer]) -> list[Question]:  # noqa: ARG002
        """Return nothing: screens are drawn by the distance of the moment."""
        return []

    def _drawn(self, rows: Array) -> Question:
        rows = self._rng.choice(rows, min(_ROWS, len(rows)), replace=False)
        size = min(SIZE, len(rows))
        if size == 1:
            return Question((int(rows[0]),))
        places, chances = query_screens(
            self._learning.learner,
            self._learning.X[rows],
            size=size,
            near=min(_NEAR, size - 2),
            random_state=int(self._rng.integers(2**31)),
        )
        # As the file keeps them.
        return Question(
            tuple(rows[places[0]].tolist()), tuple(float(f"{c:.6g}") for c in chances[0])
        )
