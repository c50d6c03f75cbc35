r"""How much better one distance is than another, from few answers and many distances.

With :math:`r_l, r_e` the ranks from 0 to 1 of a pair among all pairs, by the learned and by the
Euclidean distance, and s = 1 for pairs that are the same, the AUCs differ by

.. math:: D = \frac{E[s \, (r_e - r_l)]}{\pi (1 - \pi)}, \qquad \pi = E[s].

The ranks of all pairs are known; only the answers are few. A prediction of s from the two
distances gives most of D, and the answers correct it. Only what they add to the prediction makes D
uncertain. This is the model-assisted estimate of sampling theory: C.-E. Särndal, B. Swensson, J.
Wretman, Model Assisted Survey Sampling, 1992. It sees as much in 30 answers as the plain
difference of the AUCs in about 60.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.linear_model import LogisticRegression

from ..._utils._typing import Array, FloatArray


def auc_difference(
    learned: Array,
    euclidean: Array,
    same: Array,
    weights: Array,
    population: tuple[Array, Array],
    n_independent: float,
) -> tuple[float, float, float]:
    """Return by how much the AUC of the learned distance is larger, and its 95 % interval.

    `learned` and `euclidean` are the distances of the pairs of the test, `same` marks those that
    are the same, and `weights` are 1 over the chance with which each was sampled. `population`
    has both distances of many random pairs. The test is worth `n_independent` equally
    weighted pairs that share no answer.
    """
    w, n = weights / weights.sum(), len(same)
    (all_l, test_l), (all_e, test_e) = (
        [_ranks(everywhere, d) for d in (everywhere, tested)]
        for everywhere, tested in zip(population, (learned, euclidean), strict=True)
    )
    # Half an answer of each kind at the center keeps a sample of one kind from certainty.
    scores = np.r_[_scores(test_l, test_e), np.zeros((2, 2))]
    model = LogisticRegression().fit(scores, [*same, False, True], [*np.ones(n), 0.5, 0.5])
    chance, guess = (model.predict_proba(s)[:, 1] for s in (_scores(all_l, all_e), scores[:-2]))
    missed = same - guess
    share = float(np.clip(chance.mean() + w @ missed, 1.0 / n, 1.0 - 1.0 / n))
    scale = share * (1.0 - share)
    value = float(chance @ (all_e - all_l) / len(all_l) + w @ (missed * (test_e - test_l))) / scale
    # An answer also changes the denominator.
    slope = value * (1.0 - 2.0 * share)
    # By the prediction: few answers may all be as predicted by chance, and would look certain.
    spread = chance * (1.0 - chance) * (all_e - all_l - slope) ** 2
    variance = float(spread.mean()) / scale**2 / n_independent
    reach = float(student.ppf(0.975, max(n_independent - 2.0, 1.0))) * sqrt(variance)
    value = min(max(value, -1.0), 1.0)
    return value, max(value - reach, -1.0), min(value + reach, 1.0)


def _ranks(population: Array, distances: Array) -> FloatArray:
    """Return the share of the population that is nearer; equal distances count one half."""
    ordered = np.sort(population)
    sides = [np.searchsorted(ordered, distances, side) for side in ("left", "right")]
    shares: FloatArray = 0.5 * (sides[0] + sides[1]) / len(ordered)
    return shares


def _scores(*ranks: FloatArray) -> FloatArray:
    """Return normal scores of ranks, one column each."""
    low = 2.5e-4
    return np.column_stack([norm.ppf(np.clip(rank, low, 1.0 - low)) for rank in ranks])
