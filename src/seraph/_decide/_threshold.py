"""Choose the distance at which to decide, calibrate probabilities, and judge both out of fold."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from .._marks import effective_size
from .._utils._threshold import choose_threshold
from .._utils._typing import Array, Interval
from ..metrics import expected_calibration_error
from ._held_out import HeldOut

STRATEGIES = ("accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate")
WITH_TARGET = STRATEGIES[2:]
# Replicates of the bootstrap: the ends of a 95 % interval then rest on ten replicates each.
_REPLICATES = 400
_NORMAL_QUANTILE = 1.959963985
# Inverse strength of the penalty: small enough to change nothing but a singular problem.
_HARDLY_ANY_PENALTY = 1e6


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


def fit_log_odds(held: HeldOut, weights: Array) -> tuple[float, float]:
    """Return the slope, which is 0 or below, and the intercept of the log-odds (Platt scaling).

    Labels are softened to ``(N + 1) / (N + 2)``, so that separable pairs give no certainty.
    """
    n_similar, n_dissimilar = (
        max(1.0, effective_size(held.counts[kind])) for kind in (held.similar, ~held.similar)
    )
    soft = np.where(held.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_dissimilar + 2))
    scale = float(np.sqrt(np.mean(held.distances**2))) or 1.0
    d = np.tile(held.distances, 2)[:, np.newaxis] / scale
    both = np.repeat([1, 0], len(held.distances))  # a soft label is two labels with weights
    model = LogisticRegression(C=_HARDLY_ANY_PENALTY, max_iter=1000).fit(
        d, both, sample_weight=np.concatenate([weights * soft, weights * (1 - soft)])
    )
    slope, intercept = float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
    if slope > 0.0:  # the distance is no better than chance
        share = float(np.average(soft, weights=weights))
        slope, intercept = 0.0, float(np.log(share / (1 - share)))
    return slope, intercept


def probabilities(slope: float, intercept: float, distances: Array) -> Array:
    """Return the probabilities of distances."""
    return np.asarray(expit(intercept + slope * np.asarray(distances, dtype=np.float64)))


def judge_probabilities(held: HeldOut, base_rate: float | None) -> dict[str, float]:
    """Estimate Brier score and calibration error; each fold is judged by a fit to the others."""
    weights = held.weights(base_rate)
    p = np.empty(len(held.distances))
    for inside, others in held.by_fold():
        part = others if others.has_both_kinds else held
        line = fit_log_odds(part, weights if part is held else weights[~inside])
        p[inside] = probabilities(*line, held.distances[inside])
    return {
        "brier_score": float(np.average((p - held.similar) ** 2, weights=weights)),
        "calibration_error": expected_calibration_error(held.similar, p, weights=weights),
    }


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
    for inside, others in held.by_fold():
        chosen = threshold
        if others.has_both_kinds:
            with suppress(ValueError):  # the others alone do not reach the target
                chosen = decision_threshold(others, strategy, target, base_rate)
        accepted[inside] = held.distances[inside] <= chosen
    base = held.share(base_rate)
    points, place = np.unique(held.rows, return_inverse=True)
    place, rng, n = place.reshape(-1, 2), np.random.default_rng(0), len(points)
    replicates = []
    for _ in range(_REPLICATES):
        times = np.bincount(rng.integers(n, size=n), minlength=n)
        weights = held.counts * times[place].prod(axis=1)
        replicates.append(_rates(accepted, held.similar, weights, base))
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
            for name, value in _rates(accepted, held.similar, held.counts, base).items()
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
    low, high = np.percentile(known, [2.5, 97.5]) if len(known) else (0, 1)
    z2 = _NORMAL_QUANTILE**2
    center = (value + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(value * (1 - value) * z2 / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    low, high = max(0.0, min(low, center - half)), min(1.0, max(high, center + half))
    return value, float(low), float(high)
