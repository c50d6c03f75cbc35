"""SCML: a sparse combination of directions that discriminate locally."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import eigh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement

from .._marks import PairLabels
from .._utils._eigen import svd
from .._utils._typing import Array
from .._utils._warnings import warn
from ._comparisons import ComparisonLearner, nearest_by_class, smoothed_hinge
from ._lbfgs import lbfgs
from ._points import center_points, pair_squares

# Discriminants per neighborhood, and the number of anchors in a small and in a large one: our
# choice, as the triplets here come from anchors, and in the paper from classes.
_PER_REGION, _REGIONS = 5, (10, 20)
# Ridge of the scatter of the near pairs, as a share of the mean scatter in a direction: a
# neighborhood may have fewer triplets than there are features.
_RIDGE = 0.1
# Widths over which the hinge is smoothed, in stages: each starts where the one before ended.
_WIDTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
# A smaller decrease of the objective, which is at most 1, is rounding error.
_PROGRESS = 1e-13


@dataclass(eq=False, repr=False, kw_only=True)
class SCML(ComparisonLearner):
    r"""Sparse compositional metric learning (Shi, Bellet, Sha, 2014).

    A triplet (a, b, c) means that a is closer to b than to c. The metric is a weighted sum of
    directions, :math:`A = \sum_k w_k b_k b_k'`, whose weights solve

    .. math:: \min_{w \ge 0}\; \frac{1}{T} \sum_{(a, b, c)}
              \left[1 + d_A^2(a, b) - d_A^2(a, c)\right]_+ + \beta \sum_k w_k.

    The second sum makes most weights zero. The problem is convex, and solved by L-BFGS; by
    default it stops early.

    Parameters
    ----------
    beta : float, default=0.001
        Weight of the sum of the weights: larger values keep fewer directions. Points are
        measured in units of their mean distance, so it does not depend on the unit of X.
    n_basis : int, optional
        Number of directions to choose from; if None, 20 times the number of features, at most
        500.
    n_neighbors : int, default=3
        With classes or pairs instead of triplets: the number of nearest points known to be alike
        that each point a is compared with.
    n_impostors : int, default=10
        The same for points known to differ. All combinations of the two are triplets.
    n_constraints : int, default=20000
        Largest number of triplets to make from classes or pairs; of more, a random sample. A
        triplet takes memory for `n_basis` numbers.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=0.001
        Stop at this ``optimality_gap_``, or early, where an iteration lowers the objective, which
        starts at 1, by less than this.
    random_state : int, RandomState instance or None, default=None
        Seed of the clustering that finds the neighborhoods, and of the sample of triplets. Pass a
        number to get the same metric in each fit.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``.
    n_directions_ : int
        Number of directions with a nonzero weight.
    objective_, optimality_gap_ : float
        Value of the objective above, for points in units of their mean distance, 1 for the weights
        0; and the certificate: no weights have an objective lower by more than this duality gap.
    converged_, stopped_early_ : bool
        Whether the gap is within `tol`; and whether slow progress ended the fit before that.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    The directions are discriminants: in a neighborhood of anchors a, the generalized eigenvectors
    with the largest ratio of the scatter of the pairs (a, c) to that of the pairs (a, b). The
    neighborhoods are the 10 and the 20 anchors nearest to each of some centers, and all anchors.

    With multipliers :math:`0 \le \alpha_t \le 1 / T`, the dual problem is to maximize their sum
    under :math:`\beta + \sum_t \alpha_t (d_k^2(a, b) - d_k^2(a, c)) \ge 0` for every direction k.
    The slopes of the smoothed hinge are multipliers, up to a factor.

    References
    ----------
    Y. Shi, A. Bellet, F. Sha. Sparse compositional metric learning. AAAI 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import SCML
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> learner = SCML(random_state=0).fit(X, y)
    >>> learner.n_directions_ < 20 * X.shape[1]
    True
    """

    _ranges: ClassVar = {
        "beta": {"low": 0},
        "n_basis": {"low": 1, "integer": True, "instead": None},
        "n_impostors": {"low": 1, "integer": True},
        "n_constraints": {"low": 1, "integer": True},
    }

    beta: float = 0.001
    n_basis: int | None = None
    n_neighbors: int = 3
    n_impostors: int = 10
    n_constraints: int = 20000
    max_iter: int = 1000
    tol: float = 0.001
    random_state: int | np.random.RandomState | None = None

    def _comparisons(self, points: Array, labels: PairLabels) -> Array:
        # Far from the origin, squared distances would lose their digits.
        Z = center_points(points)
        triplets = neighbor_triplets(Z, labels, self.n_neighbors, self.n_impostors)
        if len(triplets) == 0:
            raise ValueError(
                "No point is in both a similar and a dissimilar pair (there are "
                f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pairs), so "
                "there are no neighbors to compare. Label two rows of one class and one of "
                "another; or mark similar and dissimilar pairs of the same points."
            )
        if len(triplets) > self.n_constraints:
            seed = check_random_state(self.random_state)
            sample = sample_without_replacement(
                len(triplets), self.n_constraints, random_state=seed
            )
            triplets = triplets[np.sort(sample)]
        return triplets

    def _learn_comparisons(self, points: Array, rows: Array) -> tuple[Array, dict[str, Any]]:
        Z = center_points(points)
        near, far, unit = in_mean_distances(Z, rows)
        n_basis = min(20 * Z.shape[1], 500) if self.n_basis is None else int(self.n_basis)
        basis = local_directions(
            Z / unit, rows[:, 0], near, far, n_basis=n_basis, random_state=self.random_state
        )
        P, n_directions, value, gap, n_iter = compose(
            near, far, basis, float(self.beta), self.max_iter, self.tol
        )
        if not n_directions:
            warn(
                "The learned metric is zero (rank 0): SCML gives no direction any weight, and "
                "every distance is 0. beta is too large for these comparisons; lower it."
            )
        early = gap > self.tol and n_iter < self.max_iter
        certified = self._certified(value, n_iter, gap, stopped_early=early)
        return P / unit, {"n_directions_": n_directions, **certified}


def in_mean_distances(Z: Array, rows: Array) -> tuple[Array, Array, float]:
    """Return the differences in each triplet, and the mean distance that is their unit."""
    near, far = Z[rows[:, 0]] - Z[rows[:, 1]], Z[rows[:, 0]] - Z[rows[:, 2]]
    unit = float(np.sqrt((np.vdot(near, near) + np.vdot(far, far)) / (2.0 * len(rows))))
    if not unit > 0.0:
        raise ValueError(
            f"The points of all {len(rows)} triplets coincide: there is nothing to learn. "
            "Pass points that differ."
        )
    return near / unit, far / unit, unit


def compose(
    near: Array, far: Array, basis: Array, beta: float, max_iter: int, tol: float
) -> tuple[Array, int, float, float, int]:
    """Weight the directions in `basis`.

    Returns the factor, the number of directions with a weight, the objective, its gap and the
    number of iterations.
    """
    differences = (near @ basis.T) ** 2 - (far @ basis.T) ** 2
    weights, value, gap, n_iter = Hinges(differences, beta).minimize(max_iter, tol, tol)
    used = weights > 0.0
    scaled = np.sqrt(weights[used])[:, np.newaxis] * basis[used]
    _, lengths, directions = svd(scaled)
    kept = lengths > 1e-10 * lengths.max(initial=0.0)
    P = lengths[kept, np.newaxis] * directions[kept]
    return P, int(used.sum()), value, gap, n_iter


def neighbor_triplets(
    points: Array, labels: PairLabels, n_neighbors: int, n_impostors: int
) -> Array:
    """Combine, for each point, its nearest points known to be alike with those known to differ."""
    alike, unlike = [labels.pairs[labels.similar]], [labels.pairs[~labels.similar]]
    alike.append(alike[0][:, ::-1])
    unlike.append(unlike[0][:, ::-1])
    for _, rows, near, far in nearest_by_class(points, labels.codes, n_neighbors, n_impostors):
        alike.append(np.column_stack([np.repeat(rows, near.shape[1]), near.ravel()]))
        unlike.append(np.column_stack([np.repeat(rows, far.shape[1]), far.ravel()]))
    near_of = _nearest_partners(points, np.vstack(alike), n_neighbors)
    far_of = _nearest_partners(points, np.vstack(unlike), n_impostors)
    triplets = [np.empty((0, 3), dtype=np.intp)]
    for a in sorted(near_of.keys() & far_of.keys()):
        b, c = np.meshgrid(near_of[a], far_of[a], indexing="ij")
        triplets.append(np.column_stack([np.full(b.size, a), b.ravel(), c.ravel()]))
    return np.vstack(triplets)


def _nearest_partners(points: Array, pairs: Array, k: int) -> dict[int, Array]:
    """Return the `k` nearest partners of the first row of each pair, by that row."""
    order = np.lexsort([pairs[:, 1], pair_squares(points, pairs), pairs[:, 0]])
    anchors, starts = np.unique(pairs[order, 0], return_index=True)
    groups = np.split(pairs[order, 1], starts[1:])
    return {int(a): group[:k] for a, group in zip(anchors, groups, strict=True)}


def local_directions(
    Z: Array,
    anchors: Array,
    near: Array,
    far: Array,
    *,
    n_basis: int,
    random_state: int | np.random.RandomState | None,
) -> Array:
    """Return unit vectors, as rows, that separate the far from the near in some neighborhood.

    `anchors` has the row of the first point of each triplet, `near` and `far` its differences
    from the second and from the third.
    """
    m = Z.shape[1]
    ridge = _RIDGE * np.trace(near.T @ near + far.T @ far) / (2.0 * m * len(near)) * np.eye(m)

    def discriminants(members: Array, d: int) -> Array:
        count = len(members)
        # max_b  sum (b'(a - c))^2 / sum (b'(a - b))^2, over the triplets (a, b, c) of the members
        apart, together = far[members], near[members]
        vectors = eigh(apart.T @ apart / count, together.T @ together / count + ridge)[1]
        best: Array = vectors[:, ::-1][:, :d].T
        return best / np.linalg.norm(best, axis=1, keepdims=True)

    parts = [discriminants(np.arange(len(near)), m)]
    if n_basis <= m:
        return parts[0][:n_basis]
    rows, owner = np.unique(anchors, return_inverse=True)
    centers, d = Z[rows], min(_PER_REGION, m)
    n_centers = -(-(n_basis - m) // (d * len(_REGIONS)))
    if n_centers < len(rows):
        clusters = KMeans(n_centers, n_init=1, random_state=random_state)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of points that coincide
            centers = clusters.fit(Z[rows]).cluster_centers_
    widest = min(_REGIONS[-1], len(rows))
    nearest = NearestNeighbors(n_neighbors=widest).fit(Z[rows])
    order = np.argsort(owner, kind="stable")
    triplets_of = np.split(order, np.cumsum(np.bincount(owner))[:-1])
    for region in nearest.kneighbors(centers, return_distance=False):
        for size in _REGIONS:
            members = np.concatenate([triplets_of[row] for row in region[:size]])
            parts.append(discriminants(members, d))
    return np.vstack(parts)[:n_basis]


class _At(NamedTuple):
    """The objective at some weights: exact and smoothed, the latter's gradient, and a bound."""

    exact: float
    smoothed: float
    gradient: Array
    gap: float  # the objective minus the value of the nearest feasible multipliers


