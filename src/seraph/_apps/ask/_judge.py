"""How good the distance is on answers that it has not learned from, and when to stop asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import spearmanr
from scipy.stats import t as student

from ..._utils._typing import Array, FloatArray, IntArray
from ._difference import auc_difference

# Answers of each kind that the test needs before it says anything.
FEWEST = 3
# Answers over which the distance must have stood still.
WINDOW = 20
# Rank correlation of distances above which two metrics are the same for most purposes.
_STEADY = 0.97
# Two distances are about as good if their AUCs differ by no more, with 95 % confidence.
CLOSE = 0.1


@dataclass(frozen=True)
class Estimate:
    """An estimate, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


def weighted_auc(distances: Array, same: Array, weights: Array) -> float:
    r"""Return the AUC of pairs that were sampled with unequal chances.

    .. math:: \frac{\sum_{s, d} w_s w_d \, [d_s < d_d]}{\sum_s w_s \sum_d w_d}

    over the same pairs s and the different pairs d; equal distances count one half.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_auc(np.array([1.0, 2.0, 3.0]), np.array([True, False, True]), np.ones(3))
    0.5
    """
    near, far = distances[same], distances[~same]
    order = np.argsort(far, kind="stable")
    far, total = far[order], np.r_[0.0, np.cumsum(weights[~same][order])]
    beyond = total[-1] - 0.5 * (
        total[np.searchsorted(far, near, "left")] + total[np.searchsorted(far, near, "right")]
    )
    share = float(weights[same] @ beyond / (weights[same].sum() * total[-1]))
    return min(max(share, 0.0), 1.0)  # rounding


def auc_interval(
    value: float, n_same: float, n_different: float, z: float = 1.959963984540054
) -> tuple[float, float]:
    r"""Return the 95 % interval of an AUC by Newcombe's method 5.

    The limits :math:`\theta` solve :math:`|\hat\theta - \theta| = z \sqrt{V(\theta)}` with the
    variance of `_variance`. Like Wilson's interval of a share, it does not shrink to a point at 0
    or 1.

    References
    ----------
    R. G. Newcombe. Confidence intervals for an effect size measure based on the Mann-Whitney
    statistic. Part 2. Statistics in Medicine 25, 2006.

    Examples
    --------
    >>> low, high = auc_interval(1.0, 5, 10)
    >>> round(low, 2), high
    (0.72, 1.0)
    """

    def excess(theta: float) -> float:
        return abs(value - theta) - z * sqrt(_variance(theta, n_same, n_different))

    # At 0 and 1 the variance is zero, and the estimate itself would solve the equation.
    low = 0.0 if value <= 0.0 else float(brentq(excess, 0.0, min(value, 1.0 - 1e-12)))
    high = 1.0 if value >= 1.0 else float(brentq(excess, max(value, 1e-12), 1.0))
    return low, high


def _variance(theta: float, m: float, n: float) -> float:
    r"""Return the variance of an AUC of m pairs of the same kind and n of different kinds.

    .. math:: V(\theta) = \frac{\theta (1 - \theta)}{m n} \left(1 + (N - 1)
              \left(\frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta}\right)\right),
              \quad N = \frac{m + n}{2}
    """
    spread = (1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta)
    return max(theta * (1.0 - theta) * (1.0 + (0.5 * (m + n) - 1.0) * spread) / (m * n), 0.0)


