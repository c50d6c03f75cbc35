"""The objective (7) of points, labels and settings, in the solvers' coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

import numpy as np
from sklearn.utils import check_random_state

from .._marks import PairLabels
from .._sweep import (
    Coordinates,
    PairTerms,
    Plan,
    Points,
    check_unit,
    choose_backend,
    make_sweep,
    sample_points,
)
from .._utils._graph import check_graph
from .._utils._typing import Array
from ._checkpoint import Journal, RecordedSweep, check_repeatable
from ._manifold import Roughness
from ._objective import Objective
from ._sampling import plan_sample, sample_rows
from ._settings import Settings
from ._terms import Data, PairSum, Term, Trace
from ._triplets import Triplets

# Makers of the terms besides the pairs and the trace. Each returns None if a fit has no such term.
TERMS: dict[str, Callable[[Data, Settings], Term | None]] = {
    "manifold": Roughness.make,
    "triplets": Triplets.make,
}

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
    """The objective for some points and labels, for any weight of the trace.

    Parameters
    ----------
    coordinates : Coordinates
        The solvers' coordinates.
    pairs : PairSum
        The sum of the pair terms.
    noise : float
        The value of ``lam="auto"`` in the solvers' units: the size of the noise in the sum
        over the labeled pairs.
    labels : PairLabels
        Labels of the rows to sum over: of all, or of a sample (see `_sampling`).
    mu : float
        Weight of the unlabeled pairs of all rows. Those of a sample of the rows weigh more.
    others : tuple of Term
        The terms besides these and the trace.
    """

    coordinates: Coordinates
    pairs: PairSum
    noise: float
    labels: PairLabels
    mu: float
    others: tuple[Term, ...] = ()

    @classmethod
    def make(
        cls,
        points: Points,
        labels: PairLabels,
        settings: Settings,
        graph: Any = None,
        journal: Journal | None = None,
    ) -> Problem:
        """Choose rows and coordinates, and find the weights; the arguments of `learn`."""
        graph = None if graph is None else check_graph(graph, len(points))
        mu = own_mu = _weigh_unlabeled(labels, settings)
        backend, device = settings.backend, settings.device
        rows = sample_rows(labels, points.shape[1], settings)
        if rows is not None:
            points, n_unlabeled = sample_points(points, rows), labels.n_unlabeled
            labels = cast("PairLabels", labels.among(rows))  # it has all labels
            mu *= n_unlabeled / max(labels.n_unlabeled, 1)
            if backend == "dask":  # the sample is in memory
                backend, device = choose_backend(points.array, len(points), "auto")
        coordinates = points.coordinates(rescale=settings.method.rescales)
        check_unit(coordinates.unit, points.dtype)
        first, terms = _plan_pairs(labels, settings, mu, points.shape, backend, journal)
        data = Data(points, coordinates, labels, graph)
        others = [make(data, settings) for make in TERMS.values()]
        sweep = make_sweep(
            coordinates.with_first(first), backend=backend, device=device, n_jobs=settings.n_jobs
        )
        if journal is not None:
            sweep = RecordedSweep(journal, sweep, points.digest())
        if coordinates.known_covariance is None and points.shape[0] > points.shape[1]:
            scatter = sweep.scatter()
            if scatter is not None:
                coordinates = replace(coordinates, known_covariance=scatter / len(points))
        noise = _estimate_noise(labels) * 2.0 * coordinates.principal_axes[0][-1]
        used = tuple(term for term in others if term is not None)
        return cls(coordinates, PairSum(sweep, terms), float(noise), labels, own_mu, used)

    def weight(self, lam: float | Literal["auto"], factor: float = 1.0) -> float:
        """Convert `factor` times `lam` from the user's units to the solvers'."""
        own = self.noise if lam == "auto" else float(lam) / self.coordinates.unit**2
        return own * factor

    def objective(self, lam: float | Literal["auto"], factor: float = 1.0) -> Objective:
        """Return (7) with `factor` times `lam`, given in the user's units, for the trace."""
        weight = self.weight(lam, factor)
        scale = max(weight, _LEAST_SCALE * self.noise) or 1.0
        return Objective(self.pairs, (Trace(weight), *self.others), scale)

    def without_samples_of_rows(self) -> Problem:
        """Return the same problem, for solvers that sample no rows."""
        terms = self.pairs.terms
        if not terms.plan.by_rows:
            return self
        terms = replace(terms, plan=replace(terms.plan, by_rows=False))
        return replace(self, pairs=replace(self.pairs, terms=terms))

    @property
    def auto_lam(self) -> float:
        """The value of ``lam="auto"``, in the user's units."""
        return self.noise * self.coordinates.unit**2

    @property
    def is_flat(self) -> bool:
        """Whether all points are equal: then the metric is zero, whatever the labels say."""
        return self.noise == 0.0

    def first_factor(self, max_rank: int | None, *, narrow: bool, eta: float) -> Array:
        """Make a factor to start from, with `eta` for the mean squared distance.

        It is `narrow` for a solver that can widen it.
        """
        rank = self.coordinates.array.shape[1]
        if max_rank is not None:
            rank = min(rank, max_rank)
        elif narrow:
            rank = min(rank, _FIRST_RANK)
        return self.coordinates.start(eta, rank)


