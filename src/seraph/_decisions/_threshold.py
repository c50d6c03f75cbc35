"""Choose the distance at which to decide, and say what it reaches on other pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import default_rng

from .._utils._typing import Array
from ._held_out import HeldOut, effective_number

STRATEGIES = ("accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate")
WITH_TARGET = STRATEGIES[2:]
_REPLICATES = 400
_LEVEL = 0.95
_NORMAL_QUANTILE = 1.959963985  # of that level

Interval = tuple[float, float, float]


def choose_threshold(
    distances: Array, similar: Array, weights: Array, strategy: str, target: float | None
) -> float:
    """Return the distance up to which pairs are called similar.

    Parameters
    ----------
    distances, similar, weights : ndarray of shape (k,)
        Distances of pairs of both kinds, which of them are similar, and their weights.
    strategy : str
        What to reach: see `PairClassifier`.
    target : float or None
        The precision, recall or false-accept rate to reach.

    Returns
    -------
    float
        Threshold, half-way between two distances.

    Examples
    --------
    >>> d, similar = np.array([1.0, 2.0, 4.0]), np.array([True, True, False])
    >>> choose_threshold(d, similar, np.ones(3), "accuracy", None)
    3.0
    """
    values, place = np.unique(distances, return_inverse=True)
    by_kind = [
        np.append(0.0, np.cumsum(np.bincount(place, weights * kind, minlength=len(values))))
        for kind in (similar, ~similar)
    ]
    hits, false_hits = by_kind
    recall, accepts = hits / hits[-1], false_hits / false_hits[-1]
    with np.errstate(invalid="ignore"):
        precision = hits / (hits + false_hits)
    if strategy == "accuracy":
        at = int(np.argmax(hits - false_hits))
    elif strategy == "equal_error_rate":
        at = int(np.argmin(np.abs(accepts - (1.0 - recall))))
    elif strategy == "recall":
        at = int(np.flatnonzero(recall >= _just_below(target))[0])
    elif strategy == "false_accept_rate":
        at = int(np.flatnonzero(accepts <= float(target or 0.0) + 1e-12)[-1])
    else:
        reached = np.flatnonzero(precision >= _just_below(target))
        if len(reached) == 0:
            raise ValueError(
                f"No threshold reaches a precision of {target:g} on these pairs; the best has "
                f"{np.nanmax(precision):.3f}. Lower target, or mark more pairs."
            )
        at = int(reached[-1])
    ends = np.concatenate([[-values[0]], values, [values[-1]]])
    return float(0.5 * (ends[at] + ends[at + 1])) if at else float(values[0] / 2 or -1e-300)


def _just_below(target: float | None) -> float:
    return float(target or 0.0) - 1e-12


def judged(
    held: HeldOut, threshold: float, strategy: str, target: float | None, base_rate: float | None
) -> dict[str, Any]:
    """Say what thresholds chosen this way reach on pairs of other points.

    For each fold the threshold is chosen on the others, so no pair is judged by a threshold that
    it helped to choose. The intervals come from a bootstrap of the points, since pairs that share
    a point are not independent; they are no narrower than Wilson's for independent pairs.
    """
    accepted = np.zeros(len(held.distances), dtype=bool)
    for number in np.unique(held.fold):
        inside = held.fold == number
        other = held.only(~inside)
        chosen = threshold
        if other.has_both_kinds:
            try:
                chosen = choose_threshold(
                    other.distances, other.similar, other.weights(base_rate), strategy, target
                )
            except ValueError:  # the others alone do not reach the target
                chosen = threshold
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
    sizes = {
        "recall": effective_number(held.counts[held.similar]),
        "false_accept_rate": effective_number(held.counts[~held.similar]),
        "precision": effective_number(held.counts[accepted]),
        "accuracy": effective_number(held.counts),
    }
    return {
        "n_similar": int(held.similar.sum()),
        "n_dissimilar": int((~held.similar).sum()),
        "base_rate": base,
        **{
            name: _interval(value, np.array([r[name] for r in replicates]), sizes[name])
            for name, value in values.items()
        },
    }


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


def _interval(value: float, replicates: Array, n: float) -> Interval:
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
