"""How good the distance is on answers that it has not learned from, and when to stop asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.optimize import brentq
from scipy.stats import spearmanr

from ..._utils._typing import Array

# Answers of each kind that the test needs before it says anything.
FEWEST = 2
_Z = 1.959963984540054  # 95 %
# Answers over which the distance must have stood still.
WINDOW = 20
# Rank correlation of distances above which two metrics are the same for most purposes.
_STEADY = 0.97
# An interval wider than this says too little to call it a day.
_WIDE = 0.3


@dataclass(frozen=True)
class Auc:
    """Chance that a pair of the same kind is nearer than one of different kinds.

    Parameters
    ----------
    value : float
        Estimate.
    low, high : float
        95 % interval.
    """

    value: float
    low: float
    high: float

    def text(self) -> str:
        """Return the estimate and its interval as text."""
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


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


def auc_interval(value: float, n_same: float, n_different: float) -> tuple[float, float]:
    r"""Return the 95 % interval of an AUC by Newcombe's method 5.

    The limits :math:`\theta` solve :math:`|\hat\theta - \theta| = z \sqrt{V(\theta)}` with

    .. math:: V(\theta) = \frac{\theta (1 - \theta)}{m n} \left(1 + (N - 1)
              \left(\frac{1 - \theta}{2 - \theta} + \frac{\theta}{1 + \theta}\right)\right),
              \quad N = \frac{m + n}{2},

    for m pairs of the same kind and n of different kinds. Like Wilson's interval of a share, it
    does not shrink to a point at 0 or 1.

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
        mean = 0.5 * (n_same + n_different) - 1.0
        spread = (1.0 - theta) / (2.0 - theta) + theta / (1.0 + theta)
        variance = theta * (1.0 - theta) * (1.0 + mean * spread) / (n_same * n_different)
        return abs(value - theta) - _Z * sqrt(max(variance, 0.0))

    # At 0 and 1 the variance is zero, and the estimate itself would solve the equation.
    low = 0.0 if value <= 0.0 else float(brentq(excess, 0.0, min(value, 1.0 - 1e-12)))
    high = 1.0 if value >= 1.0 else float(brentq(excess, max(value, 1e-12), 1.0))
    return low, high


def judge(distances: Array, same: Array, weights: Array, most: float = np.inf) -> Auc | None:
    """Return the AUC of test pairs with its interval; None if there are too few.

    Parameters
    ----------
    distances : ndarray of shape (n,)
        Distances of the pairs.
    same : ndarray of bool of shape (n,)
        Which pairs are of the same kind.
    weights : ndarray of shape (n,)
        1 over the chance with which each pair was sampled.
    most : float, default=inf
        Largest number of independent pairs of each kind, if the pairs share rows.
    """
    if min(same.sum(), (~same).sum()) < FEWEST:
        return None
    value = weighted_auc(distances, same, weights)
    sizes = [min(_effective(weights[kind]), most) for kind in (same, ~same)]
    return Auc(value, *auc_interval(value, *sizes))


def _effective(weights: Array) -> float:
    """Return Kish's number of equally weighted pairs that would tell as much."""
    return float(weights.sum() ** 2 / (weights @ weights))


@dataclass(frozen=True)
class Judgment:
    """What the test says after some answers.

    Parameters
    ----------
    answers : int
        Number of answers by then.
    learned, euclidean : Auc
        The learned distance, and the Euclidean one for comparison.
    """

    answers: int
    learned: Auc
    euclidean: Auc


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


def advice(
    n_answers: int,
    judgments: Sequence[Judgment],
    change: float | None,
    *,
    n_tests: int,
    n_same: int,
    n_different: int,
    left: bool = True,
) -> tuple[str, bool]:
    """Say whether to go on, and whether this is a good moment to stop.

    Parameters
    ----------
    n_answers : int
        Answers so far, without the unsure ones.
    judgments : sequence of Judgment
        The test so far, oldest first.
    change : float or None
        Rank correlation of today's distances with those of `WINDOW` answers ago; None if there
        were not as many.
    n_tests, n_same, n_different : int
        Answers in the test, and answers of each kind.
    left : bool, default=True
        Whether there is anything left to ask.
    """
    if not left:
        return "There is nothing left to ask.", True
    if n_same == 0 or n_different == 0:
        missing = "same" if n_same == 0 else "different"
        if n_answers == 0:
            return "The first distance is learned after a few answers.", False
        return f"Learning starts with the first pair that is {missing}.", False
    if not judgments:
        return (
            f"Answers kept apart as a test so far: {n_tests}. The test needs {FEWEST} of each "
            "kind to say how good the distance is.",
            False,
        )
    now = judgments[-1].learned
    interval = f"95 % interval {now.low:.2f}-{now.high:.2f}"
    if change is None:
        return f"{interval}. Answer {max(1, 2 * WINDOW - n_answers)} more before you judge.", False
    if change >= _STEADY and now.high - now.low > _WIDE:
        more = _answers_until_narrow(now, n_answers)
        return (
            f"The last {WINDOW} answers changed little, but the test is too small to say how good "
            f"the distance is: {interval}. About {more} more answers will tell.",
            False,
        )
    if change >= _STEADY:
        return (
            f"The last {WINDOW} answers changed little; {interval}. Ask {WINDOW} more, or stop.",
            True,
        )
    return f"The last {WINDOW} answers still changed the distance; {interval}. Go on.", False


def _answers_until_narrow(now: Auc, n_answers: int) -> int:
    """Return how many more answers make the interval narrow enough, in tens.

    Its width falls with the square root of the number of test answers, which are a fixed share of
    all.
    """
    needed = n_answers * (((now.high - now.low) / _WIDE) ** 2 - 1.0)
    return 10 * ceil(needed / 10)
