"""Marks as links between points: pairs that must be together, and pairs that must not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._marks import PairLabels
from .._utils._typing import Array


@dataclass(frozen=True)
class Links:
    """Groups of points that must be together, and which groups must be apart.

    Parameters
    ----------
    group : ndarray of int of shape (n,)
        The group of each point; a point without a similar mark is a group of its own.
    apart : ndarray of int of shape (k, 2)
        Pairs of groups that must be apart, each once.
    """

    group: Array
    apart: Array

    @classmethod
    def of(cls, labels: PairLabels) -> Links:
        """Follow the labels: similar pairs join, also through others; dissimilar ones part.

        Classes and certain marks come first, and must not contradict each other. Then unsure marks
        follow, the surest first; those that contradict the links so far are left out.
        """
        groups = _Groups(len(labels.codes))
        by_class = labels.rows_by_class
        codes = labels.codes[by_class]
        firsts = by_class[np.unique(codes, return_index=True)[1]]
        is_sure = (labels.likeness == 0.0) | (labels.likeness == 1.0)
        chain = np.column_stack([by_class[:-1], by_class[1:]])[codes[1:] == codes[:-1]]
        for i, j in [*chain.tolist(), *labels.pairs[is_sure & labels.similar].tolist()]:
            groups.join(i, j)
        classes = firsts[np.column_stack(np.triu_indices(len(firsts), k=1))]
        for i, j in [*labels.pairs[is_sure & ~labels.similar].tolist(), *classes.tolist()]:
            if not groups.part(i, j):
                raise ValueError(
                    f"Rows {i} and {j} are marked dissimilar, but similar marks connect them "
                    "through other rows: correct one of the marks."
                )
        strength = labels.weights * np.abs(labels.likeness - 0.5)
        for k in np.argsort(-strength, kind="stable"):
            if not is_sure[k]:
                (groups.join if labels.similar[k] else groups.part)(*labels.pairs[k].tolist())
        group = np.unique(groups.of, return_inverse=True)[1]
        apart = [(a, b) for a, others in groups.apart.items() for b in others if a < b]
        places = np.array(apart, dtype=np.intp).reshape(-1, 2)
        return cls(group, np.sort(group[places], axis=1))


class _Groups:
    """Groups of points, each known by one of its points, and those that must be apart."""

    def __init__(self, n: int) -> None:
        self.of = list(range(n))
        self.members = [[k] for k in range(n)]
        self.apart: dict[int, set[int]] = {k: set() for k in range(n)}

    def join(self, i: int, j: int) -> None:
        """Join the groups of two points, unless they must be apart."""
        a, b = sorted((self.of[i], self.of[j]), key=lambda group: -len(self.members[group]))
        if a == b or b in self.apart[a]:
            return
        for point in self.members[b]:
            self.of[point] = a
        self.members[a] += self.members[b]
        for other in self.apart.pop(b):
            self.apart[other].remove(b)
            self.apart[other].add(a)
            self.apart[a].add(other)

    def part(self, i: int, j: int) -> bool:
        """Keep the groups of two points apart; return whether that is possible."""
        a, b = self.of[i], self.of[j]
        if a != b:
            self.apart[a].add(b)
            self.apart[b].add(a)
        return a != b
