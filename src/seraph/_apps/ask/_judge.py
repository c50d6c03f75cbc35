"""How good the distance is on answers that it has not learned from, and when to stop asking."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import spearmanr
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from ..._marks import effective_size
from ..._utils._typing import Array
from ._difference import auc_difference

# Answers of each kind that the test needs before its result is shown.
FEWEST = 3
# Answers over which the distance must have changed little.
WINDOW = 20
# Rank correlation of distances above which two metrics are the same for most purposes.
_STEADY = 0.97
# Two distances are about as good if their AUCs differ by no more, with 95 % confidence.
CLOSE = 0.1
# From such an AUC on, chance is not the best guess, however few the answers.
_FAR = 0.65


@dataclass(frozen=True)
class Estimate:
    """An estimate, and the ends of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """The AUCs of two distances on the test, and their difference."""

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

    @property
    def at_chance(self) -> bool:
        """Whether neither distance can be told from chance."""
        both = self.learned, self.euclidean
        near = (auc.low <= 0.5 <= auc.high and auc.value < _FAR for auc in both)
        return not self.better and all(near)

    def sentence(self) -> str:
        """Say which distance is better."""
        d = self.difference
        interval = f"95 % interval of the difference {d.low:+z.2f} to {d.high:+z.2f}"
        aucs = f"{self.learned.value:.2f} against {self.euclidean.value:.2f}, {interval}"
        if self.better == "learned":
            return f"The learned distance is better than the Euclidean one ({aucs})."
        if self.better == "euclidean":
            return f"The Euclidean distance is better than the learned one ({aucs})."
        if self.at_chance:
            return (
                "As far as these answers tell, both distances are at chance, an AUC of 0.5 "
                f"({aucs})."
            )
        if self.close:
            return f"The two distances are about as good as each other ({aucs})."
        return f"It is open which distance is better ({aucs})."


def compare(
    learned: Array,
    euclidean: Array,
    same: Array,
    weights: Array,
    population: tuple[Array, Array],
    n_answers: int | None = None,
) -> Comparison | None:
    """Return the AUCs of two distances on test pairs, and their difference.

    The interval of an AUC is Newcombe's; the difference comes from the answers and from the
    distances of all pairs (`auc_difference` describes the arguments). If the pairs come
    from `n_answers` about single rows, they tell less than as many answers about pairs. None if
    there are fewer than `FEWEST` pairs of a kind.
    """
    if min(same.sum(), (~same).sum()) < FEWEST:
        return None
    # All pairs of n rows tell no less than n / 2 pairs that share no row.
    most = len(same) if n_answers is None else n_answers / 2
    n_same, n_different = (min(effective_size(weights[kind]), most) for kind in (same, ~same))
    aucs = []
    for distances in (learned, euclidean):
        value = float(roc_auc_score(same, -distances, sample_weight=weights))
        value = min(max(value, 0.0), 1.0)  # rounding
        z = float(student.ppf(0.975, max((n_answers or len(same)) - 2, 1)))
        aucs.append(Estimate(value, *auc_interval(value, n_same, n_different, z)))
    independent = min(effective_size(weights), most)
    difference = auc_difference(learned, euclidean, same, weights, population, independent)
    return Comparison(aucs[0], aucs[1], Estimate(*difference))


def auc_interval(
    value: float, n_same: float, n_different: float, z: float = 1.959963984540054
) -> tuple[float, float]:
    r"""Return the 95 % interval of an AUC by Newcombe's method 5 (Stat. Med. 25, 2006).

    The limits :math:`\theta` solve :math:`|\hat\theta - \theta| = z \sqrt{V(\theta)}` with the
    variance of `_variance`. Like Wilson's interval of a share, it does not shrink to a point at 0
    or 1.
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


def steadiness(before: Array, after: Array) -> float:
    """Return the rank correlation of the distances of the same pairs under two metrics."""
    if np.ptp(before) == 0.0 or np.ptp(after) == 0.0:
        return 0.0
    return round(float(spearmanr(before, after).statistic), 6)


@dataclass(frozen=True)
class Advice:
    """What to do next; `stop` is whether this is a good moment to stop."""

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
    """Say which distance is better, if the test has enough answers (`now`), and whether to go on.

    `change` is the rank correlation of today's distances with those of `WINDOW` answers ago;
    `tests` and `kinds` are the numbers of pairs in the test, and in all, that are the same and
    that are different; `left` is whether there is anything left to ask.
    """
    if not left:
        verdict = f" {now.sentence()}" if now else ""
        return Advice(f"There is nothing left to ask.{verdict}", stop=True)
    if kinds == (0, 0):
        return Advice("The first distance is learned after a few answers.")
    if 0 in kinds:
        missing = "the same" if kinds[0] == 0 else "different"
        return Advice(f"Learning starts once two rows are called {missing}.")
    if now is None:
        if min(tests) >= FEWEST:  # the next refit judges
            return Advice("After a few more answers the page shows how good the distance is.")
        noun = "pair" if sum(tests) == 1 else "pairs"
        return Advice(
            f"The answers of the test make {sum(tests)} {noun} so far, {tests[0]} of them the "
            f"same: {FEWEST} of each kind are needed to say how good the distance is."
        )
    if now.at_chance:
        rest = "More answers may change that, or the columns say nothing about your question."
        return Advice(f"{now.sentence()} {rest}")
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
