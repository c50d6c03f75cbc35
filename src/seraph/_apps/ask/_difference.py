r"""How much better one distance is than another, from few answers and many distances.

With :math:`r_l, r_e` the ranks from 0 to 1 of a pair among all pairs, by the learned and by the
Euclidean distance, and s = 1 for pairs that are the same, the AUCs differ by

.. math:: D = \frac{E[s \, (r_e - r_l)]}{\pi (1 - \pi)}, \qquad \pi = E[s].

The ranks of all pairs are known; only the answers are few. A prediction of s from the two
distances says most of D. The answers correct it, and only what they add to the prediction makes D
uncertain: a pair on which the distances agree, or whose answer was clear before, tells little.
This is the model-assisted estimate of sampling theory, unbiased whatever the prediction is worth.

References
----------
C.-E. Särndal, B. Swensson, J. Wretman. Model Assisted Survey Sampling, 1992.
A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan, T. Zrnic. Prediction-powered inference.
Science 382, 2023.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from scipy.stats import t as student

from ..._utils._typing import Array, FloatArray, IntArray

_FOLDS = 10
# Of the logistic regression on the normal scores of the ranks, in answers.
_RIDGE = 1.0
_STEPS, _LONGEST_STEP = 15, 2.0


def auc_difference(
    learned: Array,
    euclidean: Array,
    same: Array,
    weights: Array,
    population: tuple[Array, Array],
) -> tuple[float, float, float]:
    """Return by how much the AUC of the learned distance is larger, and its 95 % interval.

    Parameters
    ----------
    learned, euclidean : ndarray of shape (n,)
        Distances of the pairs of the test.
    same : ndarray of bool of shape (n,)
        Which of them are the same.
    weights : ndarray of shape (n,)
        1 over the chance with which each was sampled.
    population : (ndarray, ndarray) of shape (N,)
        Both distances of many random pairs.
    """
    s, w, n = same.astype(np.float64), weights / weights.sum(), len(same)
    ranks = [[_ranks(all_, d) for d in (all_, tested)]
             for all_, tested in zip(population, (learned, euclidean), strict=True)]  # fmt: skip
    (all_l, test_l), (all_e, test_e) = ranks
    everywhere, guess = _predicted(_scores(all_l, all_e), _scores(test_l, test_e), s)
    missed = s - guess
    share = float(np.clip(everywhere.mean() + w @ missed, 1.0 / n, 1.0 - 1.0 / n))
    scale = share * (1.0 - share)
    value = float(everywhere @ (all_e - all_l) / len(all_l) + w @ (missed * (test_e - test_l)))
    value /= scale
    # An answer also changes the denominator.
    slope = value * (1.0 - 2.0 * share)
    # By the prediction: few answers may all be as predicted by chance, and would look certain.
    spread = everywhere * (1.0 - everywhere) * (all_e - all_l - slope) ** 2
    variance = float(spread.mean()) / scale**2 * float(w @ w)
    reach = float(student.ppf(0.975, max(n - 2, 1))) * sqrt(variance)
    value = min(max(value, -1.0), 1.0)
    return value, max(value - reach, -1.0), min(value + reach, 1.0)


def _ranks(population: Array, distances: Array) -> FloatArray:
    """Return the share of the population that is nearer; equal distances count one half."""
    ordered = np.sort(population)
    sides = [np.searchsorted(ordered, distances, side) for side in ("left", "right")]
    shares: FloatArray = 0.5 * (sides[0] + sides[1]) / len(ordered)
    return shares


def _scores(*ranks: FloatArray) -> FloatArray:
    """Return normal scores of ranks, one column each, with a first column of ones."""
    low = 2.5e-4
    columns = [norm.ppf(np.clip(rank, low, 1.0 - low)) for rank in ranks]
    return np.column_stack([np.ones(len(ranks[0])), *columns])


def _predicted(everywhere: FloatArray, tested: FloatArray, s: FloatArray) -> tuple[Array, Array]:
    """Return the chance to be the same of all pairs and of the tested ones.

    A tested pair is predicted from the answers of the other folds.
    """
    fold: IntArray = np.arange(len(s)) % _FOLDS
    all_, own = np.zeros(len(everywhere)), np.empty(len(s))
    for k in np.unique(fold):
        held = fold == k
        coefficients = _logistic(tested[~held], s[~held])
        own[held] = expit(tested[held] @ coefficients)
        all_ += expit(everywhere @ coefficients) * held.mean()
    return all_, own


def _logistic(A: FloatArray, s: FloatArray) -> FloatArray:
    """Return the coefficients of a ridge logistic regression, by Newton's method.

    Half an answer of each kind at the center keeps a sample of one kind from certainty.
    """
    center = np.eye(1, A.shape[1]).repeat(2, axis=0)
    A, s, w = np.r_[A, center], np.r_[s, 0.0, 1.0], np.r_[np.ones(len(s)), 0.5, 0.5]
    ridge = np.diag([1e-3, *[_RIDGE] * (A.shape[1] - 1)])
    found = np.zeros(A.shape[1])
    for _ in range(_STEPS):
        p = expit(A @ found)
        curvature = A.T @ ((w * p * (1.0 - p))[:, np.newaxis] * A) + ridge
        step = np.linalg.solve(curvature, A.T @ (w * (s - p)) - ridge @ found)
        length = float(np.abs(step).max())
        found += step * min(1.0, _LONGEST_STEP / max(length, 1e-300))
        if length < 1e-5:
            break
    return found
