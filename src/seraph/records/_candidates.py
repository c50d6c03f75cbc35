"""Decide about candidate pairs so that a wanted share of the accepted ones is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.special import expit, log_expit

from .._decisions._held_out import HeldOut
from .._decisions._threshold import Interval
from .._utils._typing import Array

# Scale of the Cauchy prior on the slope, per standard deviation of the squared distance. Gelman,
# Jakulin, Pittau and Su (2008) propose 2.5 for a logistic regression. Its heavy tail leaves room
# for answers that the distance tells apart without error.
_SCALE = 2.5
_SLOPES = np.geomspace(0.1, 500.0, 121)
_PLACES, _BETWEEN = 121, 41  # of the curve's middle: over the whole range, and where kinds meet
_BESIDE = 0.5  # standard deviations beyond the answers that the middle may lie
_CURVES = 400  # that stand for the posterior
_OUTCOMES = 5  # for each of them
_ENDS = (2.5, 50.0, 97.5)  # percentiles
_AT_ONCE = 20_000  # candidates, to save memory


@dataclass(frozen=True)
class CandidateDecision:
    r"""A threshold for candidate pairs, and what it is expected to reach among them.

    Answered pairs are seldom a random sample of the candidates. But as far as they were chosen by
    their distance, they do tell how likely a pair at a given distance is similar. A hundred
    answers leave many curves :math:`p(d) = \sigma(a - b d^2)` possible; `curves_given` has them as
    likely as the answers make them. With the mean :math:`\bar p` of the curves and the distances
    :math:`d_k` of all candidates, a threshold t is expected to reach

    .. math:: \text{precision}(t) = \frac{\sum_{d_k \le t} \bar p(d_k)}{\#\{d_k \le t\}}.

    Parameters
    ----------
    threshold : float
        Distance up to which candidates are accepted: the largest with the wanted precision at
        which a pair is still more likely similar than not.
    intercepts, slopes : ndarray of shape (n_curves,)
        The numbers a and b of each curve.
    """

    threshold: float
    intercepts: Array
    slopes: Array

    @classmethod
    def reach(cls, held: HeldOut, distances: Array, target: float) -> CandidateDecision:
        """Choose the largest threshold whose expected precision is at least `target`.

        Parameters
        ----------
        held : HeldOut
            Distances of the answered pairs, out of fold.
        distances : ndarray of shape (k,)
            Distances of the candidates.
        target : float
            The wanted precision.
        """
        ordered = np.sort(distances)
        a, b = curves_given(held.distances**2, held.similar)
        p = _mean_curve(a, b, ordered)
        expected = np.cumsum(p) / np.arange(1, len(p) + 1)
        reached = np.flatnonzero((expected >= target) & (p >= 0.5))
        if len(reached) == 0:
            most = np.floor(1e4 * p[0]) / 1e4
            raise ValueError(
                f"A precision of {target:g} cannot be reached with these answers: even the "
                f"nearest pairs are right with a probability of {most:g} only. Ask for less, or "
                "answer more pairs."
            )
        last = int(reached[-1])
        threshold = float(np.mean(ordered[last : last + 2]))
        return cls(threshold, a, b)

    def probability(self, distances: Array) -> Array:
        """Return the probability that pairs at these distances are similar."""
        return _mean_curve(self.intercepts, self.slopes, distances)

    def predicted(self, taken: Array, left: Array, sure: int = 0) -> tuple[Interval, Interval]:
        """Predict the precision and the recall of taking some candidates and leaving the others.

        Each curve says how many of the pairs taken are wrong and how many others are missed, on
        average. The counts themselves are sums of rare events: Poisson.

        Parameters
        ----------
        taken, left : ndarray
            Distances of the pairs that were taken, and of the others.
        sure : int, default=0
            Number of other pairs that were taken and are known to be right.

        Returns
        -------
        precision, recall : (value, low, high)
            The middle, and the ends of the range that holds 95 % of the predictions. The recall
            is that among the candidates.
        """
        rng = default_rng(0)
        shape = _OUTCOMES, len(self.slopes)
        wrong = rng.poisson(self._counts(taken, -1.0), size=shape)
        missed = rng.poisson(self._counts(left, 1.0), size=shape)
        total = sure + len(taken)
        right = total - np.minimum(wrong, len(taken))
        return _interval(right / max(total, 1)), _interval(right / np.maximum(right + missed, 1))

    def _counts(self, distances: Array, sign: float) -> Array:
        """Return how many of some pairs each curve expects to be similar, or not (sign -1)."""
        counts = np.zeros(len(self.slopes))
        for start in range(0, len(distances), _AT_ONCE):
            squared = distances[start : start + _AT_ONCE] ** 2
            margins = self.intercepts - np.multiply.outer(squared, self.slopes)
            counts += expit(sign * margins).sum(axis=0)
        return counts


def curves_given(squared: Array, similar: Array) -> tuple[Array, Array]:
    r"""Return curves :math:`p = \sigma(a - b d^2)`, each as likely as the answers make it.

    In standard deviations of the squared distance, a curve has a slope :math:`\beta > 0` with a
    Cauchy prior, and a middle :math:`\tau`, where p is 1/2, with a uniform prior over the range
    of the answers and a little beyond. The posterior is computed on a grid, and represented by
    curves at evenly spaced levels of its cumulative sum: no chance is involved.

    Parameters
    ----------
    squared : ndarray of shape (n,)
        Squared distances.
    similar : ndarray of bool of shape (n,)
        Which pairs are similar.

    Returns
    -------
    a, b : ndarray of shape (n_curves,)
        Intercepts and slopes.
    """
    center, scale = squared.mean(), squared.std() or 1.0
    x, sign = (squared - center) / scale, np.where(similar, 1.0, -1.0)
    # Where the kinds meet, or overlap, a steep curve needs a finer grid.
    farthest, nearest = x[similar].max(initial=x.min()), x[~similar].min(initial=x.max())
    places = np.union1d(
        np.linspace(x.min() - _BESIDE, x.max() + _BESIDE, _PLACES),
        np.linspace(farthest, nearest, _BETWEEN),
    )
    # The grid of slopes is even in their logarithm, so each stands for a share of its own size.
    prior = np.log(_SLOPES) - np.log1p((_SLOPES / _SCALE) ** 2)
    margins = sign * (places[:, np.newaxis] - x)
    found = np.array([log_expit(slope * margins).sum(axis=1) for slope in _SLOPES])
    found += prior[:, np.newaxis]
    mass = np.exp(found - found.max()) * np.gradient(places)
    levels = (np.arange(_CURVES) + 0.5) / _CURVES * mass.sum()
    chosen = np.searchsorted(np.cumsum(mass), levels)
    which, where = np.unravel_index(chosen, mass.shape)
    slopes = _SLOPES[which] / scale
    return slopes * (scale * places[where] + center), slopes


def _mean_curve(a: Array, b: Array, distances: Array) -> Array:
    p = np.empty(len(distances))
    for start in range(0, len(p), _AT_ONCE):
        squared = distances[start : start + _AT_ONCE] ** 2
        p[start : start + _AT_ONCE] = expit(a - np.multiply.outer(squared, b)).mean(axis=1)
    return p


def _interval(values: Array) -> Interval:
    low, middle, high = np.percentile(values, _ENDS).tolist()
    return middle, low, high
