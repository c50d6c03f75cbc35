"""The regularization path: metrics for many weights of the trace, by continuation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _solvers as solvers
from .._marks import PairLabels
from .._sweep import Points
from .._utils._eigen import eigvalsh
from .._utils._typing import Array
from ._checkpoint import Journal
from ._forecast import Progress
from ._learn import Fit, describe_fit, set_up_sweeps
from ._objective import Objective
from ._problem import Problem
from ._settings import Settings

# With unlabeled pairs, the search for the first weight starts at this share of `lam_max` of the
# labeled pairs alone, or above. (It doubles the weight until the metric is zero, so that a low
# start only costs time.)
_LOWEST_START = 0.1


@dataclass(frozen=True)
class RegularizationPath:
    """Solutions of (7) for decreasing weights of the trace.

    Parameters
    ----------
    lams : ndarray of shape (n_lams,)
        The weights, largest first.
    components : list of ndarray of shape (rank, n_features)
        A factor of each metric, as in ``SERAPH.components_`` up to the signs of its rows.
    objectives : ndarray of shape (n_lams,)
        Value of the objective (7) at each metric.
    optimality_gaps : ndarray of shape (n_lams,)
        The certificates, as in ``SERAPH.optimality_gap_``.
    converged : ndarray of bool of shape (n_lams,)
        Which solutions met the tolerance.
    n_sweeps : ndarray of int of shape (n_lams,)
        Number of sweeps over the pairs for each; the search for the start counts for the first.
    lam_max : float
        Weight below which the zero metric is no longer a maximum.
    auto_lam : float
        The value of ``lam="auto"`` on these data.
    mu, eta : float
        Weight of the unlabeled pairs, and the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph import seraph_path
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> path = seraph_path(X, np.where(np.arange(30) < 9, X[:, 0] > 0, -1), n_lams=5)
    >>> bool(path.lams[0] > path.lams[-1])
    True
    >>> int(path.ranks[0]), len(path.components), len(path.eigenvalues)
    (0, 5, 5)
    """

    lams: Array
    components: list[Array]
    objectives: Array
    optimality_gaps: Array
    converged: Array
    n_sweeps: Array
    lam_max: float
    auto_lam: float
    mu: float
    eta: float

    @property
    def ranks(self) -> Array:
        """Rank of each metric."""
        return np.array([len(P) for P in self.components])

    @property
    def eigenvalues(self) -> Array:
        """Eigenvalues of each metric, one row each: decreasing, padded with zeros."""
        values = np.zeros((len(self.lams), max(self.ranks, default=0)))
        for row, P in zip(values, self.components, strict=True):
            row[: len(P)] = np.sort(np.sum(np.square(P, dtype=np.float64), axis=1))[::-1]
        return values


def follow_path(
    points: Points,
    labels: PairLabels,
    settings: Settings,
    lams: Array | tuple[int, float],
    *,
    graph: Any = None,
    journal: Journal | None = None,
) -> RegularizationPath:
    """Learn a metric for each of many weights.

    Parameters
    ----------
    points, labels, settings, graph, journal
        As in `learn`; `max_iter` is for each weight.
    lams : ndarray of shape (n_lams,) or tuple (n_lams, eps)
        The weights, falling; or their number, and the smallest over the largest, where they
        start from the zero metric.
    """
    with set_up_sweeps(settings):
        problem = Problem.make(points, labels, settings, graph, journal)
        path = _Path(problem, settings)
        lam_max = path.lam_max(problem.pairs.terms.mu)
        from_zero = isinstance(lams, tuple)
        if isinstance(lams, tuple):
            n_lams, eps = lams
            top = path.highest_lam(lam_max)
            lams = np.geomspace(top, eps * top, n_lams)
        progress = Progress(settings.name, len(lams)) if settings.verbose else None
        fits: list[Fit] = []
        counts = [0]
        for lam in lams.tolist():
            result = path.solve(lam, from_zero=from_zero and not fits)
            result = replace(result, P=solvers.compress(result.P))
            fits.append(describe_fit(result, 1.0, lam, problem, labels))
            counts.append(problem.pairs.sweep.n_sweeps)
            if progress is not None:
                progress(solvers.Step(result.value, len(result.P), 0.0, result.gap))
    return RegularizationPath(
        lams=lams,
        components=[fit.components for fit in fits],
        objectives=np.array([fit.objective for fit in fits]),
        optimality_gaps=np.array([fit.optimality_gap for fit in fits]),
        converged=np.array([fit.converged for fit in fits]),
        n_sweeps=np.diff(counts),
        lam_max=lam_max,
        auto_lam=problem.auto_lam,
        mu=problem.mu,
        eta=problem.pairs.terms.eta,
    )


class _Path:
    """Where the path starts, and how it is followed."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.problem = problem
        self.options: dict[str, Any] = {
            "max_iter": settings.max_iter,
            "tol": settings.tol,
            "max_rank": settings.n_components,
        }
        self.follower = solvers.Follower(**self.options)
        self.zero = np.zeros((0, problem.coordinates.array.shape[1]))
        # Rank of the last metric; None before the first.
        self.rank: int | None = None

    def lam_max(self, mu: float) -> float:
        """Weight from which on the zero metric is a local maximum, if `mu` weighs the entropy."""
        pairs = self.problem.pairs
        problem = replace(self.problem, pairs=replace(pairs, terms=replace(pairs.terms, mu=mu)))
        gradient = problem.objective(0.0).by_metric(self.zero)[1]
        return float(eigvalsh(gradient)[-1]) * problem.coordinates.unit**2

    def highest_lam(self, lam_max: float) -> float:
        """Find a weight at which the metric is zero, for the start of the path."""
        top = max(lam_max, _LOWEST_START * self.lam_max(0.0))
        if top <= 0.0:
            raise ValueError(
                "The metric is zero whatever lam is: no labeled pair pulls points apart. Add "
                "labels of another class, or dissimilar pairs; or pass lams."
            )
        if self.problem.pairs.terms.mu > 0.0:
            while self._find_better_than_zero(self.problem.objective(top)) is not None:
                top *= 2.0
        return top

    def solve(self, lam: float, *, from_zero: bool) -> solvers.Result:
        """Solve for the next weight, smaller than the last; `from_zero`, start at zero."""
        objective = self.problem.objective(lam)
        start = None
        if from_zero:
            start = self.zero
        elif self.rank is None or (self.rank == 0 and self.problem.pairs.terms.mu > 0.0):
            # With the entropy, the zero metric may be a local maximum although another one is
            # better.
            start = self._find_better_than_zero(objective)
            if start is None:
                start = self.zero
        result = self.follower(objective, float(np.log(lam)), start)
        self.rank = len(result.P)
        return result

    def _find_better_than_zero(self, objective: Objective) -> Array | None:
        """Return the factor that SERAPH finds from its own start, unless zero is as good."""
        max_rank = self.options["max_rank"]
        start = self.problem.first_factor(max_rank, narrow=True, eta=self.problem.pairs.terms.eta)
        found = solvers.low_rank(objective, start, **self.options)
        value_at_zero = objective.by_metric(self.zero)[0]
        better = found.value > value_at_zero + 1e-6 * abs(value_at_zero)
        return found.P if better else None
