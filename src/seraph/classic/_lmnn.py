"""Large margin nearest neighbors (Weinberger, Blitzer, Saul 2005; Weinberger, Saul 2009)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._marks import PairLabels
from .._points import exact_size, magnitude, principal_directions, subtract_mean
from .._solvers import compress
from .._utils._eigen import eigvalsh, svd
from .._utils._typing import Array
from ._lbfgs import lbfgs
from ._learner import CONVERGED_GAP, ClassLabelLearner
from ._triples import Triples

# Number of iterations between two lower bounds: one costs as much as an iteration.
_ITERATIONS_PER_BOUND = 5
# Directions whose pull is more than this many times the median are rescaled (`scales`).
_OUTSTANDING = 10.0
# The best multiple of the Euclidean metric is searched for within this many octaves of the mean
# squared distance, and then above them, up to the second number.
_OCTAVES, _MOST_OCTAVES = 10.0, 90.0
# Lengths below this share of the largest are zero up to rounding.
_ROUNDING = 1e-12


@dataclass(eq=False, repr=False, kw_only=True)
class LMNN(ClassLabelLearner):
    r"""Large margin nearest neighbors (Weinberger, Blitzer and Saul, 2005).

    Each labeled point has target neighbors: the `n_neighbors` nearest points of its class
    under the Euclidean distance. The metric pulls them close, and pushes points of other
    classes farther away than they are, by a margin of one: it minimizes

    .. math:: (1 - \mu) \sum_{j \to i} d^2_{ij} + \mu \sum_{j \to i} \sum_{l: y_l \neq y_i}
              [1 + d^2_{ij} - d^2_{il}]_+

    over the targets :math:`j` of each :math:`i`. It learns from class labels alone; unlabeled
    rows have no influence. A common factor on X does not change the learned distances, but the
    scales of the features relative to each other matter, through the targets.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of target neighbors of a point; fewer in a class that has fewer.
    push_weight : float, default=0.5
        The weight :math:`\mu` of the push, between 0 and 1; the pull has the rest.
    n_components : int, optional
        Largest rank of the metric. With it, the search starts from that many principal
        components and finds a local minimum; without it, the minimum is global.
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=0.3
        Stop at this ``optimality_gap_``. The default stops early, closer to the Euclidean metric;
        0.01 goes to the minimum. With `n_components`, stop also where an iteration lowers the
        objective by less than ``1e-4 * tol``, relatively: a bound over all metrics is loose there.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map ``P``; the metric is ``P'P``. Orthogonal rows, the longest first.
    objective_, optimality_gap_ : float
        Value of the objective, with the exact hinge; and how far it may be above its minimum over
        all metrics, by a lower bound from the dual problem, as a share of the objective at the
        start: the best multiple of the Euclidean metric (on the principal components, with
        `n_components`).
    converged_, stopped_early_ : bool
        Whether the gap is within `tol`, and no more than 0.01, or with `n_components`, whether
        the objective has stopped falling; and whether a larger `tol` ended the fit before.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    K. Weinberger, J. Blitzer, L. Saul. Distance metric learning for large margin nearest
    neighbor classification. NIPS 2005.

    K. Weinberger, L. Saul. Distance metric learning for large margin nearest neighbor
    classification. JMLR 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> learner = LMNN(n_components=2).fit(X, y)
    >>> learner.transform(X).shape
    (178, 2)
    """

    _ranges: ClassVar = {"push_weight": {"above": 0, "below": 1}}

    n_neighbors: int = 3
    push_weight: float = 0.5
    n_components: int | None = None
    max_iter: int = 1000
    tol: float = 0.3

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        rows = labels.rows_by_class
        labeled = self._labeled_points(points, labels, rows)
        coordinates, map_to_them = _principal_coordinates(labeled)
        triples = Triples(
            coordinates,
            labels.codes[rows],
            n_neighbors=self.n_neighbors,
            push_weight=float(self.push_weight),
            width=float(np.clip(3.0 * self.tol, 1e-3, 0.1)),
        )
        first = _first_factor(triples, self.n_components)
        P, objective, gap, converged, n_iter = _minimize(
            triples, first, max_iter=self.max_iter, tol=self.tol
        )
        early = not converged and gap <= self.tol
        return compress(P) @ map_to_them, self._certified(
            objective, n_iter, gap, converged=converged, stopped_early=early
        )


def _principal_coordinates(X: Array) -> tuple[Array, Array]:
    """Return coordinates along the principal directions, and the map (d, m) that leads to them.

    The mean squared length of a coordinate is one, which suits the first step of L-BFGS.
    """
    size = exact_size(magnitude(X))
    left, lengths, directions = principal_directions(subtract_mean(X / size))
    unit = float(np.sqrt(np.mean(lengths**2)))
    return left * (lengths / unit), directions / unit / size


def _first_factor(triples: Triples, rank: int | None) -> Array:
    """Return the best multiple of the identity, or of its first `rank` rows."""
    d = triples.points.shape[1]
    P: Array = np.eye(d if rank is None else min(rank, d), d)
    mean = 2.0 * float(np.mean(np.sum(triples.points**2, axis=1)))
    low, high = -_OCTAVES, _OCTAVES
    while True:
        top = high
        for _ in range(10):
            middle = 0.5 * (low + high)
            factor: Array = np.sqrt(2.0**middle / mean) * P
            slope = np.vdot(triples.at(factor).laplacian, triples.points @ factor.T)
            low, high = (low, middle) if slope > 0.0 else (middle, high)
        # Outliers make the mean distance far larger than those between neighbors.
        if high < top or top > _MOST_OCTAVES:
            break
        low, high = top, top + 2.0 * _OCTAVES
    factor = np.sqrt(2.0**low / mean) * P
    return factor


def _minimize(
    triples: Triples, P: Array, *, max_iter: int, tol: float
) -> tuple[Array, float, float, bool, int]:
    """Run L-BFGS on the factor until the lower bound shows that the minimum is close.

    Returns the factor, the objective, its gap, whether it converged, and the number of iterations.
    The search runs on ``Q`` with ``P = Q S``: outliers may pull harder in one direction than the
    other points in all others, and a step short enough for it would hardly move the rest.
    """
    X, capped = triples.points, P.shape[0] < P.shape[1]
    bound = _LowerBound(triples)
    at, lower, n_iter = triples.at(P), 0.0, 0
    # Duplicates may leave nothing but rounding errors to lower.
    unit = max(at.smoothed, 1e-9 * float(triples.present.sum()))

    def gap() -> float:
        return max(0.0, at.exact - lower) / unit

    S, inverse = bound.scales()

    def value_and_gradient(Q: Array) -> tuple[float, Array]:
        nonlocal at
        at = triples.at(Q @ S)
        return at.smoothed / unit, (2.0 / unit) * (at.laplacian.T @ X) @ S

    def is_done(Q: Array) -> bool:
        nonlocal lower, n_iter
        n_iter += 1
        if n_iter % _ITERATIONS_PER_BOUND == 0:
            lower = max(lower, bound(Q @ S))
        return gap() <= tol

    result = lbfgs(
        value_and_gradient,
        P @ inverse,
        max_iter=max_iter,
        is_done=is_done,
        ftol=1e-4 * tol if capped else 0.0,
    )
    P = result.x @ S
    at = triples.at(P)
    lower = max(lower, bound(P))
    converged = gap() <= min(tol, CONVERGED_GAP) or (capped and bool(result.success))
    return P, at.exact, gap(), converged, n_iter


class _LowerBound:
    """A lower bound on the objective of every metric, from the dual problem.

    For weights w in [0, 1] of the triples, the objective at any A is at least
    ``mu sum(w) + <G, A>``, with G the gradient with respect to A for these weights. Where G is
    positive semi-definite, that is at least ``mu sum(w)``. Where it is not, shrinking w makes it
    so: the gradient at ``s w`` is ``(1 - s)(1 - mu) C + s G``, with C the scatter of the targets.

    In a direction without any pull, C is zero and no weight may remain on a pair that differs
    there: a long enough metric separates it for free.
    """

    def __init__(self, triples: Triples) -> None:
        self.triples = triples
        X = triples.points
        # The roots of C's eigenvalues come from the differences: C itself squares their condition.
        i, rank = np.nonzero(triples.present)
        root = np.linalg.qr(X[i] - X[triples.targets[i, rank]], mode="r")
        _, lengths, directions = svd(np.asarray(root), full_matrices=True)
        lengths = np.pad(lengths, (0, len(directions) - len(lengths)))
        lengths *= np.sqrt(1.0 - triples.push_weight)
        size = float(np.linalg.norm(X))
        self.lengths, self.directions = lengths, directions
        pulled = lengths > _ROUNDING * size
        self.free = (1.0 / (_ROUNDING * size)) * directions[~pulled]
        self.whitened = X @ (directions[pulled].T / lengths[pulled])

    def scales(self) -> tuple[Array, Array]:
        """Return a matrix that shortens the directions of an outstanding pull, and its inverse."""
        pulled = self.lengths[self.lengths > 0.0]
        median = np.median(pulled) if len(pulled) else 1.0
        s = np.maximum(1.0, self.lengths / (_OUTSTANDING * median))
        return (self.directions.T / s) @ self.directions, (self.directions.T * s) @ self.directions

    def __call__(self, P: Array) -> float:
        at = self.triples.at(np.vstack([P, self.free]), self.whitened)
        values = eigvalsh(self.whitened.T @ at.laplacian)
        if len(values) == 0:
            return 0.0
        least = float(values[0] - _ROUNDING * max(1.0, values[-1]))
        return at.push / (1.0 - min(least, 0.0))
