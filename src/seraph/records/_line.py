"""Choose the decision threshold on the margin, and predict its precision and recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import default_rng
from scipy.special import expit

from .._utils._typing import Array, Interval

# Spread of the logarithm of the slope under its prior, a normal distribution around 0: margins
# are logits already, so that a slope of 1 is expected. Chosen on four sets, see
# benchmarks/RESULTS.md.
_SPREAD = 0.5
GAMMA = 0.2  # the strength of the entropy
_SLOPES = np.geomspace(0.1, 500.0, 81)
_PLACES, _BETWEEN = 81, 41  # of the curve's middle: over the whole range, and where kinds meet
_BESIDE = 0.5  # standard deviations beyond the answers that the middle may lie
# Lapse rates, and the prior on them, a beta distribution: five answers in a hundred are wrong, on
# average, and none is likelier than any other number.
_LAPSES = np.geomspace(0.002, 0.25, 12)
_PRIOR = 1.0, 19.0
_CURVES = 400  # samples of the posterior
_OUTCOMES = 5  # Poisson draws for each of them
# Percentiles. A range of 95 % would end at 2.5 and 97.5 if the answers were a random sample and
# one curve were right; on the choosing sets the truth then was above the range too often.
_ENDS = (1.0, 99.9)
# Margins at which the curves are computed, and interpolated linearly in between: with millions of
# pairs a fraction of the work.
_KNOTS = 1024
_FEW_KNOTS = 256  # for the entropy, of which one number for each curve is wanted
_RAREST = 0.25  # least probability of a pair that is found without a wanted precision
_NEARLY = 0.005  # of the best precision: where the wanted one is out of reach


@dataclass(frozen=True)
class Curves:
    r"""Sample of the posterior of calibration curves.

    A curve is the probability :math:`p(f) = \sigma(a + b f)` that a pair with the margin f is the
    same, and the lapse rate :math:`\epsilon`, with which an answer is wrong, whatever the pair. An
    answer is "same" with probability :math:`\epsilon + (1 - 2 \epsilon) p(f)`. Without lapses a
    single wrong "same" far down would flatten all curves. With them a few answers far down hardly
    tell a lapse from a flat curve, by which many duplicates would be missed. There the unlabeled
    pairs help to decide: SERAPH's principle, with n answers the posterior has the
    factor :math:`e^{-\gamma n \bar H}`, where :math:`\bar H` is the mean entropy that the curve
    leaves to them.

    There are k ways to know the `margins` of the n answered pairs, of shape (k, n), and for each
    of them curves with the numbers a, b and :math:`\epsilon`, of shape (k, n_curves).
    """

    margins: Array
    same: Array
    intercepts: Array
    slopes: Array
    lapses: Array

    @classmethod
    def given(cls, margins: Array, same: Array, unlabeled: Array) -> Curves:
        """Sample the curves of each way to know the margins, given those of unlabeled pairs."""
        sampled = [_sampled_curves(of_answers, same, unlabeled) for of_answers in margins]
        return cls(margins, same, *(np.stack(part) for part in zip(*sampled, strict=True)))

    def probability(self, margins: Array) -> Array:
        """Return the probability that pairs are the same, by all curves: the last axis."""
        a, b = self.intercepts.ravel(), self.slopes.ravel()
        p: Array = expit(a + np.multiply.outer(margins, b))
        return p

    def n_wrong(self) -> Interval:
        """Return the expected number of wrong answers, with its range."""
        return _interval(np.abs(self.truth() - self.same[:, np.newaxis]).sum(axis=0))

    def truth(self) -> Array:
        """Return how likely each answered pair is the same, given its answer, by all curves.

        By Bayes' theorem, a "same" multiplies the odds by (1 - eps) / eps, a "different" divides.
        """
        a, b, lapses = (p[:, np.newaxis] for p in (self.intercepts, self.slopes, self.lapses))
        sign = np.where(self.same, 1.0, -1.0)[:, np.newaxis]
        odds = sign * (np.log1p(-lapses) - np.log(lapses))
        return np.concatenate(list(expit(a + b * self.margins[..., np.newaxis] + odds)), axis=1)


@dataclass(frozen=True)
class Line:
    r"""Decision threshold on the margin.

    Answered pairs are no random sample of the candidates. But as far as they were chosen by their
    similarities, they do tell how likely a pair with a given margin f is the same. A hundred
    answers leave many curves possible. Margins in the training set are too optimistic, and
    cross-validated ones, of models with fewer answers, too pessimistic: half the curves are from
    each. With the mean :math:`\bar p` of the curves and the margins of all candidates, a threshold
    t is expected to reach

    .. math:: \text{precision}(t) = \frac{\sum_{f_k \ge t} \bar p(f_k)}{\#\{f_k \ge t\}}.

    Without a wanted precision, t is where the expected F1 is largest, the harmonic mean of
    precision and recall: the mean over the curves p of

    .. math:: F_1(t) = \frac{2 \sum_{f_k \ge t} p(f_k)}{\#\{f_k \ge t\} + \sum_k p(f_k)}.

    Where the answers tell pairs apart, p(t) is close to 1/2. Where they hardly do, few pairs are
    likelier the same than different, and p(t) is lower, but at least 1/4.

    Pairs are accepted from `margin`; `reachable` is the best expected precision of any line, and
    `heights` are the mean of the curves at the margins `knots`.
    """

    margin: float
    reachable: float
    knots: Array
    heights: Array

    @classmethod
    def draw(cls, curves: Curves, margins: Array, precision: float | None = None) -> Line:
        """Draw the lowest line whose expected precision, over `margins`, is at least `precision`.

        If none reaches it, that is the lowest line close to the best one. By default, the line
        with the largest expected F1 is drawn.
        """
        ordered = np.sort(margins)[::-1]
        knots = np.linspace(ordered[-1], ordered[0], _KNOTS)
        by_curve = curves.probability(knots)
        heights = by_curve.mean(axis=1)
        p = np.interp(ordered, knots, heights)
        expected = np.cumsum(p) / np.arange(1, len(p) + 1)
        if precision is None:
            last = _best_f1(ordered, knots, by_curve) - 1
            last = min(last, int(np.flatnonzero(p >= min(_RAREST, p[0]))[-1]))
        else:
            wanted = min(precision, expected.max() - _NEARLY)
            last = int(np.flatnonzero(expected >= wanted)[-1])
        margin = float(np.mean(ordered[last : last + 2]))
        return cls(margin, float(expected.max()), knots, heights)

    def probability(self, margins: Array) -> Array:
        """Return the probability that pairs with these margins are the same."""
        return np.interp(margins, self.knots, self.heights)

    @property
    def threshold(self) -> float:
        """The probability at the line."""
        return float(self.probability(np.array(self.margin)))


def _best_f1(ordered: Array, knots: Array, by_curve: Array) -> int:
    """Return how many of the pairs, the largest margins first, have the best expected F1."""
    nearest = np.rint(np.interp(ordered, knots, np.arange(len(knots)))).astype(np.intp)
    counts = np.bincount(nearest, minlength=len(knots))[::-1]
    taken = np.cumsum(counts)
    right = np.cumsum(counts[:, np.newaxis] * by_curve[::-1], axis=0)
    f1 = (2.0 * right / (taken[:, np.newaxis] + right[-1])).mean(axis=1)
    return int(taken[np.argmax(f1)])


class Outcome(NamedTuple):
    """What a decision is worth, as (value, low, high): of all pairs, and of those not answered."""

    precision: Interval
    recall: Interval
    f1: Interval
    n_same: Interval
    new_precision: Interval
    new_recall: Interval


def outcome(curves: Curves, taken: Array, left: Array, kept: Array) -> Outcome:
    """Predict what taking some pairs and leaving the others is worth.

    Each curve gives how many of the pairs taken are wrong and how many others are missed, on
    average. The counts themselves are sums of rare events: Poisson. `taken` and `left` are
    margins of pairs without an answer, and `kept` marks the answered pairs that were taken.
    """
    rng = default_rng(0)
    shape = _OUTCOMES, curves.slopes.size
    truth = curves.truth()
    wrong = np.minimum(rng.poisson(_counts(curves, taken, -1.0), size=shape), len(taken))
    missed = rng.poisson(_counts(curves, left, 1.0), size=shape)
    spoilt = np.minimum(rng.poisson((1.0 - truth[kept]).sum(axis=0), size=shape), kept.sum())
    denied = rng.poisson(truth[~kept].sum(axis=0), size=shape)

    def ranges(n: int, bad: Array, lost: Array) -> list[Interval]:
        right = n - bad
        recall = right / np.maximum(right + lost, 1)
        f1 = 2.0 * right / np.maximum(n + right + lost, 1)
        return [_interval(share) for share in (right / max(n, 1), recall, f1, right + lost)]

    new = ranges(len(taken), wrong, missed)
    return Outcome(
        *ranges(len(taken) + int(kept.sum()), wrong + spoilt, missed + denied), *new[:2]
    )


def _counts(curves: Curves, margins: Array, sign: float) -> Array:
    """Return how many of some pairs each curve expects to be the same, or not (sign -1)."""
    knots, weights = _binned(margins)
    a, b = curves.intercepts.ravel(), curves.slopes.ravel()
    counts: Array = weights @ expit(sign * (a + np.outer(knots, b)))
    return counts


def _sampled_curves(margins: Array, same: Array, unlabeled: Array) -> tuple[Array, Array, Array]:
    """Sample intercepts, slopes and lapse rates from their posterior.

    A curve has a slope b whose logarithm has a normal prior, and a middle, where p is 1/2, with a
    uniform prior over the range of the answers and a little beyond. The lapse rate has a beta
    prior. The posterior is computed on a grid, and represented by curves at
    evenly spaced levels of its cumulative sum: no chance is involved.
    """
    center, scale = margins.mean(), margins.std() or 1.0
    x, sign = (margins - center) / scale, np.where(same, 1.0, -1.0)
    # Where the kinds meet, or overlap, a steep curve needs a finer grid.
    lowest, highest = x[same].min(initial=x.max()), x[~same].max(initial=x.min())
    places = np.union1d(
        np.linspace(x.min() - _BESIDE, x.max() + _BESIDE, _PLACES),
        np.linspace(lowest, highest, _BETWEEN),
    )
    logits = sign * (x - places[:, np.newaxis])
    knots, weights = _binned((unlabeled - center) / scale, _FEW_KNOTS)
    shares = GAMMA * len(same) * weights / max(weights.sum(), 1.0)
    open_logits = knots - places[:, np.newaxis]
    log_posterior = np.empty((len(_SLOPES), len(_LAPSES), len(places)))
    for k, slope in enumerate(_SLOPES):
        right = expit(slope * logits)
        for m, share in enumerate(_LAPSES):
            log_posterior[k, m] = np.log(share + (1.0 - 2.0 * share) * right).sum(axis=1)
        log_posterior[k] -= entropy(slope * open_logits) @ shares
    # The grids of slopes and lapses are even in the logarithm: a lapse represents a share of its
    # own size.
    log_posterior -= (0.5 * (np.log(_SLOPES / scale) / _SPREAD) ** 2)[:, np.newaxis, np.newaxis]
    prior = _PRIOR[0] * np.log(_LAPSES) + (_PRIOR[1] - 1.0) * np.log1p(-_LAPSES)
    log_posterior += prior[:, np.newaxis]
    mass = np.exp(log_posterior - log_posterior.max()) * np.gradient(places)
    levels = (np.arange(_CURVES) + 0.5) / _CURVES * mass.sum()
    chosen = np.searchsorted(np.cumsum(mass), levels)
    which, lapse, where = np.unravel_index(chosen, mass.shape)
    slopes = _SLOPES[which] / scale
    return -slopes * (scale * places[where] + center), slopes, _LAPSES[lapse]


def entropy(logits: Array) -> Array:
    """Return the entropy at logits f, with e = exp(-|f|): ln(1 + e) + |f| e / (1 + e)."""
    size = np.abs(logits)
    e = np.exp(-size)
    h: Array = np.log1p(e) + size * e / (1.0 + e)
    return h


def _binned(values: Array, n_knots: int = _KNOTS) -> tuple[Array, Array]:
    """Return evenly spaced knots and how many values are near each, if there are many values."""
    if len(values) <= n_knots:
        return values, np.ones(len(values))
    weights, edges = np.histogram(values, n_knots)
    return 0.5 * (edges[1:] + edges[:-1]), weights


def _interval(values: Array) -> Interval:
    """Return the mean, and the ends of a range of 95 %."""
    low, high = np.percentile(values, _ENDS).tolist()
    return min(max(float(values.mean()), low), high), low, high
