"""Points, labels and settings turned into the objective (7), in coordinates that suit it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from .._marks import PairLabels
from .._sweep import (
    Coordinates,
    PairTerms,
    Points,
    PointsInMemory,
    Sample,
    SubsetSweep,
    Sweep,
    check_unit,
    digest,
    make_sweep,
    shares,
    subset_sizes,
)
from .._utils._typing import Array
from ._checkpoint import Journal, check_repeatable
from ._graph import check_graph, neighbor_graph, roughness
from ._objective import Objective
from ._sampling import sample_pairs
from ._settings import Settings
from ._triplets import Triplets

# Rows of the first factor of the low-rank solver, which widens or narrows it from there.
_FIRST_RANK = 20
# A sample of more pairs than this is one of tiles, which take no memory and less time for each
# pair. (In a sample of fewer pairs for each row, tiles would be too small to pay off.)
_LISTED, _LISTED_PER_ROW = 1 << 20, 64
# Noise of the labeled gradient that the trace has to outweigh, in units of its own scale.
_NOISE = 0.08


@dataclass(frozen=True)
class Problem:
    """What to maximize for some points and labels, except for the weight of the trace.

    Parameters
    ----------
    coordinates : Coordinates
        The solvers' coordinates.
    sweep : Sweep
        Sums over the pairs of the points.
    terms : PairTerms
        The term of each pair.
    noise : float
        What ``lam="auto"`` stands for in the solvers' units: the size of the noise in the sum
        over the labeled pairs.
    roughness : ndarray of shape (d, d) or None
        Matrix of the manifold extension, in the solvers' coordinates.
    triplets : Triplets or None
        The log-likelihood of triplets.
    subsets : tuple of pairs
        Shares of the pairs and sweeps over them: see `Objective`.
    """

    coordinates: Coordinates
    sweep: Sweep
    terms: PairTerms
    noise: float
    roughness: Array | None = None
    triplets: Triplets | None = None
    subsets: tuple[tuple[float, Sweep], ...] = ()

    @classmethod
    def make(
        cls,
        points: Points,
        labels: PairLabels,
        settings: Settings,
        graph: Any = None,
        journal: Journal | None = None,
    ) -> Problem:
        """Choose coordinates, order the rows, and find the weights.

        Parameters
        ----------
        points : Points
            The points.
        labels : PairLabels
            Labels of their pairs.
        settings : Settings
            Settings of the fit.
        graph : sparse matrix of shape (n, n), optional
            Graph of the manifold extension, instead of nearest neighbors.
        journal : Journal, optional
            Records the sums of the sweeps.
        """
        coordinates = points.coordinates(rescale=settings.solver_name != "projected-gradient")
        check_unit(coordinates.unit, points.dtype)
        first, terms = ordered_terms(labels, settings.eta, _mu(labels, settings))
        size = settings.sample_size(labels.n_unlabeled) or labels.n_unlabeled
        is_sampled = terms.mu > 0.0 and size < labels.n_unlabeled
        rng = None
        if is_sampled:
            if journal is not None:
                check_repeatable("unlabeled pairs", settings.random_state)
            rng = check_random_state(settings.random_state)
        others: tuple[Array, ...] = ()
        in_tiles = is_sampled and size > max(_LISTED, _LISTED_PER_ROW * len(points))
        if in_tiles:
            terms = replace(terms, share=size / labels.n_unlabeled)
        if in_tiles and rng is not None and settings.backend == "dask":
            terms = replace(terms, seed=int(rng.randint(2**31 - 1)))  # of tiles in any order
        elif isinstance(points, PointsInMemory) and (
            in_tiles or (not is_sampled and shares(points.shape, len(terms.codes), near=True))
        ):  # listed pairs need no order, and no copy of the points in another one
            order, terms = shuffled(len(points), terms, rng if in_tiles else None)
            others = (order,)
        if rng is not None and terms.share == 1.0:
            pairs = sample_pairs(len(points), len(terms.codes), terms.pairs, size, rng)
            terms = replace(terms, sample=Sample(pairs, labels.n_unlabeled / size))
        R = _roughness(points, coordinates, settings, graph)
        sweep = make_sweep(
            coordinates.with_first(first, *others),
            backend=settings.backend,
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        subsets: list[Any] = []
        if isinstance(points, PointsInMemory) and not is_sampled and not sweep.shares(terms):
            order = coordinates.order(first, *others)
            subsets = _subsets(coordinates, order, sweep, terms, settings)
        if journal is not None:
            subsets = [
                (share, journal.recorded(some, digest(points.digest(), some.rows), terms))
                for share, some in subsets
            ]
            sweep = journal.recorded(sweep, points.digest(), terms)
        if coordinates.known_covariance is None and points.shape[0] > points.shape[1]:
            scatter = sweep.scatter()
            if scatter is not None:
                coordinates = replace(coordinates, known_covariance=scatter / len(points))
        noise = _noise(labels) * 2.0 * coordinates.top_variance()
        triplets = None
        if len(labels.triplets):
            triplets = Triplets.gather(coordinates.array, labels.triplets)
        return cls(coordinates, sweep, terms, float(noise), R, triplets, tuple(subsets))

    def objective(self, lam: float | Literal["auto"], factor: float = 1.0) -> Objective:
        """Return (7) with `factor` times `lam`, given in the user's units, for the trace."""
        own = self.noise if lam == "auto" else float(lam) / self.coordinates.unit**2
        own *= factor
        scale = max(own, 0.01 * self.noise) or 1.0
        return Objective(
            self.sweep, self.terms, own, scale, self.roughness, self.triplets, self.subsets
        )

    @property
    def auto_lam(self) -> float:
        """What ``lam="auto"`` stands for, in the user's units."""
        return self.noise * self.coordinates.unit**2

    @property
    def is_flat(self) -> bool:
        """Whether all points are equal: then the metric is zero, whatever the labels say."""
        return self.noise == 0.0

    @property
    def n_sweeps(self) -> int:
        """Number of sweeps so far, over all pairs or some."""
        return self.sweep.n_sweeps + sum(sweep.n_sweeps for _, sweep in self.subsets)

    def first_factor(self, max_rank: int | None, *, narrow: bool, eta: float) -> Array:
        """Make a factor to start from.

        Parameters
        ----------
        max_rank : int or None
            Largest number of rows.
        narrow : bool
            Whether the solver can widen the factor, so that a few rows are enough.
        eta : float
            Mean squared distance under it.
        """
        rank = self.coordinates.array.shape[1]
        if max_rank is not None:
            rank = min(rank, max_rank)
        elif narrow:
            rank = min(rank, _FIRST_RANK)
        return self.coordinates.start(eta, rank)


