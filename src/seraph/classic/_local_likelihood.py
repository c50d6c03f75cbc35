"""The local log-likelihood of LDM, and the moments that its bound needs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from .._marks import PairLabels
from .._utils._tiles import row_slices
from .._utils._typing import Array
from ._distances import CHUNK, distance_rows
from ._rows import PairedRows


class Likelihood:
    """Local log-likelihood of weights of the columns of `Z`, and the moments of its bound.

    Pairs that follow from class labels are summed by rows, marked pairs are listed: no array has
    the size of all pairs.
    """

    def __init__(self, Z: Array, labels: PairLabels) -> None:
        paired = PairedRows.of(labels)
        self.Z = Z[paired.rows] - Z[paired.rows].mean(axis=0)
        self.codes = paired.codes
        self.similar = _MarkedPairs(paired.pairs[labels.similar])
        self.dissimilar = _MarkedPairs(paired.pairs[~labels.similar])

        n, k, sizes = len(paired.rows), len(self.codes), np.bincount(self.codes)
        n_similar = np.bincount(self.similar.pairs.ravel(), minlength=n)
        n_dissimilar = np.bincount(self.dissimilar.pairs.ravel(), minlength=n)
        n_similar[:k] += sizes[self.codes] - 1
        n_dissimilar[:k] += k - sizes[self.codes]
        self.counts = (n_similar > 0) & (n_dissimilar > 0)
        self.n_terms = int(self.counts.sum())
        if self.n_terms == 0:
            raise ValueError(
                "No point is in both a similar and a dissimilar pair (there are "
                f"{labels.n_similar} similar and {labels.n_dissimilar} dissimilar pairs), so "
                "there are no neighbors to compare. Label two rows of one class and one of "
                "another; or mark similar and dissimilar pairs of the same points."
            )

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
        short, long = self.similar.squared(scaled), self.dissimilar.squared(scaled)
        log_similar = self.similar.log_masses(short, len(scaled))
        log_dissimilar = self.dissimilar.log_masses(long, len(scaled))
        near, far = np.zeros_like(gamma), np.zeros_like(gamma)
        for rows, d2 in distance_rows(scaled[: len(self.codes)]):
            more_near, more_far = self._of_rows(d2, rows, log_similar, log_dissimilar)
            near += more_near
            far += more_far
        value, hard = _hardness(log_similar, log_dissimilar, self.counts)
        near += self.similar.moments(self.Z, short, hard, log_similar)
        far += self.dissimilar.moments(self.Z, long, hard, log_dissimilar)
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
        block, own = slice(first, last), np.arange(rows.start, rows.stop)
        same = self.codes[rows, np.newaxis] == self.codes[block]
        alike = np.where(same, apart[:, block], np.inf)
        alike[own - rows.start, own - first] = np.inf
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


class _MarkedPairs:
    """Marked pairs of one kind; each counts for both of its points."""

    def __init__(self, pairs: Array) -> None:
        self.pairs = pairs

    def squared(self, scaled: Array) -> Array:
        """Return the squared distance of each pair."""
        return np.concatenate(
            [np.einsum("ik,ik->i", gaps, gaps) for _, gaps in self._gaps(scaled)] or [np.empty(0)]
        )

    def log_masses(self, squared: Array, n: int) -> Array:
        """Return the log of the kernel mass around each of `n` points, -inf for none."""
        ends, shift = self.pairs.ravel(), np.full(n, np.inf)
        np.minimum.at(shift, ends, np.repeat(squared, 2))
        mass = np.bincount(ends, np.exp(shift[ends] - np.repeat(squared, 2)), n)
        with np.errstate(divide="ignore"):
            return np.log(mass) - shift

    def moments(self, Z: Array, squared: Array, hard: Array, log_mass: Array) -> Array:
        """Sum weight times squared difference over the pairs, for each column of `Z`."""
        total = np.zeros(Z.shape[1])
        for part, gaps in self._gaps(Z):
            ends = self.pairs[part]
            weights = hard[ends] * np.exp(-squared[part, np.newaxis] - log_mass[ends])
            total += weights.sum(axis=1) @ gaps**2
        return total

    def _gaps(self, Z: Array) -> Iterator[tuple[slice, Array]]:
        """Yield the differences of the points of the pairs, some pairs at a time."""
        for part in row_slices(len(self.pairs), CHUNK // max(1, Z.shape[1])):
            yield part, Z[self.pairs[part, 0]] - Z[self.pairs[part, 1]]
