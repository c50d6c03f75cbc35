"""Decide about candidate pairs so that a wanted share of the accepted ones is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.special import expit

from .._typing import Array
from ._held_out import HeldOut
from ._threshold import Interval

_REPLICATES = 200
_ENDS = (2.5, 97.5)  # percentiles of the bootstrap
# Inverse strength of the penalty on the slope, per standard deviation of the squared distance. It
# keeps separable answers from giving certainty. Chosen on FEBRL 1 and 2: at 100 the found pairs
# fall short of the wanted precision, at 1 half of the expected ones do not exist.
_PENALTY = 10.0
_STEPS = 50  # of Newton's method, at most


@dataclass(frozen=True)
class CandidateDecision:
    r"""A threshold for candidate pairs, and what it is expected to reach among them.

    Answered pairs are seldom a random sample of the candidates. But as far as they were chosen by
    their distance, they do tell how likely a pair at a given distance is similar. With that
    probability :math:`p(d) = \sigma(a - b d^2)`, fitted to distances out of fold, and the
    distances :math:`d_k` of all candidates, a threshold t is expected to reach

    .. math:: \text{precision}(t) = \frac{\sum_{d_k \le t} p(d_k)}{\#\{d_k \le t\}}, \qquad
              \text{recall}(t) = \frac{\sum_{d_k \le t} p(d_k)}{\sum_k p(d_k)}.

    Parameters
    ----------
    threshold : float
        Distance up to which candidates are accepted: the largest with the wanted precision at
        which a pair is still more likely similar than not.
    intercept, slope : float
        The numbers a and b.
    precision, recall : (value, low, high)
        What is expected, with a range from a bootstrap of the answers; cautious. The recall is
        that among the candidates.
    """

    threshold: float
    intercept: float
    slope: float
    precision: Interval
    recall: Interval

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
        squared = held.distances**2
        (a,), (b,) = fitted_curves(squared, held.similar, np.ones((1, len(squared))))
        p = expit(a - b * ordered**2)
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
        n = len(squared)
        drawn = default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=_REPLICATES)
        similar = drawn @ held.similar
        drawn = drawn[(similar > 0) & (similar < n)].astype(np.float64)
        curves = zip(*fitted_curves(squared, held.similar, drawn), strict=True)
        replicates = [_reached(expit(c - d * ordered**2), last) for c, d in curves]
        ends = np.percentile(np.array(replicates), _ENDS, axis=0)
        value = _reached(p, last)
        precision, recall = (
            (value[k], min(value[k], float(ends[0, k])), max(value[k], float(ends[1, k])))
            for k in range(2)
        )
        return cls(threshold, float(a), float(b), precision, recall)

    def probability(self, distances: Array) -> Array:
        """Return the probability that pairs at these distances are similar."""
        return np.asarray(expit(self.intercept - self.slope * distances**2))


def fitted_curves(squared: Array, similar: Array, weights: Array) -> tuple[Array, Array]:
    r"""Fit :math:`p = \sigma(a - b d^2)` by logistic regression, once for each row of weights.

    Newton's method with halved steps, on all of them at once; the penalty on the slope makes the
    problem strictly convex. A slope that would say that farther is more alike is set to 0.

    Parameters
    ----------
    squared : ndarray of shape (n,)
        Squared distances.
    similar : ndarray of bool of shape (n,)
        Which pairs are similar; both kinds have a weight.
    weights : ndarray of shape (k, n)
        Weights of the pairs.

    Returns
    -------
    a, b : ndarray of shape (k,)
        Intercepts and slopes.
    """
    center, scale = squared.mean(), squared.std() or 1.0
    x, y = (squared - center) / scale, np.where(similar, 1.0, -1.0)
    share = (weights @ similar) / weights.sum(axis=1)
    flat = np.log(share / (1.0 - share))
    a, b = flat.copy(), np.zeros(len(weights))

    def loss(a: Array, b: Array) -> Array:
        margins = y * (a[:, np.newaxis] - np.multiply.outer(b, x))
        return (weights * np.logaddexp(0.0, -margins)).sum(axis=1) + b**2 / (2.0 * _PENALTY)

    value = loss(a, b)
    for _ in range(_STEPS):
        p = expit(a[:, np.newaxis] - np.multiply.outer(b, x))
        off, curved = weights * (p - similar), weights * p * (1.0 - p)
        g, h = off.sum(axis=1), -off @ x + b / _PENALTY
        aa, ab, bb = curved.sum(axis=1), -curved @ x, curved @ x**2 + 1.0 / _PENALTY
        det = aa * bb - ab**2
        da, db = (bb * g - ab * h) / det, (aa * h - ab * g) / det
        step = np.ones(len(a))
        for _ in range(_STEPS):
            worse = loss(a - step * da, b - step * db) > value
            if not worse.any():
                break
            step[worse] *= 0.5
        a, b = a - step * da, b - step * db
        new = loss(a, b)
        done = np.all(value - new <= 1e-12 * np.abs(value))
        value = new
        if done:
            break
    falls = b > 0.0
    b = np.where(falls, b / scale, 0.0)
    return np.where(falls, a + b * center, flat), b


def _reached(p: Array, last: int) -> tuple[float, float]:
    """Return precision and recall of accepting the candidates up to number `last`."""
    hits = float(p[: last + 1].sum())
    return hits / (last + 1), hits / float(p.sum())