def _plan_pairs(
    labels: PairLabels,
    settings: Settings,
    mu: float,
    shape: tuple[int, int],
    backend: str,
    journal: Journal | None,
) -> tuple[Array, PairTerms]:
    """Choose the pairs to sum; return the rows that come first in sweeps, and the terms."""
    size = settings.sample_size(labels.n_unlabeled) if mu > 0.0 else None
    plan, first = Plan(sizes=settings.sizes), labels.rows_by_class
    if settings.unlabeled_pairs == "auto":
        plan = replace(plan_sample(labels), sizes=settings.sizes)
    if size is not None:
        if journal is not None:
            check_repeatable("unlabeled pairs", settings.random_state)
        rng = check_random_state(settings.random_state)
        if settings.sizes.can_list(size, shape[0]):
            terms = order_terms(labels, settings.eta, mu, first)
            plan = Plan.for_list(shape[0], len(first), terms.pairs, size, rng)
            return first, replace(terms, plan=replace(plan, sizes=settings.sizes))
        share, seed = size / labels.n_unlabeled, int(rng.randint(2**31 - 1))
        plan = replace(plan, share=share, seed=seed)
    if backend != "dask":  # a cluster leaves the rows where they are
        order = plan.order(shape, first, unlabeled=mu > 0.0)
        if order is not None:
            # (On a GPU a sum over few pairs takes as long as one over many.)
            first, plan = order, replace(plan, by_rows=backend != "torch")
    return first, replace(order_terms(labels, settings.eta, mu, first), plan=plan)


def order_terms(labels: PairLabels, eta: float, mu: float, first: Array) -> PairTerms:
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


def _weigh_unlabeled(labels: PairLabels, settings: Settings) -> float:
    """Weigh the unlabeled pairs; "auto" gives them the total weight of the labeled pairs."""
    if not labels.n_unlabeled:
        return 0.0
    own = labels.labeled_weight / labels.n_unlabeled if settings.mu == "auto" else settings.mu
    return settings.mu_factor * float(own)


def _estimate_noise(labels: PairLabels) -> float:
    """Estimate the noise in a sum over the labeled pairs, for points of unit variance.

    Similar and dissimilar pairs count by their geometric mean: where one kind is rare, there
    is less noise than the number of all pairs suggests. A pair counts by its weight, so that a
    common factor on all weights does not change the metric.
    """
    one = labels.labeled_weight / (labels.n_labeled + len(labels.triplets))
    balanced = max(labels.similar_weight, one) * max(labels.dissimilar_weight, one)
    return _NOISE * float(2.0 * np.sqrt(balanced) / np.sqrt(labels.effective_rows))