class Hinges:
    """The objective of the weights: mean hinge of ``1 + differences @ w``, plus ``beta sum w``."""

    def __init__(self, differences: Array, beta: float) -> None:
        self.differences, self.beta = differences, beta

    def at(self, weights: Array, width: float) -> _At:
        """Compute the objective and its bound, from two products with the differences."""
        margins = 1.0 + self.differences @ weights
        exact, smoothed, slopes = smoothed_hinge(margins, width)
        count, penalty = len(margins), self.beta * float(weights.sum())
        exact, smoothed = exact / count + penalty, smoothed / count + penalty
        gradient = slopes @ self.differences / count + self.beta
        # The slopes are multipliers, feasible if no direction's sum of them exceeds beta.
        excess = self.beta - float(gradient.min(initial=np.inf))
        factor = 1.0 if excess <= self.beta else self.beta / excess
        gap = max(0.0, exact - factor * float(slopes.mean()))
        return _At(exact, smoothed, gradient, gap)

    def minimize(
        self, max_iter: int, tol: float, progress: float = 0.0
    ) -> tuple[Array, float, float, int]:
        """Return the weights, the objective, its gap and the number of iterations.

        Stops at the gap `tol`, or where an iteration, and a sharper kink, lower the objective by
        less than `progress`.
        """
        weights, n_iter = np.zeros(self.differences.shape[1]), 0
        best, best_weights = self.at(weights, _WIDTHS[0]), weights
        for width in _WIDTHS:
            before = best.exact
            weights, at, n_steps = self._descend(weights, width, max_iter - n_iter, tol, progress)
            n_iter += n_steps
            if at.gap <= tol or at.exact < before:
                best, best_weights = at, weights
            if at.gap <= tol or n_iter >= max_iter or before - best.exact < progress:
                break
        return best_weights, best.exact, best.gap, n_iter

    def _descend(
        self, first: Array, width: float, max_iter: int, tol: float, progress: float
    ) -> tuple[Array, _At, int]:
        """Minimize the smoothed objective; return the weights, their worth, and iterations."""
        last = self.at(first, width)
        if last.gap <= tol:
            return first, last, 0

        def objective(weights: Array) -> tuple[float, Array]:
            nonlocal last
            last = self.at(weights, width)
            return last.smoothed, last.gradient

        result = lbfgs(
            objective,
            first,
            max_iter=max_iter,
            is_done=lambda _: last.gap <= tol,
            ftol=max(progress, _PROGRESS),
            nonnegative=True,
        )
        return result.x, self.at(result.x, width), int(result.nit)