def _subsets(
    coordinates: Coordinates, order: Array, sweep: Sweep, terms: PairTerms, settings: Settings
) -> list[tuple[float, SubsetSweep]]:
    """Sweeps over the pairs of some points, where most pairs are labeled."""
    if settings.backend == "dask":
        return []

    def make(rows: Array) -> Sweep:
        return make_sweep(
            coordinates.array[order[rows]],
            backend=settings.backend,
            device=settings.device,
            n_jobs=settings.n_jobs,
        )

    k = len(terms.codes)
    n = len(order) if terms.mu > 0.0 else k
    found = [SubsetSweep(sweep, n, k, size, make) for size in subset_sizes(n, sweep.n_features)]
    return [(some.share, some) for some in found]


def ordered_terms(labels: PairLabels, eta: float, mu: float) -> tuple[Array, PairTerms]:
    """Return the rows that the sweeps want first, and the terms of the reordered pairs.

    The class-labeled rows come first, sorted by class, so that all their pairs form one
    square of tiles. The other rows follow in their old order.
    """
    first = labels.rows_by_class
    order = np.argsort(first)  # the i-th labeled row by number is the order[i]-th of `first`
    before = np.searchsorted(first[order], labels.pairs)
    # An unlabeled row moves back by the number of labeled rows that were behind it.
    pairs = labels.pairs - before + len(first)
    known = labels.codes[labels.pairs] >= 0
    pairs[known] = order[before[known]]
    weighted = np.any(labels.weights != 1.0)
    by_row = np.lexsort([pairs[:, 1], pairs[:, 0]])
    terms = PairTerms(
        codes=labels.codes[first],
        pairs=pairs[by_row],
        similar=labels.likeness[by_row],
        eta=float(eta),
        mu=mu,
        weights=labels.weights[by_row] if weighted else None,
    )
    return first, terms


def shuffled(
    n: int, terms: PairTerms, rng: np.random.RandomState | None = None
) -> tuple[Array, PairTerms]:
    """Return a random order of the rows without a class label, and the terms of the new rows.

    Some tiles of rows in random order can stand for all. Without `rng`, the order is the same in
    each fit.
    """
    k = len(terms.codes)
    order = (rng or np.random.default_rng(0)).permutation(n - k)
    place = np.empty(n, dtype=terms.pairs.dtype)
    place[:k] = np.arange(k)
    place[k + order] = np.arange(k, n)
    pairs = place[terms.pairs]
    by_row = np.lexsort([pairs[:, 1], pairs[:, 0]])
    weights = None if terms.weights is None else terms.weights[by_row]
    terms = replace(terms, pairs=pairs[by_row], similar=terms.similar[by_row], weights=weights)
    return order, terms


def _mu(labels: PairLabels, settings: Settings) -> float:
    """Weight of the unlabeled pairs. "auto" lets them weigh as much as all answers together."""
    if not labels.n_unlabeled:
        return 0.0
    own = labels.labeled_weight / labels.n_unlabeled if settings.mu == "auto" else settings.mu
    return settings.mu_factor * float(own)


def _noise(labels: PairLabels) -> float:
    """Size of the noise in a sum over the labeled pairs, for points of unit variance.

    Similar and dissimilar pairs count by their geometric mean: where one kind is rare, there
    is less noise than the number of all pairs suggests. A pair counts by its weight, so that a
    common factor on all weights does not change the metric.
    """
    one = labels.labeled_weight / (labels.n_labeled + len(labels.triplets))
    balanced = max(labels.similar_weight, one) * max(labels.dissimilar_weight, one)
    return _NOISE * float(2.0 * np.sqrt(balanced) / np.sqrt(labels.effective_rows))


def _roughness(
    points: Points, coordinates: Coordinates, settings: Settings, graph: Any
) -> Array | None:
    """Matrix of the manifold extension, or None without one."""
    weights = None if graph is None else check_graph(graph, len(points))
    if settings.manifold == 0.0:
        return None
    if not isinstance(points, PointsInMemory):
        raise ValueError(
            f"manifold={settings.manifold:g} needs the nearest neighbors of each point, which "
            "cannot be found across the chunks of a dask collection: set manifold=0, or pass "
            "X.compute() if it fits in memory."
        )
    if weights is None:
        weights = neighbor_graph(coordinates.array, settings.n_neighbors)
    with np.errstate(over="ignore"):
        R: Array = settings.manifold * roughness(coordinates.array, weights)
    if not np.isfinite(R).all():
        raise ValueError(
            f"manifold={settings.manifold:g} is too large for these points: the sum over the "
            "graph overflows. Lower it, or scale the features."
        )
    return R
