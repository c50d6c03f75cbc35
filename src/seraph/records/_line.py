"""Choose the decision threshold on the margin, and predict its precision and recall."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.special import expit, log_expit

from .._decisions._threshold import Interval
from .._utils._typing import Array

# Scale of the Cauchy prior on the slope, per standard deviation of the margin. Gelman, Jakulin,
# Pittau and Su (2008) propose 2.5 for a logistic regression. Its heavy tail leaves room for
# answers that the margin tells apart without error.
_SCALE = 2.5
_SLOPES = np.geomspace(0.1, 500.0, 121)
_PLACES, _BETWEEN = 121, 41  # of the curve's middle: over the whole range, and where kinds meet
_BESIDE = 0.5  # standard deviations beyond the answers that the middle may lie
_CURVES = 400  # samples of the posterior
_OUTCOMES = 5  # Poisson draws for each of them
# Percentiles. A range of 95 % would end at 2.5 and 97.5 if the answers were a random sample and
# one curve were right; on the choosing sets the truth then was above the range too often.
_ENDS = (1.0, 50.0, 99.9)
# Margins at which the curves are computed, and interpolated linearly in between: with millions of
# pairs a fraction of the work.
_KNOTS = 4096
_NEARLY = 0.005  # of the best precision: where the wanted one is out of reach


@dataclass(frozen=True)
class Line:
    r"""Decision threshold on the margin, and the posterior of the calibration curve.

    Answered pairs are no random sample of the candidates. But as far as they were chosen by their
    similarities, they do tell how likely a pair with a given margin f is the same. A hundred
    answers leave many curves :math:`p(f) = \sigma(a + b f)` possible; `curves_given` samples them
    from their posterior. Margins in the training set are too optimistic, and cross-validated
    ones, of models with fewer answers, too pessimistic: half the curves are from each. With the
    mean :math:`\bar p` of the curves and the margins of all candidates, a threshold t is expected
    to reach

    .. math:: \text{precision}(t) = \frac{\sum_{f_k \ge t} \bar p(f_k)}{\#\{f_k \ge t\}}.

    Parameters
    ----------
    margin : float
        Margin from which pairs are accepted.
    reachable : float
        The best expected precision of any line.
    intercepts, slopes : ndarray of shape (n_curves,)
        The numbers a and b of each curve.
    knots, heights : ndarray of shape (n_knots,)
        Margins, and the mean of the curves there.
    """

    margin: float
    reachable: float
    intercepts: Array
    slopes: Array
    knots: Array
    heights: Array

    @classmethod
    def draw(
        cls, answered: Array, same: Array, margins: Array, precision: float | None = None
    ) -> Line:
        """Draw the lowest line whose expected precision is at least `precision`.

        Parameters
        ----------
        answered : ndarray of shape (k, n)
            Margins of the answered pairs, by k ways to know them, each with its own curves.
        same : ndarray of bool of shape (n,)
            The answers.
        margins : ndarray of shape (m,)
            Margins of the candidates.
        precision : float, optional
            The wanted precision. If it cannot be reached, the lowest line close to the best
            reachable one is drawn. By default, pairs that are likelier the same than different
            are accepted.
        """
        curves = [curves_given(margins_of, same) for margins_of in answered]
        a, b = (np.concatenate(parts) for parts in zip(*curves, strict=True))
        ordered = np.sort(margins)[::-1]
        knots = np.linspace(ordered[-1], ordered[0], _KNOTS)
        heights = expit(a + np.multiply.outer(knots, b)).mean(axis=1)
        p = np.interp(ordered, knots, heights)
        expected = np.cumsum(p) / np.arange(1, len(p) + 1)
        if precision is None:
            last = int(np.flatnonzero(p >= min(0.5, p[0]))[-1])
        else:
            wanted = min(precision, expected.max() - _NEARLY)
            last = int(np.flatnonzero(expected >= wanted)[-1])
        margin = float(np.mean(ordered[last : last + 2]))
        return cls(margin, float(expected.max()), a, b, knots, heights)

    def probability(self, margins: Array) -> Array:
        """Return the probability that pairs with these margins are the same."""
        return np.interp(margins, self.knots, self.heights)

    @property
    def threshold(self) -> float:
        """The probability at the line."""
        return float(self.probability(np.array(self.margin)))

    def note(self, precision: float | None) -> str:
        """Say in words if the wanted precision cannot be reached; "" if it can."""
        if precision is None or self.reachable >= precision:
            return ""
        return (
            f"A precision of {precision:g} cannot be reached with these answers: the best expected"
            f" one is {np.floor(1e3 * self.reachable) / 1e3:g}, and the pairs found are close to "
            "it. More answers may reach more."
        )

    def predicted(self, taken: Array, left: Array, sure: int = 0) -> tuple[Interval, Interval]:
        """Predict the precision and the recall of taking some pairs and leaving the others.

        Each curve says how many of the pairs taken are wrong and how many others are missed, on
        average. The counts themselves are sums of rare events: Poisson.

        Parameters
        ----------
        taken, left : ndarray
            Margins of the pairs that were taken, and of the others.
        sure : int, default=0
            Number of other pairs that were taken and are known to be right.

        Returns
        -------
        precision, recall : (value, low, high)
            The middle, and the ends of a range. The recall is that among the candidates.
        """
        rng = default_rng(0)
        shape = _OUTCOMES, len(self.slopes)
        wrong = rng.poisson(self._counts(taken, -1.0), size=shape)
        missed = rng.poisson(self._counts(left, 1.0), size=shape)
        total = sure + len(taken)
        right = total - np.minimum(wrong, len(taken))
        return _interval(right / max(total, 1)), _interval(right / np.maximum(right + missed, 1))

    def _counts(self, margins: Array, sign: float) -> Array:
        """Return how many of some pairs each curve expects to be the same, or not (sign -1)."""
        knots, weights = _binned(margins)
        counts: Array = weights @ expit(sign * (self.intercepts + np.outer(knots, self.slopes)))
        return counts


def curves_given(margins: Array, same: Array) -> tuple[Array, Array]:
    r"""Sample calibration curves :math:`p = \sigma(a + b f)` from their posterior.

    In standard deviations of the margin, a curve has a slope :math:`\beta > 0` with a Cauchy
    prior, and a middle :math:`\tau`, where p is 1/2, with a uniform prior over the range of the
    answers and a little beyond. The posterior is computed on a grid, and represented by curves at
    evenly spaced levels of its cumulative sum: no chance is involved.

    Parameters
    ----------
    margins : ndarray of shape (n,)
        Margins of answered pairs.
    same : ndarray of bool of shape (n,)
        The answers.

    Returns
    -------
    a, b : ndarray of shape (n_curves,)
        Intercepts and slopes.
    """
    center, scale = margins.mean(), margins.std() or 1.0
    x, sign = (margins - center) / scale, np.where(same, 1.0, -1.0)
    # Where the kinds meet, or overlap, a steep curve needs a finer grid.
    lowest, highest = x[same].min(initial=x.max()), x[~same].max(initial=x.min())
    places = np.union1d(
        np.linspace(x.min() - _BESIDE, x.max() + _BESIDE, _PLACES),
        np.linspace(lowest, highest, _BETWEEN),
    )
    # The grid of slopes is even in their logarithm, so each stands for a share of its own size.
    prior = np.log(_SLOPES) - np.log1p((_SLOPES / _SCALE) ** 2)
    logits = sign * (x - places[:, np.newaxis])
    found = np.array([log_expit(slope * logits).sum(axis=1) for slope in _SLOPES])
    found += prior[:, np.newaxis]
    mass = np.exp(found - found.max()) * np.gradient(places)
    levels = (np.arange(_CURVES) + 0.5) / _CURVES * mass.sum()
    chosen = np.searchsorted(np.cumsum(mass), levels)
    which, where = np.unravel_index(chosen, mass.shape)
    slopes = _SLOPES[which] / scale
    return -slopes * (scale * places[where] + center), slopes


def _binned(values: Array) -> tuple[Array, Array]:
    """Bin values linearly; return evenly spaced knots and their weights.

    A value between two knots is split between them, the larger share to the nearer.
    """
    if len(values) <= _KNOTS:
        return values, np.ones(len(values))
    knots, step = np.linspace(values.min(), values.max(), _KNOTS, retstep=True)
    place = (values - knots[0]) / (step or 1.0)
    below = np.minimum(place.astype(np.intp), _KNOTS - 2)
    share = place - below
    weights = np.bincount(below, 1.0 - share, _KNOTS) + np.bincount(below + 1, share, _KNOTS)
    return knots, weights


def _interval(values: Array) -> Interval:
    low, middle, high = np.percentile(values, _ENDS).tolist()
    return middle, low, high
