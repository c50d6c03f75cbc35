"""Which answers to look at once more: those that contradict each other, or all the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from ..._utils._typing import Array, BoolArray, IntArray
from ._answers import Answer

# An answer is odd if so large a share of the other kind is on the wrong side of it: two rows that
# are called the same, and are farther apart than half of those that are called different.
_ODD = 0.5
# Answers to list, and to ask again at a time.
MOST = 20


def doubts(
    answers: Sequence[Answer], odd: Sequence[tuple[int, ...]]
) -> list[tuple[tuple[int, ...], str]]:
    """Return the rows of the first few answers to ask again, and why.

    Those that contradict each other come first, then the `odd` ones. An answer that was given
    twice is odd no more.
    """
    twice = {answer.rows for answer in answers if answer.times > 1}
    circles = (rows for circle in contradictions(answers) for rows in circle)
    found = dict.fromkeys(circles, "contradicts others")
    for rows in odd:
        if rows not in twice:
            found.setdefault(rows, "is unlike the others")
    return list(found.items())[:MOST]


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


def unlikely(distances: Array, same: BoolArray) -> IntArray:
    """Return the places of answers that the learned distances find odd, the oddest first."""
    near, far = np.sort(distances[same]), np.sort(distances[~same])
    odd = np.where(
        same,
        np.searchsorted(far, distances) / len(far),
        1.0 - np.searchsorted(near, distances, "right") / len(near),
    )
    order = np.argsort(-odd, kind="stable")
    return order[odd[order] >= _ODD]
