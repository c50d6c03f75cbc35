"""Choose the distance at which to decide, and estimate its rates on other pairs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.random import default_rng

from .._marks import effective_size
from .._utils._threshold import choose_threshold
from .._utils._typing import Array, Interval
from ._calibrate import fit_log_odds
from ._held_out import HeldOut

STRATEGIES = ("accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate")
WITH_TARGET = STRATEGIES[2:]
# Replicates of the bootstrap: the ends of a 95 % interval then rest on ten replicates each.
_REPLICATES = 400
_LEVEL = 0.95
_NORMAL_QUANTILE = 1.959963985  # of that level


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
