"""The number of pairs that a fit sums over, and the error that a sample adds to the metric."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from .. import _solvers as solvers
from .._marks import PairLabels
from .._sweep import posterior, to_memory
from .._utils._typing import Array
from ._problem import Problem
from ._sampling import MOST, PAIRS_PER_ROW, WHOLE
from ._settings import Settings

# Rows whose pairs, and marks that, serve to estimate variances; and leading directions of the
# metric in which gradients are compared.
_ROWS_TO_COMPARE, _MARKS_TO_COMPARE, _DIRECTIONS = 120, 10_000, 5


def can_shorten(problem: Problem, settings: Settings) -> bool:
    """Whether "auto" would sum over far fewer unlabeled pairs."""
    n = len(problem.labels.codes)
    is_large = settings.unlabeled_pairs != "auto" and problem.mu > 0.0 and n > WHOLE
    return is_large and _count_unlabeled(problem) > 4 * PAIRS_PER_ROW * min(n, MOST)


def count_summed(problem: Problem) -> int:
    """Count the pairs that the objective sums over, up to whole tiles."""
    labels, terms = problem.labels, problem.pairs.terms
    found = len(labels.pairs) + terms.plan.labeled_share * sum(labels.implied)
    return round(found + (_count_unlabeled(problem) if terms.mu > 0.0 else 0))


def _count_unlabeled(problem: Problem) -> float:
    """Count the unlabeled pairs to sum over."""
    plan = problem.pairs.terms.plan
    if plan.listed is not None:
        return len(plan.listed)
    return plan.share * problem.labels.n_unlabeled


def estimate_error(problem: Problem, P: Array, labels: PairLabels, s: float = 1.0) -> float:
    """Estimate the error that sampling adds to the metric, over that of the labels.

    It is the standard deviation of the gradient over samples, divided by that over choices of the
    labeled rows, in the leading directions of the metric. The second is the estimate for pairs
    that share rows (Aronow, Samii and Assenova 2015).

    Parameters
    ----------
    problem : Problem
        The problem.
    P : ndarray of shape (r, d)
        Factor of the solution, in the solvers' coordinates.
    labels : PairLabels
        Labels of all rows.
    s : float, default=1.0
        Scale of the full model.

    Returns
    -------
    float
        0 if all pairs are summed; NaN if there are too few labeled pairs to tell.
    """
    plan, mu, known = problem.pairs.terms.plan, problem.mu, problem.labels
    n_unlabeled = labels.n_unlabeled
    summed = _count_unlabeled(problem) / max(known.n_unlabeled, 1)
    is_sampled = mu > 0.0 and (summed < 1.0 or len(known.codes) < len(labels.codes))
    if not is_sampled and plan.labeled_share == 1.0:
        return 0.0
    array = problem.coordinates.array
    # (In the precision of the points: they would be copied otherwise.)
    Z = array @ solvers.compress(P)[:_DIRECTIONS].T.astype(array.dtype)
    Z = to_memory(Z).astype(np.float64, copy=False)  # five numbers for each row, read once
    eta = s * problem.pairs.terms.eta
    of_labels, added = _labels_variance(Z, known, eta, plan.labeled_share)
    if is_sampled:
        free = np.flatnonzero(~known.is_labeled)
        n_free = len(labels.codes) - labels.n_labeled_rows
        by_row, by_pair = _unlabeled_variances(Z[_spread(free)], eta)
        of_rows = by_row / max(len(free), 1) * (1.0 - len(free) / max(n_free, 1))
        if plan.listed is None:  # each row is in equally many pairs, which leaves less
            by_pair = max(0.0, by_pair - by_row / 2.0)
        of_pairs = by_pair * (1.0 - summed) / max(summed * known.n_unlabeled, 1.0)
        added += (mu * n_unlabeled) ** 2 * (of_rows + of_pairs)
    return math.sqrt(added / of_labels) if of_labels > 0.0 else math.nan


def _labels_variance(
    Z: Array, labels: PairLabels, eta: float, share: float
) -> tuple[float, float]:
    """Estimate the variance of the sum of the labeled gradients, and that due to a share."""
    rows = labels.rows_by_class
    some = _spread(rows)
    i, j = np.triu_indices(len(some), 1)
    codes = labels.codes[some]
    by_row, by_pair = _variances(Z[some], i, j, _slope(Z[some], i, j, codes[i] == codes[j], eta))
    total = 0.0
    added = 0.0
    if len(i):
        n_pairs = sum(labels.implied)
        total = (by_row - by_pair) * (n_pairs / len(i)) ** 2 * len(some) / len(rows)
        added = by_pair / len(i) * n_pairs * (1.0 - share) / share
    marks = _spread(np.arange(len(labels.pairs)), _MARKS_TO_COMPARE)
    if len(marks):
        i, j = labels.pairs[marks].T
        weights = labels.weights[marks] * _slope(Z, i, j, labels.likeness[marks], eta)
        by_row, by_pair = _variances(Z, i, j, weights)
        total += (by_row - by_pair) * len(labels.pairs) / len(marks)
    return total, added


def _unlabeled_variances(Z: Array, eta: float) -> tuple[float, float]:
    """Estimate ``4 zeta_1`` and ``zeta_2`` of the entropy's gradient from all pairs of rows."""
    i, j = np.triu_indices(len(Z), 1)
    if len(i) == 0:
        return 0.0, 0.0
    margins = _margins(Z, i, j, eta)
    p = posterior(margins)
    by_row, by_pair = _variances(Z, i, j, p * (1.0 - p) * margins)
    by_row = max(0.0, by_row - 2.0 * by_pair)  # what is left if the pairs were independent
    return by_row * len(Z) / len(i) ** 2, by_pair / len(i)


def _margins(Z: Array, i: Array, j: Array, eta: float) -> Array:
    found: Array = np.square(Z[i] - Z[j]).sum(axis=1) - eta
    return found


def _slope(Z: Array, i: Array, j: Array, likeness: Array, eta: float) -> Array:
    """Return the derivative of the labeled term of each pair by its squared distance."""
    return posterior(_margins(Z, i, j, eta)) - likeness


def _variances(Z: Array, i: Array, j: Array, weights: Array) -> tuple[float, float]:
    """Sum squares of gradients about their mean: of the sum over each row, and of each pair."""
    if len(i) == 0:
        return 0.0, 0.0
    apart = Z[i] - Z[j]
    gradients = np.einsum("p,pa,pb->pab", weights, apart, apart).reshape(len(i), -1)
    gradients -= gradients.mean(axis=0)
    pairs = np.arange(len(i))
    meets = sparse.csr_array(
        (np.ones(2 * len(i)), (np.concatenate([i, j]), np.concatenate([pairs, pairs]))),
        shape=(len(Z), len(i)),
    )
    return float(np.square(meets @ gradients).sum()), float(np.square(gradients).sum())


def _spread(rows: Array, count: int = _ROWS_TO_COMPARE) -> Array:
    """Return at most `count` of the rows, evenly spaced."""
    return rows[:: max(1, -(-len(rows) // count))]
