"""Turn distances into calibrated probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from .._marks import effective_size
from .._utils._typing import Array
from ..metrics import expected_calibration_error
from ._held_out import HeldOut

# Inverse strength of the penalty: small enough to change nothing but a singular problem.
_HARDLY_ANY_PENALTY = 1e6


def calibrate(held: HeldOut, base_rate: float | None) -> dict[str, float]:
    """Fit a map from distances to probabilities, and judge it on pairs of other points.

    It is Platt's: the log-odds are linear in the distance, and the labels are softened to
    ``(N + 1) / (N + 2)`` so that separable pairs do not give certainty.

    Returns
    -------
    dict
        The "slope" and "intercept" of the log-odds; and the Brier score and the expected
        calibration error, where each fold is judged by a map fitted on the others.
    """
    weights = held.weights(base_rate)
    slope, intercept = fit_log_odds(held, weights)
    p = np.empty(len(held.distances))
    for inside, other in held.by_fold():
        part = (
            fit_log_odds(other, weights[~inside]) if other.has_both_kinds else (slope, intercept)
        )
        p[inside] = probabilities(*part, held.distances[inside])
    return {
        "slope": slope,
        "intercept": intercept,
        "brier_score": float(np.average((p - held.similar) ** 2, weights=weights)),
        "calibration_error": expected_calibration_error(held.similar, p, weights=weights),
    }


def probabilities(slope: float, intercept: float, distances: Array) -> Array:
    """Return the probabilities of distances."""
    return np.asarray(expit(intercept + slope * np.asarray(distances, dtype=np.float64)))


def fit_log_odds(held: HeldOut, weights: Array) -> tuple[float, float]:
    """Return the slope, which is 0 or below, and the intercept of the log-odds."""
    n_similar, n_dissimilar = (
        max(1.0, effective_size(held.counts[kind])) for kind in (held.similar, ~held.similar)
    )
    soft = np.where(held.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_dissimilar + 2))
    scale = float(np.sqrt(np.mean(held.distances**2))) or 1.0
    d = np.concatenate([held.distances, held.distances])[:, np.newaxis] / scale
    both = np.repeat([1, 0], len(held.distances))  # a soft label is two labels with weights
    model = LogisticRegression(C=_HARDLY_ANY_PENALTY, max_iter=1000).fit(
        d, both, sample_weight=np.concatenate([weights * soft, weights * (1 - soft)])
    )
    slope, intercept = float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
    if slope > 0.0:  # the distance is no better than chance
        share = float(np.average(soft, weights=weights))
        slope, intercept = 0.0, float(np.log(share / (1 - share)))
    return slope, intercept