@dataclass(frozen=True)
class Comparison:
    """What the test says about two distances: their AUCs, and the difference."""

    learned: Estimate
    euclidean: Estimate
    difference: Estimate

    @property
    def better(self) -> str:
        """Which is better, with 95 % confidence: "learned", "euclidean", or "" if that is open."""
        if self.difference.low > 0.0:
            return "learned"
        return "euclidean" if self.difference.high < 0.0 else ""

    @property
    def close(self) -> bool:
        """Whether the two are about as good, with 95 % confidence."""
        return max(-self.difference.low, self.difference.high) <= CLOSE

    def sentence(self) -> str:
        """Say which distance is better."""
        d = self.difference
        interval = f"95 % interval of the difference {d.low:+z.2f} to {d.high:+z.2f}"
        aucs = f"{self.learned.value:.2f} against {self.euclidean.value:.2f}, {interval}"
        if self.better == "learned":
            return f"The learned distance is better than the Euclidean one ({aucs})."
        if self.better == "euclidean":
            return f"The Euclidean distance is better than the learned one ({aucs})."
        if self.close:
            return f"The two distances are about as good as each other ({aucs})."
        return f"It is open which distance is better ({aucs})."


def compare(
    learned: Array,
    euclidean: Array,
    same: Array,
    weights: Array,
    units: IntArray | None = None,
    population: tuple[Array, Array] | None = None,
) -> Comparison | None:
    """Return the AUC of two distances on test pairs, and their difference.

    The interval of an AUC is Newcombe's, made wider where the jackknife finds a larger variance.
    The difference comes from the answers and from the distances of all pairs (`auc_difference`).
    Where pairs share answers, it comes from the two intervals and from the correlation of the two
    AUCs, by Zou and Donner's method (MOVER). `benchmarks.ask_sessions` counts how often they are
    right.

    Parameters
    ----------
    learned, euclidean : ndarray of shape (n,)
        Distances of the pairs.
    same : ndarray of bool of shape (n,)
        Which pairs are of the same kind.
    weights : ndarray of shape (n,)
        1 over the chance with which each pair was sampled.
    units : ndarray of int of shape (n, k), optional
        Numbers of the independent answers that each pair comes from; by default, one each.
    population : (ndarray, ndarray), optional
        Both distances of many random pairs, if each pair has an answer of its own.

    Returns
    -------
    Comparison or None
        None if there are fewer than `FEWEST` pairs of a kind.

    References
    ----------
    G. Y. Zou, A. Donner. Construction of confidence limits about effect measures: a general
    approach. Statistics in Medicine 27, 2008.
    """
    if min(same.sum(), (~same).sum()) < FEWEST:
        return None
    own = np.arange(len(same))[:, np.newaxis] if units is None else units
    n_units = len(np.unique(own))
    # A pair of k answers: of n answers, no more than n / k pairs are independent.
    most = n_units / own.shape[1]
    sizes = [min(_effective(weights[kind]), most) for kind in (same, ~same)]
    covariance = _jackknife([learned, euclidean], same, weights, own)
    z = float(student.ppf(0.975, max(n_units - 2, 1)))
    found = []
    for k, distances in enumerate((learned, euclidean)):
        value = weighted_auc(distances, same, weights)
        wider = max(1.0, covariance[k, k] / max(_variance(value, *sizes), 1e-12))
        # Below one pair the formula of the variance has no meaning.
        m, n = (max(size / wider, 1.0) for size in sizes)
        found.append(Estimate(value, *auc_interval(value, m, n, z)))
    if units is None and population is not None:
        difference = auc_difference(learned, euclidean, same, weights, population)
        return Comparison(found[0], found[1], Estimate(*difference))
    spread = sqrt(covariance[0, 0] * covariance[1, 1])
    correlation = float(np.clip(covariance[0, 1] / spread, 0.0, 1.0)) if spread > 0.0 else 0.0
    return Comparison(found[0], found[1], _difference(found[0], found[1], correlation))


def _difference(a: Estimate, b: Estimate, correlation: float) -> Estimate:
    """Return the difference of two correlated estimates with its interval."""

    def reach(one: float, other: float) -> float:
        return sqrt(max(one**2 - 2.0 * correlation * one * other + other**2, 0.0))

    value = a.value - b.value
    low = value - reach(a.value - a.low, b.high - b.value)
    return Estimate(value, low, value + reach(a.high - a.value, b.value - b.low))


