"""The local log-likelihood of LDM, and the moments that its bound needs."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from .._marks import PairLabels
from .._points import subtract_mean
from .._utils._typing import Array
from ._distances import distance_rows, pair_differences, pair_squares
from ._learner import no_common_points
from ._rows import paired_rows


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

    @property
    def safe_width(self) -> float:
        """Width at which the bound holds everywhere: half of one over the largest distance."""
        # No two points are farther apart than twice the longest; 1 where all coincide.
        longest = float(np.max(np.einsum("ik,ik->i", self.Z, self.Z)))
        return 1.0 / (8.0 * longest) if longest > 0.0 else 1.0

    def __call__(self, gamma: Array) -> tuple[float, Array, Array]:
        """Return the log-likelihood, and its moments over similar and over dissimilar points."""
        used = gamma > 0.0
        scaled = self.Z[:, used] * np.sqrt(gamma[used])
        short, long = pair_squares(scaled, self.similar), pair_squares(scaled, self.dissimilar)
        log_similar = _log_masses(self.similar, short, len(scaled))
        log_dissimilar = _log_masses(self.dissimilar, long, len(scaled))
        near, far = np.zeros_like(gamma), np.zeros_like(gamma)
        for rows, d2 in distance_rows(scaled[: len(self.codes)]):
            more_near, more_far = self._of_rows(d2, rows, log_similar, log_dissimilar)
            near += more_near
            far += more_far
        value, hard = _hardness(log_similar, log_dissimilar, self.counts)
        near += _moments(self.similar, self.Z, short, hard, log_similar)
        far += _moments(self.dissimilar, self.Z, long, hard, log_dissimilar)
        # Sums of squares; a matrix product may leave a zero slightly negative.
        return value, np.maximum(near, 0.0), np.maximum(far, 0.0)

    def _of_rows(
        self, apart: Array, rows: slice, log_similar: Array, log_dissimilar: Array
    ) -> tuple[Array, Array]:
        """Return the moments of some points of known class, and add their masses to the logs.

        `apart` holds the squared distances from them to all such points. It is overwritten.
        """
        # The classes of these points are a range of all.
        first = int(np.searchsorted(self.codes, self.codes[rows.start], side="left"))
        last = int(np.searchsorted(self.codes, self.codes[rows.stop - 1], side="right"))
        block = slice(first, last)
        same = self.codes[rows, np.newaxis] == self.codes[block]
        alike = np.where(same, apart[:, block], np.inf)
        apart[:, block][same] = np.inf

        kernels, logs = (alike, apart), (log_similar, log_dissimilar)
        shifts = [_to_kernel(kernel) for kernel in kernels]
        for kernel, shift, log in zip(kernels, shifts, logs, strict=True):
            with np.errstate(divide="ignore"):  # a row without such pairs has no mass
                log[rows] = np.logaddexp(log[rows], np.log(kernel.sum(axis=1)) - shift)
        _, hard = _hardness(log_similar[rows], log_dissimilar[rows], self.counts[rows])
        near_share, far_share = (
            hard * np.exp(-shift - np.where(np.isfinite(log[rows]), log[rows], 0.0))
            for shift, log in zip(shifts, logs, strict=True)
        )
        points, others = self.Z[rows], self.Z[: len(self.codes)]
        return (
            _weighted_squares(near_share, alike, points, others[block]),
            _weighted_squares(far_share, apart, points, others),
        )


def _hardness(log_similar: Array, log_dissimilar: Array, counts: Array) -> tuple[float, Array]:
    """Sum the log-likelihoods; return also ``M_D / (M_S + M_D)`` of each point, 0 if left out."""
    odds = log_dissimilar[counts] - log_similar[counts]
    hard = np.zeros(len(counts))
    hard[counts] = expit(odds)
    return -float(np.logaddexp(0.0, odds).sum()), hard


def _to_kernel(squared: Array) -> Array:
    """Turn squared distances into ``exp(shift - squared)``, in place; return the shifts."""
    shift: Array = squared.min(axis=1)
    shift[np.isinf(shift)] = 0.0
    np.subtract(shift[:, np.newaxis], squared, out=squared)
    np.exp(squared, out=squared)
    return shift


def _weighted_squares(share: Array, kernel: Array, points: Array, others: Array) -> Array:
    """Compute ``sum_ij share_i kernel_ij (points_ik - others_jk)^2`` by matrix products."""
    mass = share * kernel.sum(axis=1)
    cross = share[:, np.newaxis] * points * (kernel @ others)
    squares: Array = mass @ points**2 + (share @ kernel) @ others**2
    squares -= 2.0 * cross.sum(axis=0)
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
