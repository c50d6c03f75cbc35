"""Turn distances into probabilities that hold what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from .._typing import Array
from ..metrics import expected_calibration_error
from ._held_out import HeldOut, effective_number

METHODS = ("sigmoid", "isotonic")
# Inverse strength of the penalty: small enough to change nothing but a singular problem.
_HARDLY_ANY_PENALTY = 1e6


def calibrated(held: HeldOut, method: str, base_rate: float | None) -> dict[str, Any]:
    """Fit a map from distances to probabilities, and judge it on pairs of other points.

    "sigmoid" is Platt's: the log-odds are linear in the distance, and the labels are softened to
    ``(N + 1) / (N + 2)`` so that separable pairs do not give certainty. "isotonic" is any
    probability that falls with the distance.

    Returns
    -------
    dict
        The map, as plain numbers for `probabilities`, and its Brier score and expected
        calibration error: each fold is judged by a map fitted on the others.
    """
    weights = held.weights(base_rate)
    fitted = _fitted(held, weights, method)
    p = np.empty(len(held.distances))
    for number in np.unique(held.fold):
        inside = held.fold == number
        other = held.only(~inside)
        part = _fitted(other, weights[~inside], method) if other.has_both_kinds else fitted
        p[inside] = probabilities(part, held.distances[inside])
    return {
        **fitted,
        "base_rate": float(np.average(held.similar, weights=weights)),
        "n_similar": int(held.similar.sum()),
        "n_dissimilar": int((~held.similar).sum()),
        "brier_score": float(np.average((p - held.similar) ** 2, weights=weights)),
        "calibration_error": expected_calibration_error(held.similar, p, pair_weights=weights),
    }


def probabilities(fitted: dict[str, Any], distances: Array) -> Array:
    """Return the probabilities of distances."""
    if fitted["method"] == "sigmoid":
        return np.asarray(expit(fitted["intercept"] + fitted["slope"] * distances))
    return np.interp(distances, fitted["distances"], fitted["probabilities"])


def _fitted(held: HeldOut, weights: Array, method: str) -> dict[str, Any]:
    n_similar, n_dissimilar = (
        effective_number(held.counts[kind]) for kind in (held.similar, ~held.similar)
    )
    soft = np.where(held.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_dissimilar + 2))
    if method == "isotonic":
        least = 1 / (len(held.similar) + 2)
        fit = IsotonicRegression(y_min=least, y_max=1 - least, increasing=False).fit(
            held.distances, held.similar, sample_weight=weights
        )
        knots = np.asarray(fit.X_thresholds_), np.asarray(fit.y_thresholds_)
        return {"method": method, "distances": knots[0], "probabilities": knots[1]}
    scale = float(np.sqrt(np.mean(held.distances**2))) or 1.0
    d = np.concatenate([held.distances, held.distances])[:, np.newaxis] / scale
    both = np.repeat([1, 0], len(held.distances))  # a soft label is two labels with weights
    model = LogisticRegression(C=_HARDLY_ANY_PENALTY, max_iter=1000).fit(
        d, both, sample_weight=np.concatenate([weights * soft, weights * (1 - soft)])
    )
    slope, intercept = float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
    if slope > 0.0:  # farther would be more alike: the distance says nothing
        share = float(np.average(soft, weights=weights))
        slope, intercept = 0.0, float(np.log(share / (1 - share)))
    return {"method": method, "slope": slope, "intercept": intercept}
