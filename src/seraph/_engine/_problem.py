"""Data, labels and weights made one: the objective (7), in the coordinates that suit it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._pairs import PairLabels
from .._sweep import PairTerms, Sample, Sweep
from .._sweep._chunks import ChunkedPoints
from ._coordinates import Space
from ._graph import check_graph, neighbor_graph, roughness
from ._objective import Objective
from ._sampling import draw_pairs

# Rows of the first factor of the low-rank solver; it widens or narrows it from there.
_FIRST_RANK = 20
# Noise of the labelled gradient that the trace has to outweigh, in units of its own scale.
_NOISE = 0.08


@dataclass(frozen=True)
class Problem:
    """What is to be maximised for some points and labels, up to the weight of the trace.

    Parameters
    ----------
    space : Space
        The solvers' coordinates.
    sweep : Sweep
        The points, and how their pairs are summed.
    terms : PairTerms
        The term of each pair; its ``mu`` is the weight that "auto" stands for, if so asked.
    noise : float
        What ``lam="auto"`` stands for, in the solvers' units: the size of the noise in the sum
        over the labelled pairs.
    roughness : ndarray of shape (d, d) or None
        The matrix of the manifold extension, on the solvers' coordinates.
    """

    space: Space
    sweep: Sweep
    terms: PairTerms
    noise: float
    roughness: NDArray | None = None

    @classmethod
    def make(
        cls,
        points: NDArray | ChunkedPoints,
        labels: PairLabels,
        backend: Callable[[Any], Sweep],
        *,
        eta: float,
        mu: float | Literal["auto"],
        manifold: float = 0.0,
        n_neighbors: int = 10,
        graph: Any = None,
        rescale: bool = True,
        budget: int | None = None,
        rng: np.random.RandomState | None = None,
    ) -> Problem:
        """Choose coordinates, order the rows, and find the weights.

        Parameters
        ----------
        points : ndarray or ChunkedPoints of shape (n, m)
            Points.
        labels : PairLabels
            What is known of their pairs.
        backend : callable
            Takes points and returns the sweep over their pairs.
        eta : float
            Threshold of the model.
        mu : float or "auto"
            Weight of the unlabelled pairs.
        manifold : float, default=0.0
            Weight nu of the manifold extension.
        n_neighbors : int, default=10
            Neighbours of each point in its graph.
        graph : sparse matrix of shape (n, n), optional
            The graph itself.
        rescale : bool, default=True
            Whether the coordinates may have units of their own.
        budget : int, optional
            Number of unlabelled pairs to draw, in the place of all.
        rng : RandomState, optional
            What to draw them with.

        Returns
        -------
        Problem
        """
        if manifold > 0.0 and isinstance(points, ChunkedPoints):
            raise ValueError(
                f"manifold={manifold:g} needs the points' neighbours, which are not looked for "
                "across the chunks of a dask collection: take manifold=0, or pass X.compute() if "
                "it fits in memory."
            )
        space = Space.make(points, rescale=rescale)
        if not labels.n_unlabeled:
            mu = 0.0
        elif mu == "auto":
            mu = labels.n_labeled / labels.n_unlabeled
        first, terms = _ordered(labels, eta, float(mu))
        if terms.mu > 0.0 and budget is not None and budget < labels.n_unlabeled:
            assert rng is not None
            drawn = draw_pairs(len(points), len(terms.codes), terms.pairs, budget, rng)
            terms = replace(terms, sample=Sample(drawn, labels.n_unlabeled / budget))
        # Similar and dissimilar pairs count by their geometric mean: where one kind is rare the
        # noise is less than the number of all pairs says.
        balanced = 2.0 * np.sqrt(max(labels.n_similar, 1) * max(labels.n_dissimilar, 1))
        noise = _NOISE * balanced / np.sqrt(labels.n_labeled_rows)
        weights = None if graph is None else check_graph(graph, len(points))
        R = None
        if manifold > 0.0:
            if weights is None:
                weights = neighbor_graph(space.points, n_neighbors)
            R = manifold * roughness(space.points, weights)
        return cls(
            space,
            backend(space.points_with_first(first)),
            terms,
            float(noise * 2.0 * space.top_variance),
            R,
        )

    def objective(self, lam: float | Literal["auto"]) -> Objective:
        """The objective (7) with the weight `lam`, in the user's units, of the trace."""
        own = self.noise if lam == "auto" else float(lam) / self.space.unit**2
        scale = max(own, 0.01 * self.noise) or 1.0
        return Objective(self.sweep, self.terms, own, scale, self.roughness)

    @property
    def auto_lam(self) -> float:
        """What ``lam="auto"`` stands for, in the user's units."""
        return self.noise * self.space.unit**2

    def first_factor(self, max_rank: int | None, *, narrow: bool, eta: float) -> NDArray:
        """Where to start, on the solvers' coordinates.

        Parameters
        ----------
        max_rank : int or None
            Number of rows it may have.
        narrow : bool
            Whether a narrow factor will do, for a solver that widens it.
        eta : float
            Mean squared distance under it.
        """
        rank = self.space.points.shape[1]
        if max_rank is not None:
            rank = min(rank, max_rank)
        elif narrow:
            rank = min(rank, _FIRST_RANK)
        return self.space.first_factor(eta, rank)


def _ordered(labels: PairLabels, eta: float, mu: float) -> tuple[NDArray, PairTerms]:
    """Rows that the sweeps want first, the labelled ones by class; and the terms."""
    labeled = np.flatnonzero(labels.codes >= 0)
    by_class = np.argsort(labels.codes[labeled], kind="stable")
    first = labeled[by_class]
    # Each row gives way to the labelled ones after it; those have a place of their own.
    before = np.searchsorted(labeled, labels.pairs)
    pairs = labels.pairs - before + len(labeled)
    place = np.empty_like(by_class)
    place[by_class] = np.arange(len(labeled))
    known = labels.codes[labels.pairs] >= 0
    pairs[known] = place[before[known]]
    terms = PairTerms(
        codes=labels.codes[first], pairs=pairs, similar=labels.similar, eta=float(eta), mu=mu
    )
    return first, terms
