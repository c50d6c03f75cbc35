"""LDM: weights of the principal components, learned from the neighbors of labeled points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, logsumexp

from .._marks import PairLabels
from .._points import exact_size, magnitude, principal_directions, subtract_mean
from .._utils._typing import Array
from .._utils._warnings import warn
from ._distances import distance_rows, pair_differences, pair_squares
from ._lbfgs import lbfgs
from ._learner import ClassicLearner, no_common_points
from ._rows import paired_rows

# Default weight of the trace for one term and a unit largest variance: our choice, as the paper
# has no such term. It scales as the standard deviation of the likelihood's gradient, with the root
# of the number of terms.
_NOISE = 0.03
# Log of the mass of a point without similar pairs, or without dissimilar ones: it has no weight.
_SMALLEST = float(np.finfo(float).min)


@dataclass(eq=False, repr=False, kw_only=True)
class LDM(ClassicLearner):
    r"""Local distance metric learning (Yang, Jin, Sukthankar and Liu, 2006).

    The metric is :math:`A = \sum_k \gamma_k v_k v_k'` with :math:`\gamma_k \ge 0`, where
    :math:`v_k` are the principal components of all points, labeled or not. The weights
    maximize

    .. math:: \sum_x \ln \frac{M_S(x)}{M_S(x) + M_D(x)} - \lambda\, \mathrm{tr}(A),
              \qquad M(x) = \sum_{x'} e^{-\|x - x'\|_A^2},

    with :math:`M_S(x)` summed over the points known to be similar to :math:`x` and
    :math:`M_D(x)` over those known to be dissimilar: a point should have some of its own kind
    close by, not all of them. The sum runs over the points that are in both kinds of pairs.
    A point with similar pairs alone would add 0 whatever the metric, one with dissimilar pairs
    alone minus infinity; they are left out, but count as neighbors.

    Parameters
    ----------
    n_components : int, optional
        Largest number of principal components to use; all that vary if None.
    lam : float or "auto", default="auto"
        Weight of the trace. "auto" is ``0.03 sqrt(t) * 2 eigmax(Cov(X))`` for t points in the
        sum; the fitted distances then do not depend on the units of X. The trace is ours: without
        it (``lam=0``), the weights grow without end where the nearest labeled points of all are of
        their kind, as they often are with few labels in many dimensions.
    max_iter : int, default=500
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop at this ``optimality_gap_``.

    Attributes
    ----------
    components_ : ndarray of shape (rank, n_features)
        The learned map: principal components times the root of their weight, without those
        of weight 0.
    gamma_ : ndarray of shape (n_principal_components,)
        Weight of each principal component that is used, the one of largest variance first.
    lam_ : float
        The weight of the trace that was used.
    objective_ : float
        Value of the objective.
    optimality_gap_ : float
        How much the objective can still change, to first order and per point in the sum, if
        one weight changes by its own size or grows by the size of the largest.
    converged_, n_iter_ : bool and int
        Whether ``optimality_gap_`` met the tolerance, and the number of iterations.

    Notes
    -----
    The likelihood is not concave, so the maximum may be a local one. The search starts from
    the Euclidean distance, at unit mean squared distance of two points.

    References
    ----------
    L. Yang, R. Jin, R. Sukthankar, Y. Liu. An efficient algorithm for local distance metric
    learning. AAAI 2006. (The solver used here is not theirs, but L-BFGS.)

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import LDM
    >>> X, y = load_wine(return_X_y=True)
    >>> learner = LDM().fit(X / X.std(axis=0), y)
    >>> learner.gamma_.shape, bool(learner.gamma_.min() >= 0.0)
    ((13,), True)
    """

    _ranges: ClassVar = {"lam": {"low": 0, "instead": "auto"}}

    n_components: int | None = None
    lam: float | Literal["auto"] = "auto"
    max_iter: int = 500
    tol: float = 1e-4

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        axes, Z, unit = _principal_components(points, self.n_components)
        likelihood = Likelihood(Z, labels)
        if self.lam == "auto":
            lam = _NOISE * np.sqrt(likelihood.n_terms) * 2.0 * float(Z[:, 0].var())
        else:
            lam = float(self.lam) / unit**2
        start = np.ones(len(axes))
        gamma, value, gap, n_iter = maximize(likelihood, start, lam, self.max_iter, self.tol)
        used = gamma > 0.0
        if not used.any():
            warn(
                f"The learned metric is zero (rank 0): {type(self).__name__} gives no component "
                "any weight, and every distance is 0. lam is too large for these labels, or "
                "they are best met by a zero metric; lower lam or check the labels."
            )
        advice = "Raise max_iter, or tol, or lam."
        if self.lam == 0:
            advice = "With lam=0 the likelihood may have no maximum. " + advice
        return np.sqrt(gamma[used])[:, np.newaxis] * axes[used] / unit, {
            "gamma_": gamma / unit**2,
            "lam_": lam * unit**2,
            **self._certified(value, gap, n_iter, advice=advice),
        }


def _principal_components(points: Array, n_components: int | None) -> tuple[Array, Array, float]:
    """Return the principal axes as rows, the points along them, and the unit of length.

    The unit is the root of the mean squared distance of two points (along these axes).
    """
    size = exact_size(magnitude(points))
    # Every component that varies counts, down to rounding errors in the precision of X.
    floor = float(np.finfo(points.dtype).eps) * max(points.shape)
    left, lengths, axes = principal_directions(
        subtract_mean(points.astype(np.float64) / size), floor
    )
    if not lengths[0] > floor:
        raise ValueError(
            f"All {len(points)} rows of X are the same point: there is no principal component. "
            "Pass points that differ."
        )
    keep = min(len(lengths), n_components or len(lengths))
    spread = float(np.sqrt(2.0 * (lengths[:keep] ** 2).sum() / len(points)))
    return axes[:keep], left[:, :keep] * (lengths[:keep] / spread), size * spread


def maximize(
    likelihood: Likelihood, first: Array, lam: float, max_iter: int, tol: float
) -> tuple[Array, float, float, int]:
    """Maximize ``likelihood(gamma) - lam * sum(gamma)`` over ``gamma >= 0`` by L-BFGS.

    Returns gamma, the objective, its gap and the number of iterations.
    """
    n_terms, gap = likelihood.n_terms, np.inf

    def negative(gamma: Array) -> tuple[float, Array]:
        nonlocal gap
        value, near, far = likelihood(gamma)
        slope = far - near - lam
        reach = np.maximum(gamma * np.abs(slope), max(1.0, gamma.max()) * slope)
        gap = float(reach.max()) / n_terms
        return (lam * float(gamma.sum()) - value) / n_terms, -slope / n_terms

    value = negative(first)[0]
    if gap <= tol:
        return first, -n_terms * value, gap, 0
    result = lbfgs(
        negative, first, max_iter=max_iter, is_done=lambda *_: gap <= tol, nonnegative=True
    )
    value = negative(result.x)[0]
    return result.x, -n_terms * value, gap, result.nit


class Likelihood:
    """Local log-likelihood of weights of the columns of `Z`, and the moments of its bound.

    Pairs that follow from class labels are summed by rows, marked pairs are listed: no array has
    the size of all pairs.
    """

    def __init__(self, Z: Array, labels: PairLabels) -> None:
        known = labels.rows_by_class
        rows, pairs = paired_rows(labels, known)
        self.Z, self.codes = subtract_mean(Z[rows]), labels.codes[known]
        self.similar, self.dissimilar = pairs[labels.similar], pairs[~labels.similar]

        n, k, sizes = len(rows), len(self.codes), np.bincount(self.codes)
        n_similar = np.bincount(self.similar.ravel(), minlength=n)
        n_dissimilar = np.bincount(self.dissimilar.ravel(), minlength=n)
        n_similar[:k] += sizes[self.codes] - 1
        n_dissimilar[:k] += k - sizes[self.codes]
        self.counts = (n_similar > 0) & (n_dissimilar > 0)
        self.n_terms = int(self.counts.sum())
        if self.n_terms == 0:
            raise no_common_points(labels)

    def __call__(self, gamma: Array) -> tuple[float, Array, Array]:
        """Return the log-likelihood, and its moments over similar and over dissimilar points."""
        # With h = M_D / (M_S + M_D), the derivative of ln M_S / (M_S + M_D) at x by gamma_k is
        # h (E_D - E_S), with the means E of (x - x')_k^2 over its partners, weighted by their
        # kernel exp(-d2). `near` sums h E_S over the points, `far` h E_D.
        used = gamma > 0.0
        scaled = self.Z[:, used] * np.sqrt(gamma[used])
        short, long = pair_squares(scaled, self.similar), pair_squares(scaled, self.dissimilar)
        log_similar = _log_masses(self.similar, short, len(scaled))
        log_dissimilar = _log_masses(self.dissimilar, long, len(scaled))
        near, far = np.zeros_like(gamma), np.zeros_like(gamma)
        k = len(self.codes)
        for rows, d2 in distance_rows(scaled[:k]):
            same = self.codes[rows, np.newaxis] == self.codes
            alike, apart = np.where(same, -d2, -np.inf), np.where(same, -np.inf, -d2)
            for log, kernel in ((log_similar, alike), (log_dissimilar, apart)):
                log[rows] = np.logaddexp(log[rows], logsumexp(kernel, axis=1))
            _, hard = _hardness(log_similar[rows], log_dissimilar[rows], self.counts[rows])
            near += _weighted_squares(hard, alike, log_similar[rows], self.Z[rows], self.Z[:k])
            far += _weighted_squares(hard, apart, log_dissimilar[rows], self.Z[rows], self.Z[:k])
        value, hard = _hardness(log_similar, log_dissimilar, self.counts)
        near += _moments(self.similar, self.Z, short, hard, log_similar)
        far += _moments(self.dissimilar, self.Z, long, hard, log_dissimilar)
        # Sums of squares; a matrix product may leave a zero slightly negative.
        return value, np.maximum(near, 0.0), np.maximum(far, 0.0)


def _hardness(log_similar: Array, log_dissimilar: Array, counts: Array) -> tuple[float, Array]:
    """Sum the log-likelihoods; return also ``M_D / (M_S + M_D)`` of each point, 0 if left out."""
    odds = log_dissimilar[counts] - log_similar[counts]
    hard = np.zeros(len(counts))
    hard[counts] = expit(odds)
    return -float(np.logaddexp(0.0, odds).sum()), hard


def _weighted_squares(
    hard: Array, kernel: Array, log_mass: Array, points: Array, others: Array
) -> Array:
    """Sum ``hard_i exp(kernel_ij - log_mass_i) (points_ik - others_jk)^2`` over i and j."""
    weights = hard[:, np.newaxis] * np.exp(kernel - np.maximum(log_mass, _SMALLEST)[:, np.newaxis])
    squares: Array = weights.sum(axis=1) @ points**2 + weights.sum(axis=0) @ others**2
    squares -= 2.0 * np.einsum("ik,ik->k", points, weights @ others)
    return squares


def _log_masses(pairs: Array, squared: Array, n: int) -> Array:
    """Return the log of the kernel mass that marked pairs put around each of `n` points.

    A pair counts for both of its points. The log is -inf for a point that is in none.
    """
    ends, shift = pairs.ravel(), np.full(n, np.inf)
    np.minimum.at(shift, ends, np.repeat(squared, 2))
    mass = np.bincount(ends, np.exp(shift[ends] - np.repeat(squared, 2)), n)
    with np.errstate(divide="ignore"):
        return np.log(mass) - shift


def _moments(pairs: Array, Z: Array, squared: Array, hard: Array, log_mass: Array) -> Array:
    """Sum weight times squared difference over marked pairs, for each column of `Z`."""
    total = np.zeros(Z.shape[1])
    for part, gaps in pair_differences(Z, pairs):
        ends = pairs[part]
        weights = hard[ends] * np.exp(-squared[part, np.newaxis] - log_mass[ends])
        total += weights.sum(axis=1) @ gaps**2
    return total
