"""Which answers to look at once more: those that contradict each other, or all the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..._utils._typing import Array, IntArray
from ._answers import Answer
from ._learning import Labels
from ._questions import Question

# An answer is odd if so large a share of the other kind is on the wrong side of it: two rows that
# are called the same, and are farther apart than half of those that are called different.
_ODD = 0.5
# With fewer answers of a kind, that would say little.
_FEWEST = 8
# Answers to ask again at a time.
MOST = 5


def doubts(answers: Sequence[Answer], distances: Callable[[IntArray], Array]) -> dict[str, Any]:
    """Return the answers to ask again, for JSON: how many of each kind, and the first few.

    See `unlikely` for the parameters.
    """
    circles, odd = contradictions(answers), unlikely(answers, distances)
    rows = dict.fromkeys([*(rows for circle in circles for rows in circle), *odd])
    return {
        "contradictions": len(circles),
        "unlikely": len(odd),
        "keys": [Question(each).key for each in list(rows)[:MOST]],
    }


def contradictions(answers: Sequence[Answer]) -> list[list[tuple[int, ...]]]:
    """Return the circles of answers that cannot all be right, each as the rows of its answers.

    If a and b are the same, and b and c, then a and c are. The answer that says otherwise comes
    first, then a shortest chain of answers that it contradicts.

    Examples
    --------
    >>> contradictions([Answer((0, 1), True), Answer((1, 2), True), Answer((0, 2), False)])
    [[(0, 2), (0, 1), (1, 2)]]
    """
    alike: dict[int, list[int]] = {}
    for answer in answers:
        if answer.value is True:
            i, j = answer.rows
            alike.setdefault(i, []).append(j)
            alike.setdefault(j, []).append(i)
    chains = [(a.rows, _chain(alike, *a.rows)) for a in answers if a.value is False]
    return [[rows, *chain] for rows, chain in chains if chain]


def _chain(alike: dict[int, list[int]], start: int, end: int) -> list[tuple[int, ...]]:
    """Return the pairs of a shortest path from row to row; empty if there is none."""
    chains: dict[int, list[tuple[int, ...]]] = {start: []}
    waiting = deque([start])
    while waiting and end not in chains:
        row = waiting.popleft()
        for neighbor in alike.get(row, ()):
            if neighbor not in chains:
                pair = (min(row, neighbor), max(row, neighbor))
                chains[neighbor] = [*chains[row], pair]
                waiting.append(neighbor)
    return chains.get(end, [])


def unlikely(
    answers: Sequence[Answer], distances: Callable[[IntArray], Array]
) -> list[tuple[int, ...]]:
    """Return the rows of answers that the learned distance finds odd, the oddest first.

    Only answers that it learned from count. To correct those of the test where the distance
    disagrees with them would make the distance look better than it is.

    Parameters
    ----------
    answers : sequence of Answer
        All answers.
    distances : callable
        Returns the learned distances of pairs of rows.
    """
    labels = Labels.of([answer for answer in answers if answer.weight is None])
    same = labels.same
    if min(same.sum(), (~same).sum()) < _FEWEST:
        return []
    d = distances(labels.pairs)
    near, far = np.sort(d[same]), np.sort(d[~same])
    odd = np.where(
        same,
        np.searchsorted(far, d) / len(far),
        1.0 - np.searchsorted(near, d, "right") / len(near),
    )
    order = np.argsort(-odd, kind="stable")
    return [tuple(pair) for pair in labels.pairs[order[odd[order] >= _ODD]].tolist()]
