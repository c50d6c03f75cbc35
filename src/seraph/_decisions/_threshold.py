"""Choose the distance at which to decide, and estimate its rates on other pairs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.random import default_rng

from .._marks import effective_size
from .._utils._typing import Array
from ._calibrate import fit_log_odds
from ._held_out import HeldOut

STRATEGIES = ("accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate")
WITH_TARGET = STRATEGIES[2:]
# Replicates of the bootstrap: the ends of a 95 % interval then rest on ten replicates each.
_REPLICATES = 400
_LEVEL = 0.95
_NORMAL_QUANTILE = 1.959963985  # of that level
# A rate that differs from its target by less than this reaches it: sums of weights are rounded.
_ROUNDING = 1e-12

Interval = tuple[float, float, float]


def choose_threshold(
    distances: Array,
    similar: Array,
    weights: Array | None = None,
    strategy: str = "accuracy",
    target: float | None = None,
    *,
    beta: float = 1.0,
    between: bool = True,
) -> float:
    """Return the distance up to which pairs are called similar.

    Parameters
    ----------
    distances, similar : ndarray of shape (k,)
        Distances of pairs, and which of them are similar.
    weights : ndarray of shape (k,), optional
        Weights of the pairs; 1 by default.
    strategy : str, default="accuracy"
        The goal: see `PairClassifier`. Also "f_beta", the F-score; "max_tpr", the largest
        recall with a specificity of at least `target`; and "max_tnr", the largest specificity
        with a recall of at least `target`.
    target : float, optional
        The precision, recall, specificity or false-accept rate to reach.
    beta : float, default=1.0
        Weight of recall in "f_beta".
    between : bool, default=True
        Whether the threshold is half-way between two distances, or equal to one of them.

    Returns
    -------
    float
        The threshold; the smallest one of equals, but for a false-accept rate or a precision the
        largest.

    Examples
    --------
    >>> d, similar = np.array([1.0, 2.0, 4.0]), np.array([True, True, False])
    >>> choose_threshold(d, similar), choose_threshold(d, similar, between=False)
    (3.0, 2.0)
    """
    values, place = np.unique(distances, return_inverse=True)
    weights = np.ones(len(distances)) if weights is None else weights
    hits, false_hits = (
        np.append(0.0, np.cumsum(np.bincount(place, weights * kind, minlength=len(values))))
        for kind in (similar, ~similar)
    )
    at = _cut(hits, false_hits, strategy, float(target or 0.0), beta)
    if not between:
        return float(values[at - 1] if at else values[0] - 1.0)
    if at == 0:
        return float(values[0] / 2 or -1e-300)
    return float(0.5 * (values[at - 1] + values[min(at, len(values) - 1)]))


def _cut(hits: Array, false_hits: Array, strategy: str, target: float, beta: float) -> int:
    """Return how many of the distinct distances to call similar, the smallest first.

    `hits` and `false_hits` are the weights of the similar and the dissimilar pairs among them.
    """
    recall = hits / (hits[-1] or 1.0)
    accepts = false_hits / (false_hits[-1] or 1.0)
    if strategy == "accuracy":
        return int(np.argmax(hits - false_hits))
    if strategy == "f_beta":
        total = beta**2 * hits[-1] + hits + false_hits
        f = np.divide((1.0 + beta**2) * hits, total, out=np.zeros(len(hits)), where=total > 0)
        return int(np.argmax(f))
    if strategy == "equal_error_rate":
        return int(np.argmin(np.abs(accepts - (1.0 - recall))))
    if strategy in ("recall", "max_tnr"):  # the first cut has the largest specificity
        return int(np.argmax(recall >= target - _ROUNDING))
    if strategy == "max_tpr":
        return int(np.argmax(np.where(accepts <= 1.0 - target + _ROUNDING, recall, -1.0)))
    if strategy == "false_accept_rate":
        return int(np.flatnonzero(accepts <= target + _ROUNDING)[-1])
    with np.errstate(invalid="ignore"):
        precision = hits / (hits + false_hits)
    reached = np.flatnonzero(precision >= target - _ROUNDING)
    if len(reached) == 0:
        raise ValueError(
            f"No threshold reaches a precision of {target:g} on these pairs; the best has "
            f"{np.nanmax(precision):.3f}. Lower target, or mark more pairs."
        )
    return int(reached[-1])


def decision_threshold(
    held: HeldOut, strategy: str, target: float | None, base_rate: float | None
) -> float:
    """Return the distance up to which a `PairClassifier` calls pairs similar.

    For accuracy it is where both kinds are equally probable by the calibrated log-odds. A line
    through all pairs is steadier than the best cut between two of them. (Where the distance says
    nothing, there is no such place.)
    """
    weights = held.weights(base_rate)
    if strategy == "accuracy":
        slope, intercept = fit_log_odds(held, weights)
        if slope < 0.0:
            return -intercept / slope
    return choose_threshold(held.distances, held.similar, weights, strategy, target)


def judge_threshold(
    held: HeldOut, threshold: float, strategy: str, target: float | None, base_rate: float | None
) -> dict[str, Any]:
    """Estimate the rates of thresholds chosen this way on pairs of other points.

    For each fold the threshold is chosen on the others, so no pair is judged by a threshold that
    it helped to choose. The intervals come from a bootstrap of the points, since pairs that share
    a point are not independent; they are no narrower than Wilson's for as many independent pairs
    as there are points. (If no pair is wrong, all replicates are equal.)
    """
    accepted = np.zeros(len(held.distances), dtype=bool)
    for inside, other in held.by_fold():
        chosen = threshold
        if other.has_both_kinds:
            with suppress(ValueError):  # the others alone do not reach the target
                chosen = decision_threshold(other, strategy, target, base_rate)
        accepted[inside] = held.distances[inside] <= chosen
    base = held.share(base_rate)
    points, place = np.unique(held.rows, return_inverse=True)
    place = place.reshape(-1, 2)
    rng = default_rng(0)
    n = len(points)
    replicates = []
    for _ in range(_REPLICATES):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        weights = held.counts * times[place].prod(axis=1)
        replicates.append(_rates(accepted, held.similar, weights, base))
    values = _rates(accepted, held.similar, held.counts, base)
    judged_by = {
        "recall": held.similar,
        "false_accept_rate": ~held.similar,
        "precision": accepted,
        "accuracy": np.ones_like(accepted),
    }
    return {
        "n_similar": int(held.similar.sum()),
        "n_dissimilar": int((~held.similar).sum()),
        "base_rate": base,
        **{
            name: _find_interval(
                value,
                np.array([replicate[name] for replicate in replicates]),
                _count_independent(held.only(judged_by[name])),
            )
            for name, value in values.items()
        },
    }


def _count_independent(held: HeldOut) -> float:
    """Return the number of independent pairs that are at most as informative as these."""
    return max(1.0, min(effective_size(held.counts), len(np.unique(held.rows))))


def _rates(accepted: Array, similar: Array, weights: Array, base: float) -> dict[str, float]:
    with np.errstate(invalid="ignore", divide="ignore"):
        recall = (weights * (accepted & similar)).sum() / (weights * similar).sum()
        accepts = (weights * (accepted & ~similar)).sum() / (weights * ~similar).sum()
        hits, false_hits = base * recall, (1.0 - base) * accepts
        return {
            "accuracy": float(hits + (1.0 - base) - false_hits),
            "precision": float(hits / (hits + false_hits)),
            "recall": float(recall),
            "false_accept_rate": float(accepts),
        }


def _find_interval(value: float, replicates: Array, n: float) -> Interval:
    """Return the value with the ends of its 95 % interval."""
    if np.isnan(value):  # the precision of nothing
        return value, 0.0, 1.0
    known = replicates[~np.isnan(replicates)]
    low, high = (
        np.percentile(known, [50 * (1 - _LEVEL), 50 * (1 + _LEVEL)]) if len(known) else (0, 1)
    )
    z2 = _NORMAL_QUANTILE**2
    center = (value + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(value * (1 - value) * z2 / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    return (
        value,
        float(max(0.0, min(low, center - half))),
        float(min(1.0, max(high, center + half))),
    )