def _jackknife(
    distances: Sequence[Array], same: Array, weights: Array, units: IntArray
) -> FloatArray:
    """Return the covariance of AUCs, from leaving out one answer after the other.

    Near pairs have small weights if the test preferred them. A far pair of the same kind may
    then be missing by chance, though it would weigh more than many near ones; a pair of the mean
    weight that neither distance ranks right or wrong stands in for it.
    """
    rare = weights[same].mean() < weights[~same].mean()  # the kind whose pairs weigh less
    kind = same if rare else ~same
    missing = float(weights.mean() - weights[kind].mean())
    if missing > 1e-9:
        distances = [np.r_[d, np.median(d[~kind])] for d in distances]
        weights, same = np.r_[weights, missing], np.r_[same, rare]
        units = np.r_[units, np.full((1, units.shape[1]), units.max() + 1)]
    left_out = []
    for unit in np.unique(units):
        kept = ~np.any(units == unit, axis=1)
        if same[kept].any() and not same[kept].all():
            left_out.append([weighted_auc(d[kept], same[kept], weights[kept]) for d in distances])
    values = np.array(left_out)
    centered = values - values.mean(axis=0)
    covariance: FloatArray = (len(values) - 1) / len(values) * centered.T @ centered
    return covariance


def _effective(weights: Array) -> float:
    """Return Kish's number of equally weighted pairs that would tell as much."""
    return float(weights.sum() ** 2 / (weights @ weights))


def steadiness(before: Array, after: Array) -> float:
    """Return the rank correlation of the distances of some pairs under two metrics.

    Examples
    --------
    >>> import numpy as np
    >>> steadiness(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 25.0]))
    1.0
    """
    if np.ptp(before) == 0.0 or np.ptp(after) == 0.0:
        return 0.0
    return round(float(spearmanr(before, after).statistic), 6)


@dataclass(frozen=True)
class Advice:
    """What to do next; `stop` says whether this is a good moment to stop."""

    text: str
    stop: bool = False


def advice(
    now: Comparison | None,
    change: float | None,
    *,
    tests: tuple[int, int],
    kinds: tuple[int, int],
    left: bool = True,
) -> Advice:
    """Say which distance is better, and whether to go on.

    `now` is what the test says, if it has enough answers; `change` is the rank correlation of
    today's distances with those of `WINDOW` answers ago, if there were as many. `tests` and
    `kinds` are the pairs in the test, and in all, that are the same and that are different. `left`
    says whether there is anything left to ask.
    """
    if not left:
        said = f" {now.sentence()}" if now else ""
        return Advice(f"There is nothing left to ask.{said}", stop=True)
    if kinds == (0, 0):
        return Advice("The first distance is learned after a few answers.")
    if 0 in kinds:
        missing = "the same" if kinds[0] == 0 else "different"
        return Advice(f"Learning starts once two rows are called {missing}.")
    if now is None:
        if min(tests) >= FEWEST:  # the next refit judges
            return Advice("After a few more answers the page says how good the distance is.")
        noun = "pair" if sum(tests) == 1 else "pairs"
        return Advice(
            f"The answers of the test make {sum(tests)} {noun} so far, {tests[0]} of them the "
            f"same: {FEWEST} of each kind are needed to say how good the distance is."
        )
    if (now.better == "learned" or now.close) and change is not None and change >= _STEADY:
        rest = f"The last {WINDOW} answers changed little: a good moment to finish."
        return Advice(f"{now.sentence()} {rest}", stop=True)
    rest = "More answers still improve the learned one."  # few may have spoiled the distance
    if not (now.better or now.close):
        half = 0.5 * (now.difference.high - now.difference.low)
        # The width of an interval falls with the square root of the number of answers.
        rest = (
            f"These answers show a difference of about {half:.2f} or more; four times as many, "
            "one half as large."
        )
    return Advice(f"{now.sentence()} {rest}")
