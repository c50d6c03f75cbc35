"""Decide about candidate pairs so that a wanted share of the accepted ones is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from .._typing import Array
from ._held_out import HeldOut
from ._threshold import Interval

_REPLICATES = 200
_ENDS = (2.5, 97.5)  # percentiles of an interval of 95 %
# Inverse strength of the penalty on the slope, per standard deviation of the squared distance. It
# keeps separable answers from giving certainty. Chosen on FEBRL 1 and 2: at 100 the found pairs
# fall short of the wanted precision, at 1 half of the expected ones do not exist.
_PENALTY = 10.0


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
        What is expected, with an interval of 95 % from a bootstrap of the answers. The recall is
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
        a, b = _fitted(held)
        p = expit(a - b * ordered**2)
        expected = np.cumsum(p) / np.arange(1, len(p) + 1)
        reached = np.flatnonzero((expected >= target) & (p >= 0.5))
        if len(reached) == 0:
            raise ValueError(
                f"A precision of {target:g} cannot be reached with these answers: even the "
                f"nearest pairs are right with a probability of {p[0]:.3f} only. Ask for less, or "
                "answer more pairs."
            )
        last = int(reached[-1])
        threshold = float(np.mean(ordered[last : last + 2]))
        replicates = []
        rng, n = default_rng(0), len(held.similar)
        for _ in range(_REPLICATES):
            again = held.only(rng.integers(n, size=n))
            if again.has_both_kinds:
                other = _fitted(again)
                replicates.append(_reached(expit(other[0] - other[1] * ordered**2), last))
        ends = np.percentile(np.array(replicates), _ENDS, axis=0)
        value = _reached(p, last)
        precision, recall = (
            (value[k], min(value[k], float(ends[0, k])), max(value[k], float(ends[1, k])))
            for k in range(2)
        )
        return cls(threshold, a, b, precision, recall)

    def probability(self, distances: Array) -> Array:
        """Return the probability that pairs at these distances are similar."""
        return np.asarray(expit(self.intercept - self.slope * distances**2))


def _fitted(held: HeldOut) -> tuple[float, float]:
    """Fit a and b by logistic regression with a penalty on the slope."""
    squared = held.distances**2
    scale = float(squared.std()) or 1.0
    model = LogisticRegression(C=_PENALTY, max_iter=1000)
    model.fit((squared / scale)[:, np.newaxis], held.similar)
    b = -float(model.coef_[0, 0]) / scale
    if b < 0.0:  # farther would be more alike: the distance says nothing
        share = (held.similar.sum() + 1) / (len(held.similar) + 2)
        return float(np.log(share / (1 - share))), 0.0
    return float(model.intercept_[0]), b


def _reached(p: Array, last: int) -> tuple[float, float]:
    """Return precision and recall of accepting the candidates up to number `last`."""
    hits = float(p[: last + 1].sum())
    return hits / (last + 1), hits / float(p.sum())
