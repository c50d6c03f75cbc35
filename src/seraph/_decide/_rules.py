r"""Class probabilities from labeled rows in a learned space, by a soft vote and a linear rule.

Of n labeled rows :math:`z_i` with classes :math:`c_i`, the vote gives a row z

.. math:: p(c) = (1 - \delta) \sum_{i: c_i = c} w_i \Big/ \sum_i w_i + \delta / k, \qquad
          w_i = \exp(-\|z - z_i\|^2 / \tau), \quad \delta = 1 / (n + 1),

with k classes: few labels allow no certainty. The width :math:`\tau` is a multiple of the median
squared distance from a row to the nearest labeled one; of a few multiples, the one under which
the others predict each labeled row best. The linear rule is logistic regression with a
squared penalty, in the same space with a mean variance of one.

All voices together are the mean of these two, and a random forest on the features before learning,
whose share is less, the more features there are (`prior_share`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches

from .._forest import class_shares, grow_forest, prior_share
from .._utils._tiles import spaced
from .._utils._typing import Array

RULES = ("all", "mean", "vote", "linear", "nearest")

# Multiples of the median to try as the width, and C of the logistic regression: chosen by error
# and Brier score on the sets of benchmarks/evidence that are for choosing.
WIDTHS = (0.3, 0.5, 1.0, 2.0, 4.0)
C = 1.0
# Largest numbers of rows for the median, and of labeled rows for choosing the multiple. They tell
# five widths apart, and take little time beside the fit of a metric.
_ROWS, _LABELED = 2000, 200
# Distances held at a time.
_AT_ONCE = 1 << 20


def fit_rules(
    Z: Array, F: Array | None, known: Array, codes: Array, rule: str, n_trees: int
) -> dict[str, Any]:
    """Return the attributes of a `MetricClassifier` that decide, for mapped rows `Z`.

    Those `known` have the classes `codes`, from 0 to k - 1. `F` are the features before learning,
    for a forest; None if it cannot use them.
    """
    Z = np.asarray(Z, dtype=np.float64)
    center = Z.mean(axis=0)
    away = Z - center
    scale = float(np.sqrt(np.mean(away**2))) or 1.0
    away = away / scale
    is_linear = rule in ("mean", "linear", "all")
    forest, share = None, 0.0
    if rule == "all" and F is not None and codes.max() > 0:
        forest = grow_forest(F[known], codes, n_trees=n_trees)
        share = prior_share(F.shape[1])
    coef, intercept = _logistic_regression(away[known], codes) if is_linear else (None, None)
    return {
        "points_": away[known],
        "codes_": codes,
        "center_": center,
        "scale_": scale,
        "width_": _width(away, known, codes),
        "linear_coef_": coef,
        "linear_intercept_": intercept,
        "forest_": forest,
        "forest_share_": share,
    }


def class_probabilities(model: Any, Z: Array, F: Array | None) -> Array:
    """Return the probability of each class for each row that a `MetricClassifier` has mapped.

    `F` are the features of the rows before learning, for the forest, if there is one.
    """
    away = (np.asarray(Z, dtype=np.float64) - model.center_) / model.scale_
    if model.rule == "linear":
        return _linear(model, away)
    votes = _votes(model, away)
    if model.rule in ("vote", "nearest"):
        return votes
    shares: Array = (votes + _linear(model, away)) / 2.0
    if F is not None and model.forest_:
        shares += model.forest_share_ * (class_shares(model.forest_, F) - shares)
    return shares


def _linear(model: Any, away: Array) -> Array:
    return np.asarray(softmax(away @ model.linear_coef_.T + model.linear_intercept_, axis=1))


def _votes(model: Any, away: Array) -> Array:
    """Return the share of each class in the votes of all labeled rows, or of the nearest."""
    codes = model.codes_
    classes = np.eye(int(codes.max()) + 1)
    shares: Array = np.empty((len(away), len(classes)))
    for rows in gen_batches(len(away), max(1, _AT_ONCE // len(codes))):
        d2 = euclidean_distances(away[rows], model.points_, squared=True)
        if model.rule == "nearest":
            shares[rows] = classes[codes[d2.argmin(axis=1)]]
        else:
            shares[rows] = _shares(d2, classes[codes], model.width_)
    return shares


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
    labeled, free = Z[known], Z[~known]
    rows = free if len(free) else labeled
    nearby = NearestNeighbors(n_neighbors=min(len(labeled), 1 if len(free) else 2)).fit(labeled)
    nearest = nearby.kneighbors(rows[spaced(len(rows), _ROWS)])[0][:, -1] ** 2
    nearest = nearest[nearest > 0.0]
    typical = float(np.median(nearest)) if len(nearest) else 1.0
    members = np.eye(int(codes.max()) + 1)[codes]
    gains = np.zeros(len(WIDTHS))
    if len(labeled) > 1:
        places = np.arange(len(labeled))[spaced(len(labeled), _LABELED)]
        d2 = euclidean_distances(labeled[places], labeled, squared=True)
        d2[np.arange(len(places)), places] = np.inf  # a row does not vote for itself
        is_class = members[places].astype(bool)
        gains += [np.log(_shares(d2, members, w * typical)[is_class]).sum() for w in WIDTHS]
    best = np.argmax(gains >= gains.max() - 1e-9)  # rounding must not choose
    return WIDTHS[int(best)] * typical
