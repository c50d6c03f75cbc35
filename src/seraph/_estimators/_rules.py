r"""Class probabilities from labeled rows in a learned space, by a soft vote and a linear rule.

Of n labeled rows :math:`z_i` with classes :math:`c_i`, the vote gives a row z

.. math:: p(c) = (1 - \delta) \sum_{i: c_i = c} w_i \Big/ \sum_i w_i + \delta / k, \qquad
          w_i = \exp(-\|z - z_i\|^2 / \tau), \quad \delta = 1 / (n + 1),

with k classes: few labels allow no certainty. The width :math:`\tau` is a multiple of the median
squared distance from a row to the nearest labeled one; of a few multiples, the one under which
the others predict each labeled row best. The linear rule is logistic regression with a
squared penalty, in the same space with a mean variance of one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from .._utils._typing import Array

RULES = ("auto", "mean", "vote", "linear", "nearest")

# Multiples of the median to try as the width, and C of the logistic regression: chosen by error
# and Brier score on the sets of benchmarks/evidence that are for choosing.
WIDTHS = (0.3, 0.5, 1.0, 2.0, 4.0)
C = 1.0
# Rules that the linear one is a part of.
_LINEAR = ("auto", "mean", "linear")
# Largest numbers of rows for the median, and of labeled rows for choosing the multiple. They tell
# five widths apart, and take little time beside the fit of a metric.
_ROWS, _LABELED = 2000, 200
# Distances held at a time.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """The labeled rows in a space of mean zero and mean variance one, and the fitted rules.

    Parameters
    ----------
    center : ndarray of shape (r,)
        Mean of the rows.
    scale : float
        Square root of their mean variance.
    points : ndarray of shape (n_labeled, r)
        The labeled rows, centered and scaled.
    codes : ndarray of int of shape (n_labeled,)
        Their classes, from 0 to k - 1.
    width : float
        Width of the vote.
    coef, intercept : ndarray of shapes (k, r) and (k,), or None
        The linear rule; None where it is not asked for.
    """

    center: Array
    scale: float
    points: Array
    codes: Array
    width: float
    coef: Array | None
    intercept: Array | None

    @classmethod
    def of(cls, Z: Array, known: Array, codes: Array, rule: str) -> LabeledRows:
        """Set up a rule for mapped rows `Z`, where those `known` have the classes `codes`."""
        Z = np.asarray(Z, dtype=np.float64)
        center = Z.mean(axis=0)
        away = Z - center
        size = float(np.abs(away).max(initial=0.0)) or 1.0  # squares must not overflow
        scale = size * float(np.sqrt(np.mean((away / size) ** 2))) or 1.0
        away = away / scale
        linear = _logistic_regression(away[known], codes) if rule in _LINEAR else (None, None)
        return cls(
            center=center,
            scale=scale,
            points=away[known],
            codes=codes,
            width=_width(away, known, codes),
            coef=linear[0],
            intercept=linear[1],
        )

    def probabilities(self, Z: Array, rule: str) -> Array:
        """Return the probability of each class for each mapped row."""
        away = (np.asarray(Z, dtype=np.float64) - self.center) / self.scale
        if rule == "linear":
            return self._odds(away)
        if rule == "vote":
            return self._votes(away)
        if rule == "nearest":
            return self._votes(away, nearest=True)
        return (self._votes(away) + self._odds(away)) / 2.0

    def _odds(self, away: Array) -> Array:
        if self.coef is None or self.intercept is None:
            raise ValueError(
                "The linear rule was not fitted, because the rule was another one then: fit again "
                "after changing the rule."
            )
        found: Array = softmax(away @ self.coef.T + self.intercept, axis=1)
        return found

    def _votes(self, away: Array, *, nearest: bool = False) -> Array:
        """Return the share of each class in the votes of all labeled rows, or of the nearest."""
        classes = np.eye(int(self.codes.max()) + 1)
        members = None if nearest else classes[self.codes]
        found: Array = np.empty((len(away), len(classes)))
        for rows in gen_batches(len(away), max(1, _AT_ONCE // len(self.codes))):
            d2 = euclidean_distances(away[rows], self.points, squared=True)
            if members is None:
                found[rows] = classes[self.codes[d2.argmin(axis=1)]]
            else:
                found[rows] = _shares(d2, members, self.width)
        return found


def _logistic_regression(points: Array, codes: Array) -> tuple[Array, Array]:
    """Return coefficients and intercepts, one row for each class; zeros if there is one class."""
    k = int(codes.max()) + 1
    if k == 1:
        return np.zeros((1, points.shape[1])), np.zeros(1)
    fitted = LogisticRegression(C=C, max_iter=1000, tol=1e-6).fit(points, codes)
    if k == 2:  # one row: the log-odds of the second class
        halves = np.array([[-0.5], [0.5]])
        return halves * fitted.coef_, halves[:, 0] * fitted.intercept_
    return fitted.coef_, fitted.intercept_


def _shares(d2: Array, members: Array, width: float) -> Array:
    """Return the share of each class in the votes of the labeled rows at squared distances d2."""
    n, k = members.shape
    doubt = 1.0 / (n + 1.0)
    weights = np.exp((d2.min(axis=1, keepdims=True) - d2) / width)
    votes: Array = weights @ members / weights.sum(axis=1, keepdims=True)
    return (1.0 - doubt) * votes + doubt / k


def _width(Z: Array, known: Array, codes: Array) -> float:
    """Choose the width of the vote."""
    labeled = np.flatnonzero(known)
    free = np.flatnonzero(~known)
    rows = free if len(free) else labeled
    nearest = np.concatenate([d2.min(axis=1) for _, d2 in _to_labeled(Z, rows, labeled, _ROWS)])
    nearest = nearest[np.isfinite(nearest) & (nearest > 0.0)]
    typical = float(np.median(nearest)) if len(nearest) else 1.0
    members = np.eye(int(codes.max()) + 1)[codes]
    gains = np.zeros(len(WIDTHS))
    if len(labeled) > 1:
        for places, d2 in _to_labeled(Z, labeled, labeled, _LABELED):
            own = members[places].astype(bool)
            gains += [np.log(_shares(d2, members, w * typical)[own]).sum() for w in WIDTHS]
    return WIDTHS[int(gains.argmax())] * typical


def _to_labeled(
    Z: Array, rows: Array, labeled: Array, at_most: int
) -> Iterator[tuple[Array, Array]]:
    """Yield places in `rows`, and squared distances to the labeled rows; a row is not its own.

    Of more than `at_most` rows, some are taken.
    """
    places = np.arange(0, len(rows), -(-len(rows) // at_most))
    for some in gen_batches(len(places), max(1, _AT_ONCE // len(labeled))):
        here = rows[places[some]]
        d2 = euclidean_distances(Z[here], Z[labeled], squared=True)
        d2[here[:, np.newaxis] == labeled] = np.inf
        yield places[some], d2
