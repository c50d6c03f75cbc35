"""K-means of mapped points that keeps to the marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.cluster import kmeans_plusplus
from sklearn.utils import check_random_state

from ._marks import Marks, PairLabels
from ._utils._public import publish
from ._utils._typing import Array
from ._utils._validation import check_number, check_seed
from ._utils._warnings import warn
from .metrics._pairs import check_mapped

_SWEEPS = 20


def constrained_k_means(
    Z: ArrayLike,
    n_clusters: int,
    y: ArrayLike | None = None,
    *,
    marks: Marks | None = None,
    n_init: int = 10,
    max_iter: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> Array:
    """Cluster points by k-means so that similar pairs are together and dissimilar ones apart.

    Points that similar marks connect move as one, at their mean. Groups that must be apart are
    assigned one by one, the group with the fewest allowed clusters first, each to the nearest of
    these. Then single moves and exchanges lower the sum of squares. If no assignment keeps all
    dissimilar pairs apart, a warning counts those that are together.

    Parameters
    ----------
    Z : array-like of shape (n_samples, n_dimensions)
        Points to compare by the Euclidean distance, as ``transform`` returns them.
    n_clusters : int
        Number of clusters.
    y : array-like of shape (n_samples,), optional
        Class labels, -1 where unknown: points of one class are together, classes apart.
    marks : Marks, optional
        Marks of the rows. An unsure pair counts as what it leans to, unless that contradicts sure
        or surer marks; triplets are not used.
    n_init : int, default=10
        Number of starts; the result with the lowest sum of squares is taken.
    max_iter : int, default=100
        Largest number of iterations from each start.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Returns
    -------
    ndarray of int of shape (n_samples,)
        The cluster of each point.

    References
    ----------
    K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl. Constrained k-means clustering with background
    knowledge. ICML 2001.

    Examples
    --------
    >>> from seraph import Marks, constrained_k_means
    >>> Z = [[0.0], [1.0], [2.0], [9.0]]
    >>> c = constrained_k_means(Z, 2, marks=Marks([[2, 3]], [1], rows=Z), random_state=0)
    >>> bool(c[2] == c[3] != c[0])
    True
    """
    for name, value in (("n_init", n_init), ("max_iter", max_iter)):
        check_number(name, value, low=1, integer=True)
    check_seed(random_state)
    check_number("n_clusters", n_clusters, low=1, integer=True)
    points = check_mapped(Z)
    links = Links.of(PairLabels.of(Z, len(points), y, marks, required=False))
    if n_clusters > (n_groups := int(links.group.max()) + 1):
        raise ValueError(
            f"n_clusters={n_clusters} is more than there are points or groups of points that "
            f"similar marks join, {n_groups}."
        )
    rng = check_random_state(random_state)
    sizes = np.bincount(links.group).astype(np.float64)
    means = np.zeros((len(sizes), max(1, points.shape[1])))
    for k, column in enumerate(points.T):
        means[:, k] = np.bincount(links.group, column) / sizes
    runs = [_lloyd(means, sizes, links.apart, n_clusters, max_iter, rng) for _ in range(n_init)]
    (violated, _), labels = min(runs, key=lambda run: run[0])
    if violated:
        warn(
            f"{violated} of {len(links.apart)} pairs of groups that must be apart are in one "
            f"cluster: no assignment to {n_clusters} clusters was found that parts them all. "
            "Allow more clusters, or check the dissimilar marks."
        )
    return labels[links.group]


def _lloyd(
    means: Array, sizes: Array, apart: Array, k: int, max_iter: int, rng: np.random.RandomState
) -> tuple[tuple[int, float], Array]:
    """Run k-means on groups; return the violated links and the scatter of means, and labels."""
    centers = kmeans_plusplus(means, k, sample_weight=sizes, random_state=rng)[0]
    labels = np.full(len(means), -1)
    for _ in range(max_iter):
        gap = means[:, np.newaxis] - centers
        cost = sizes[:, np.newaxis] * np.einsum("gkr,gkr->gk", gap, gap)
        cluster = _assign(cost, apart)
        for empty in np.setdiff1d(np.arange(k), cluster):
            spent = cost[np.arange(len(cluster)), cluster]
            is_alone = np.bincount(cluster)[cluster] == 1
            cluster[np.argmax(np.where(is_alone, -1.0, spent))] = empty
        if np.array_equal(cluster, labels):
            break
        labels = cluster
        weights = np.bincount(labels, sizes, minlength=k)[:, np.newaxis]
        centers = np.stack(
            [np.bincount(labels, sizes * column, minlength=k) for column in means.T], axis=1
        )
        centers /= weights
    gap = means - centers[labels]
    violated = int(np.sum(labels[apart[:, 0]] == labels[apart[:, 1]]))
    return (violated, float(sizes @ np.einsum("gr,gr->g", gap, gap))), labels


def _assign(cost: Array, apart: Array) -> Array:
    """Assign each group to a cheap cluster, with groups that must be apart in different ones."""
    labels = np.argmin(cost, axis=1)
    linked = np.unique(apart)
    price = cost[linked]
    assignment = _Assignment(price, np.searchsorted(linked, apart))
    regret = np.ptp(np.sort(price, axis=1)[:, :2], axis=1)  # how much more the second choice costs
    rank = np.argsort(np.argsort(regret)) / len(regret)  # breaks ties below one cluster
    for _ in linked:
        barred = (assignment.taken > 0).sum(axis=1)
        urgency = np.where(assignment.cluster >= 0, -np.inf, barred + rank)
        assignment.move(int(np.argmax(urgency)))
    for _ in range(_SWEEPS):
        before = assignment.cluster.copy()
        for group in range(len(linked)):
            assignment.move(group)
            assignment.exchange(group)
        if np.array_equal(assignment.cluster, before):
            break
    labels[linked] = assignment.cluster
    return labels


class _Assignment:
    """The cluster of each group, -1 until it has one; neighbors are groups that must be apart."""

    def __init__(self, cost: Array, apart: Array) -> None:
        self.cost = cost
        self.cluster = np.full(len(cost), -1)
        self.taken = np.zeros(cost.shape, dtype=np.intp)  # how many neighbors each cluster holds
        self.neighbors: list[list[int]] = [[] for _ in cost]
        for i, j in apart.tolist():
            self.neighbors[i].append(j)
            self.neighbors[j].append(i)

    def move(self, group: int) -> None:
        """Move a group to the cheapest of the clusters that hold the fewest of its neighbors."""
        allowed = self.taken[group] == self.taken[group].min()
        self._put(group, int(np.argmin(np.where(allowed, self.cost[group], np.inf))))

    def exchange(self, group: int) -> None:
        """Exchange the clusters of a group and a neighbor, if that is allowed and cheaper."""
        cost, taken = self.cost, self.taken
        for other in self.neighbors[group]:
            a, b = int(self.cluster[group]), int(self.cluster[other])
            # Each holds one neighbor of the other: the two themselves.
            if a == b or taken[group, b] > 1 or taken[other, a] > 1:
                continue
            if cost[group, b] + cost[other, a] < cost[group, a] + cost[other, b]:
                self._put(group, b)
                self._put(other, a)

    def _put(self, group: int, to: int) -> None:
        old = self.cluster[group]
        if old != to:
            for other in self.neighbors[group]:
                self.taken[other, to] += 1
                if old >= 0:
                    self.taken[other, old] -= 1
            self.cluster[group] = to


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


publish(globals(), "seraph", ["constrained_k_means"])
