"""A start nearer to the maximum, for a fit that continues from the metric of an earlier one.

Where a few labels have changed, the old metric is close to the new maximum, but not close enough:
a solver still takes dozens of iterations over all pairs. Most of them can do with a sample of
the unlabeled pairs. The objective ``S`` of a sample has another maximum than the objective ``F``
of all pairs, and a linear term repairs that. Where both gradients are known, at ``A0``, the
surrogate ::

    S(A) + <C, A>       C = grad F(A0) - grad S(A0)

has the gradient of F, and nearly its curvature. Its maximum is the next ``A0``; the gap falls by
a factor with each sum over all pairs. (Shamir, Srebro and Zhang 2014 distribute a sum over
machines in this way.)
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .. import _solvers as solvers
from .._sweep import Sample
from .._typing import Array
from ._objective import Objective
from ._sampling import sample_pairs

# Size of a sample. It pays off if all pairs are this many times as many.
_PAIRS_PER_POINT, _MANY_TIMES = 20, 50
# Sums over all pairs, at most, and the share of the gap that each may leave.
_MAX_ROUNDS, _LEAST_GAIN = 6, 0.5
# A surrogate is maximized to this share of the gap, but not below that share of `tol`.
_NEXT_TOL, _LAST_TOL = 0.03, 0.3


def sample_of(objective: Objective, n: int, n_unlabeled: int) -> Objective | None:
    """Return the objective with a sample of its unlabeled pairs, or None if that does not pay.

    Parameters
    ----------
    objective : Objective
        The objective.
    n, n_unlabeled : int
        Number of points and of their unlabeled pairs.
    """
    terms, size = objective.terms, _PAIRS_PER_POINT * n
    n_swept = terms.share * n_unlabeled
    if terms.mu == 0.0 or terms.sample is not None or n_swept < _MANY_TIMES * size:
        return None
    # The same pairs in each fit, so that a fit repeats.
    rng = np.random.RandomState(0)
    pairs = sample_pairs(n, len(terms.codes), terms.pairs, size, rng)
    return replace(objective, terms=replace(terms, sample=Sample(pairs, n_unlabeled / size)))


def nearer(
    objective: Objective, sample: Objective, P: Array, *, tol: float, max_rank: int | None
) -> Array:
    """Move a factor towards the maximum of an objective, with few sums over all pairs.

    Parameters
    ----------
    objective : Objective
        What to maximize.
    sample : Objective
        An estimate of it.
    P : ndarray of shape (r, m)
        Factor that is not far from the maximum.
    tol : float
        `optimality_gap` at which to stop.
    max_rank : int or None
        Largest number of rows of the factor.

    Returns
    -------
    ndarray of shape (r, m)
        A factor at which the objective is at least as high.
    """
    value, gradient = objective.by_metric(P)
    gap = solvers.optimality_gap(P, gradient, objective.scale)
    for _ in range(_MAX_ROUNDS):
        if gap <= tol:
            break
        C = sample.by_metric(P)[1] - gradient
        if sample.roughness is not None:
            C += sample.roughness
        there = solvers.low_rank(
            replace(sample, roughness=C),
            P,
            max_iter=200,
            tol=max(_NEXT_TOL * gap, _LAST_TOL * tol),
            callback=lambda step, P: None,
            max_rank=max_rank,
        ).P
        before = gap
        value_there, gradient_there = objective.by_metric(there)
        if not value_there > value:  # the sample says nothing about what is left to gain
            break
        P, value, gradient = there, value_there, gradient_there
        gap = solvers.optimality_gap(P, gradient, objective.scale)
        if gap > _LEAST_GAIN * before:
            break
    return P
