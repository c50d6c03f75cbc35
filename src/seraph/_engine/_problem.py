"""The objective (7) of points, labels and settings, in the solvers' coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from .._marks import PairLabels
from .._sweep import (
    Coordinates,
    PairTerms,
    Plan,
    Points,
    PointsInMemory,
    Sweep,
    can_list,
    check_unit,
    make_sweep,
)
from .._utils._typing import Array
from ._checkpoint import Journal, check_repeatable
from ._graph import check_graph, neighbor_graph, roughness
from ._objective import Objective
from ._settings import Settings
from ._triplets import Triplets

# Rank of the first factor of the low-rank solver, which adapts it: this affects the time of a fit,
# not its maximum.
_FIRST_RANK = 20
# Noise of the labeled gradient that the trace has to outweigh, in units of its own scale. On nine
# small tasks, errors were lowest between 0.07 and 0.1, and not much higher from 0.04 to 0.15; see
# also benchmarks/choosing_lam.py, and "Choices made after seeing results" in
# docs/results/paper.md.
_NOISE = 0.08
# The unit of the optimality gap is the weight of the trace, but at least this share of the noise:
# with a smaller unit, `tol` would be below the rounding errors of the gap.
_LEAST_SCALE = 0.01


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
    """

    coordinates: Coordinates
    sweep: Sweep
    terms: PairTerms
    noise: float
    roughness: Array | None = None
    triplets: Triplets | None = None

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
        first, terms = _planned(points, labels, settings, is_recorded=journal is not None)
        R = _roughness(points, coordinates, settings, graph)
        sweep = make_sweep(
            coordinates.with_first(first),
            backend=settings.backend,
            device=settings.device,
            n_jobs=settings.n_jobs,
        )
        if journal is not None:
            sweep = journal.recorded(sweep, points.digest(), terms)
        if coordinates.known_covariance is None and points.shape[0] > points.shape[1]:
            scatter = sweep.scatter()
            if scatter is not None:
                coordinates = replace(coordinates, known_covariance=scatter / len(points))
        noise = _noise(labels) * 2.0 * coordinates.top_variance()
        triplets = None
        if len(labels.triplets):
            triplets = Triplets.gather(coordinates.array, labels.triplets)
        return cls(coordinates, sweep, terms, float(noise), R, triplets)

    def objective(self, lam: float | Literal["auto"], factor: float = 1.0) -> Objective:
        """Return (7) with `factor` times `lam`, given in the user's units, for the trace."""
        own = self.noise if lam == "auto" else float(lam) / self.coordinates.unit**2
        own *= factor
        scale = max(own, _LEAST_SCALE * self.noise) or 1.0
        return Objective(self.sweep, self.terms, own, scale, self.roughness, self.triplets)

    @property
    def auto_lam(self) -> float:
        """What ``lam="auto"`` stands for, in the user's units."""
        return self.noise * self.coordinates.unit**2

    @property
    def is_flat(self) -> bool:
        """Whether all points are equal: then the metric is zero, whatever the labels say."""
        return self.noise == 0.0

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


def _planned(
    points: Points, labels: PairLabels, settings: Settings, *, is_recorded: bool
) -> tuple[Array, PairTerms]:
    """Choose the pairs to sum; return the rows that come first in sweeps, and the terms."""
    mu = _mu(labels, settings)
    size = settings.sample_size(labels.n_unlabeled) if mu > 0.0 else None
    plan, first = Plan(), labels.rows_by_class
    if size is not None:
        if is_recorded:
            check_repeatable("unlabeled pairs", settings.random_state)
        rng = check_random_state(settings.random_state)
        if can_list(size, len(points)):
            terms = ordered_terms(labels, settings.eta, mu, first)
            plan = Plan.for_list(len(points), len(first), terms.pairs, size, rng)
            return first, replace(terms, plan=plan)
        plan = Plan(share=size / labels.n_unlabeled, seed=int(rng.randint(2**31 - 1)))
    if settings.backend != "dask":  # a cluster leaves the rows where they are
        order = plan.order(points.shape, first, unlabeled=mu > 0.0)
        first = first if order is None else order
    return first, replace(ordered_terms(labels, settings.eta, mu, first), plan=plan)


def ordered_terms(labels: PairLabels, eta: float, mu: float, first: Array) -> PairTerms:
    """Return the terms of the pairs, once the rows `first` have been moved to the front.

    These begin with the class-labeled rows, so that all their pairs form one square of tiles; the
    rows that are not among them keep their order.
    """
    n = len(labels.codes)
    place = np.empty(n, dtype=np.intp)
    place[first] = np.arange(len(first))
    others = np.ones(n, dtype=bool)
    others[first] = False
    place[others] = np.arange(len(first), n)
    pairs = place[labels.pairs]
    by_row = np.lexsort([pairs[:, 1], pairs[:, 0]])
    codes = labels.codes[first]
    return PairTerms(
        codes=codes[codes >= 0],
        pairs=pairs[by_row],
        similar=labels.likeness[by_row],
        eta=float(eta),
        mu=mu,
        weights=labels.weights[by_row] if np.any(labels.weights != 1.0) else None,
    )


def _mu(labels: PairLabels, settings: Settings) -> float:
    """Weight of the unlabeled pairs. "auto" makes their total weight that of the labeled pairs."""
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
        weights = neighbor_graph(coordinates.array)
    with np.errstate(over="ignore"):
        R: Array = settings.manifold * roughness(coordinates.array, weights)
    if not np.isfinite(R).all():
        raise ValueError(
            f"manifold={settings.manifold:g} is too large for these points: the sum over the "
            "graph overflows. Lower it, or scale the features."
        )
    return R
