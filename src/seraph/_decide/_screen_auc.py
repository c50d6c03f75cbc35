r"""Judge a learned distance by the screens it learned from: no answer is spent on a test.

With :math:`r_l, r_e \in (0, 1)` the ranks of a pair's distance among all pairs, by the learned
distance and before learning, s = 1 for similar pairs and :math:`\pi = E[s]`,

.. math:: AUC = \frac12 + \frac{E[s (\frac12 - r)]}{\pi (1 - \pi)}, \qquad
          AUC_l - AUC_e = \frac{E[s (r_e - r_l)]}{\pi (1 - \pi)}.

The first row of a screen is random, so that its pairs, weighted by one over their chances, sample
all pairs. Ranks are known of all pairs; answers of a few. Each mean is therefore model-assisted
(Särndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992): with a prediction g of s
from the normal scores of both ranks, and with weights w of the answers that sum to one,

.. math:: \widehat{E[s u]} = \overline{g u} + \sum_k w_k (s_k - g_k) u_k,

which corrects the mean of g u over all pairs by what g has missed. A screen gets its learned ranks
from a fit to the other screens, without any row of the screens of its fold. The variance adds up

- the jackknife over screens, for the choice of rows and the answers;
- :math:`\frac12 \sum_k w_k^2 g_k (1 - g_k) c_k^2`, with :math:`c_k` the derivative by an answer:
  few answers may all be as g says by chance, and would look certain;
- :math:`\frac4N` times the variance over the N rows of a row's mean influence, the first term of
  the variance of a U-statistic: other rows of the same kind would give another AUC.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, ndtri
from scipy.stats import t as student

from .._utils._typing import Array, Interval

# Ranks nearer to 0 or 1 count as this one, so that their normal scores are finite.
_LOWEST = 2.5e-4


class Estimate(NamedTuple):
    """Figures of a learned distance, and what they are computed from."""

    beta: Array  # intercept and slopes of g
    share: float  # of similar pairs
    aucs: Array  # of the learned distance, of that before learning, and their difference


@dataclass(frozen=True)
class ScreenAUC:
    """Answers about the first rows of screens, with the ranks of their distances."""

    same: Array  # (n_screens, size - 1): whether each row is like the first one
    known: Array  # of the same shape: whether that is known
    chances: Array  # of the same shape: that the row was shown
    ranks: Array  # (n_screens, size - 1, 2): by the learned distance, and before learning
    pairs: Array  # (n_pairs, 2): rows of pairs that stand for all; each row is in about as many
    everywhere: Array  # (n_folds, n_pairs, 2): ranks of these pairs, by the fit of each fold

    def estimate(self, screens: Array, start: Array | None = None) -> Estimate:
        """Estimate the three figures from some of the screens."""
        told = self.known[screens]
        s, w = self.same[screens][told].astype(float), 1.0 / self.chances[screens][told]
        r, r_all = self.ranks[screens][told], self.everywhere.reshape(-1, 2)
        beta = fit_prediction(_scores(r), s, start)
        g_all, missed = predict(beta, r_all), (s - predict(beta, r)) * w / w.sum()
        least = 0.5 / len(s)
        share = float(np.clip(g_all.mean() + missed.sum(), least, 1.0 - least))
        mean = g_all @ (0.5 - r_all) / len(g_all) + missed @ (0.5 - r)
        gain = mean / (share * (1.0 - share))
        return Estimate(beta, share, np.append(0.5 + gain, gain[0] - gain[1]))

    def leave_out(self, found: Estimate) -> tuple[Array, Array]:
        """Return the estimates without each screen, and how likely they make its answers.

        The likelihoods have the shape of `same`; they are NaN where the answer is not known.
        """
        likelihood, aucs = np.full(self.same.shape, np.nan), []
        for screen in np.flatnonzero(self.known.any(axis=1)):
            others = self.estimate(np.arange(len(self.same)) != screen, found.beta)
            g = predict(others.beta, self.ranks[screen])
            likely = np.where(self.same[screen], g, 1.0 - g)
            likelihood[screen] = np.where(self.known[screen], likely, np.nan)
            aucs.append(others.aucs)
        return np.array(aucs), likelihood

    def variances(self, found: Estimate, without: Array, n: int) -> tuple[Array, Array]:
        """Return the variances of the figures by the choice of screens, and by that of n rows."""
        ranks, w = self.ranks[self.known], 1.0 / self.chances[self.known]
        g = predict(found.beta, ranks)
        by_chance = ((w / w.sum()) ** 2 * g * (1.0 - g)) @ derivatives(ranks, found) ** 2
        each = np.mean([influences(r, found) for r in self.everywhere], axis=0)
        place = np.unique(self.pairs, return_inverse=True)[1].ravel()
        count = np.bincount(place)[:, np.newaxis]
        sums, squares = (
            np.column_stack([np.bincount(place, np.repeat(column, 2)) for column in values.T])
            for values in (each, each**2)
        )
        # The mean of a few pairs of a row varies by itself, too.
        noise = (squares / count - (sums / count) ** 2) / np.maximum(count - 1, 1)
        by_rows = (sums / count).var(axis=0, ddof=1) - noise.mean(axis=0)
        by_screens = jackknife_variance(without) + 0.5 * by_chance
        return by_screens, 4.0 / n * np.maximum(by_rows, 0.0)


def intervals(found: Estimate, variance: Array, n_screens: int) -> list[Interval]:
    """Return the three figures with 95 % intervals, those of the AUCs on the logit scale."""
    reach = float(student.ppf(0.975, n_screens - 2)) * np.sqrt(variance)
    auc = np.clip(found.aucs[:2], 0.005, 0.995)
    stretched = reach[:2] / (auc * (1.0 - auc))
    # Near 0 and 1 the logit stretches an interval beyond reason.
    low = np.maximum(expit(logit(auc) - stretched), auc - 2.0 * reach[:2])
    high = np.minimum(expit(logit(auc) + stretched), auc + 2.0 * reach[:2])
    values = np.append(auc, np.clip(found.aucs[2], -1.0, 1.0))
    ends = np.append(low, values[2] - reach[2]), np.append(high, values[2] + reach[2])
    return [
        (float(value), max(float(a), -1.0), min(float(b), 1.0))
        for value, a, b in zip(values, *ends, strict=True)
    ]


def fit_prediction(V: Array, s: Array, start: Array | None = None) -> Array:
    """Fit g, a logistic regression of s on V, with a ridge of 1; return intercept and slopes.

    Half an answer of each kind at the center keeps answers of one kind from certainty.
    """
    A = np.column_stack([np.ones(len(V) + 1), np.vstack([V, np.zeros(V.shape[1])])])
    c, s = np.append(np.ones(len(V)), 1.0), np.append(s, 0.5)
    ridge = np.append(0.0, np.ones(V.shape[1]))
    beta = np.zeros(A.shape[1]) if start is None else start

    def loss(b: Array) -> float:
        return float(c @ (np.logaddexp(0.0, A @ b) - s * (A @ b)) + 0.5 * ridge @ b**2)

    for _ in range(50):  # Newton's method, with steps halved until the loss falls
        g = expit(A @ beta)
        gradient = A.T @ (c * (g - s)) + ridge * beta
        hessian = (A.T * (c * g * (1.0 - g))) @ A + np.diag(ridge + 1e-12)
        step = np.linalg.solve(hessian, gradient)
        while loss(beta - step) > loss(beta) + 1e-12 and np.abs(step).max() > 1e-9:
            step = 0.5 * step
        beta = beta - step
        if np.abs(step).max() < 1e-8:
            break
    return np.asarray(beta)


def derivatives(ranks: Array, found: Estimate) -> Array:
    """Return the derivative of the three figures by the mean of s, for pairs of these ranks."""
    scale = found.share * (1.0 - found.share)
    slopes = (0.5 - ranks - (found.aucs[:2] - 0.5) * (1.0 - 2.0 * found.share)) / scale
    return np.column_stack([slopes, slopes[:, 0] - slopes[:, 1]])


def influences(ranks: Array, found: Estimate, g: Array | None = None) -> Array:
    """Return the influence of pairs on the three figures, up to a constant.

    A pair also moves the ranks of those that are farther, hence the sum of g over nearer pairs.
    """
    g = predict(found.beta, ranks) if g is None else g
    moved = np.empty_like(ranks)
    for column, r in zip(moved.T, ranks.T, strict=True):
        order = np.argsort(r, kind="stable")
        column[order] = np.cumsum(g[order]) / len(g) / (found.share * (1.0 - found.share))
    both = np.column_stack([moved, moved[:, 0] - moved[:, 1]])
    return g[:, np.newaxis] * derivatives(ranks, found) + both


def jackknife_variance(without: Array) -> Array:
    """Return the jackknife's variance of estimates, from those without each unit in turn."""
    return np.asarray((len(without) - 1) * without.var(axis=0))


def predict(beta: Array, ranks: Array) -> Array:
    """Return g for pairs of these ranks."""
    return np.asarray(expit(beta[0] + _scores(ranks) @ beta[1:]))


def _scores(ranks: Array) -> Array:
    return np.asarray(ndtri(np.clip(ranks, _LOWEST, 1.0 - _LOWEST)))
