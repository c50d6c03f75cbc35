r"""Choose the distance at which to decide, calibrate probabilities, and judge both out of fold.

A learned distance and a forest of pairs are weighed by pairs whose points neither has seen. With
the learned distance d of a pair and the odds o, by the forest, that it is similar,

.. math:: D = d\, o^{-\kappa}, \qquad \kappa = w_o / w_d,

where the weights are those of a logistic regression on :math:`-\ln d` and :math:`\ln o`, both with
a variance of one, that is drawn towards prior weights :math:`w^0`:

.. math:: \min_{w_d \ge \epsilon,\; w_o \ge 0,\; b}\;
          \sum_k c_k \ln\big(1 + e^{-s_k (w \cdot v_k + b)}\big) + \tfrac{\rho}{2} \|w - w^0\|^2,
          \qquad w^0 = (1 - q, q).

:math:`s_k` is 1 for similar pairs and -1 for others; both kinds count alike. A few pairs cannot
tell the weights. By the prior share q (`prior_share`), the forest then has nearly half of the say
on a table of few features, and hardly any on an embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from .._forest import prior_share
from .._marks import effective_size
from .._utils._typing import Array, Interval
from .._utils._warnings import warn
from ._held_out import HeldOut

STRATEGIES = ("accuracy", "equal_error_rate", "precision", "recall", "false_accept_rate")
WITH_TARGET = STRATEGIES[2:]
# Replicates of the bootstrap: the ends of a 95 % interval then rest on ten replicates each.
_REPLICATES = 400
# Inverse strength of the penalty: small enough to change nothing but a singular problem.
_HARDLY_ANY_PENALTY = 1e6
# Largest logarithm of a distance: its exponential is finite.
_LARGEST = 700.0
# A rate that differs from its target by less than this reaches it: sums of weights are rounded.
_ROUNDING = 1e-12
# Strength of the prior, rho: chosen on the sets for choosing.
_RIDGE = 20.0
# Least weight of the distance: identical points must be alike.
_LEAST = 0.05
# Distances below this share of the root mean square count as this share.
_FLOOR = 0.01


class Aim(NamedTuple):
    """What a decision is chosen for: parameters of `PairClassifier`."""

    strategy: str = "accuracy"
    target: float | None = None
    base_rate: float | None = None
    n_features: int = 0  # of the forest, where pairs have its log-odds as a second feature


def weigh_forest(held: HeldOut, n_features: int) -> tuple[float, float, float]:
    """Weigh distances and log-odds, the two columns of features; `n_features` sets the prior.

    Returns the power kappa, the least distance, as which smaller ones count, and the share of the
    forest, ``w_o / (w_d + w_o)``.
    """
    d, odds = held.features.T
    floor = _FLOOR * float(np.sqrt(np.mean(d**2)))
    V = np.column_stack([-np.log(np.maximum(d, floor or 1.0)), odds])
    unit = V.std(axis=0)
    unit[unit == 0.0] = 1.0
    share = prior_share(n_features)
    w = fit_weights((V - V.mean(axis=0)) / unit, held, np.array([1.0 - share, share]))
    return float(w[1] / unit[1] / (w[0] / unit[0])), floor, float(w[1] / w.sum())


def fit_weights(V: Array, held: HeldOut, prior: Array) -> Array:
    """Return the weights w of the columns of V, as above."""
    similar = held.similar
    n = effective_size(held.counts)
    kinds = [held.counts[similar].sum(), held.counts[~similar].sum()]
    c = n / 2.0 * held.counts / np.where(similar, *kinds)
    s = np.where(similar, 1.0, -1.0)

    def objective(x: Array) -> tuple[float, Array]:
        margins, away = s * (V @ x[:2] + x[2]), x[:2] - prior
        slopes = -c * s * expit(-margins)
        value = c @ np.logaddexp(0.0, -margins) + 0.5 * _RIDGE * away @ away
        return value, np.append(slopes @ V + _RIDGE * away, slopes.sum())

    bounds = [(_LEAST, None), (0.0, None), (None, None)]
    found = minimize(objective, np.append(prior, 0.0), jac=True, bounds=bounds, tol=1e-9)
    return np.asarray(found.x[:2])


@dataclass(frozen=True)
class Decision:
    """Decide about pairs by their features: at most `threshold` apart are alike.

    The log-odds that two points at distance d are alike are ``intercept + slope * d``. Where
    features have a second column, the log-odds of a forest, d is a logarithm: of the distance, at
    least `floor`, over the odds to the `power`.
    """

    threshold: float
    slope: float
    intercept: float
    power: float = 0.0
    floor: float = 0.0
    share: float = 0.0  # of the forest

    @classmethod
    def choose(cls, held: HeldOut, aim: Aim, otherwise: float | None = None) -> Decision:
        """Choose the threshold and the log-odds that are best on held-out pairs.

        For accuracy the threshold is where both kinds are equally probable by the calibrated
        log-odds, so that decisions and probabilities agree. (A line through all pairs is also
        steadier than the best cut between two of them.) It is at least 0, since identical points
        are alike, and infinite if all distances have the same probability.

        If these pairs reach no target, the threshold is `otherwise`, or a ValueError says so.
        """
        has_forest = held.features.shape[1] > 1
        weighed = weigh_forest(held, aim.n_features) if has_forest else (0.0, 0.0, 0.0)
        blank = cls(np.inf, 0.0, 0.0, *weighed)
        slope, intercept = fit_log_odds(blank._scores(held.features), held, aim.base_rate)
        if aim.strategy == "accuracy":
            even = np.inf if intercept >= 0.0 else -np.inf
            if slope < 0.0:
                even = -intercept / slope
                even = float(np.exp(min(even, _LARGEST))) if has_forest else max(0.0, even)
            return cls(even, slope, intercept, *weighed)
        random = held.as_random()
        d, weights = blank.distances(random.features), random.weights(aim.base_rate)
        try:
            threshold = choose_threshold(d, random.similar, weights, aim)
        except ValueError:
            if otherwise is None:
                raise
            threshold = otherwise
        return cls(threshold, slope, intercept, *weighed)

    def _scores(self, features: Array) -> Array:
        """Return the d of each pair."""
        if features.shape[1] == 1:
            return np.asarray(features[:, 0])
        d, odds = features.T
        return np.asarray(np.log(np.maximum(d, self.floor or 1.0)) - self.power * odds)

    def distances(self, features: Array) -> Array:
        """Return the one number of each pair that the threshold goes by; 0 where points agree."""
        d = self._scores(features)
        return d if features.shape[1] == 1 else np.where(features[:, 0] == 0.0, 0.0, np.exp(d))

    def accepts(self, features: Array) -> Array:
        """Return which pairs are called alike."""
        return self.distances(features) <= self.threshold

    def probabilities(self, features: Array) -> Array:
        """Return the probabilities that pairs are alike; at least 0.5 for identical points."""
        p = expit(self.intercept + self.slope * self._scores(features))
        return np.where((features[:, 0] == 0.0) & (self.slope < 0.0), np.maximum(p, 0.5), p)


def choose_threshold(distances: Array, similar: Array, weights: Array, aim: Aim) -> float:
    """Choose the distance up to which to call pairs similar, half-way between two of them.

    It is the smallest of equals, but for a false-accept rate or a precision the largest.
    """
    values, place = np.unique(distances, return_inverse=True)
    # Of each cut between two distances: the weights of the pairs that it calls similar.
    hits, false_hits = (
        np.append(0.0, np.cumsum(np.bincount(place, weights * kind, minlength=len(values))))
        for kind in (similar, ~similar)
    )
    at = _cut(hits, false_hits, aim)
    if at == 0:
        return float(values[0] / 2 or -1e-300)
    return float(0.5 * (values[at - 1] + values[min(at, len(values) - 1)]))


def _cut(hits: Array, false_hits: Array, aim: Aim) -> int:
    """Return how many of the distinct distances to call similar, the smallest first."""
    target = aim.target or 0.0
    recall = hits / (hits[-1] or 1.0)
    accepts = false_hits / (false_hits[-1] or 1.0)
    if aim.strategy == "equal_error_rate":
        return int(np.argmin(np.abs(accepts - (1.0 - recall))))
    if aim.strategy == "recall":
        return int(np.argmax(recall >= target - _ROUNDING))
    if aim.strategy == "false_accept_rate":
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


def fit_log_odds(d: Array, held: HeldOut, base_rate: float | None) -> tuple[float, float]:
    """Return the slope, at most 0, and the intercept of log-odds by distance (Platt scaling).

    Labels are softened to ``(N + 1) / (N + 2)``, so that separable pairs give no certainty. A
    base rate other than the share of similar pairs shifts the intercept by the ratio of the odds.
    """
    n_similar, n_dissimilar = (
        max(1.0, effective_size(held.counts[kind])) for kind in (held.similar, ~held.similar)
    )
    soft = np.where(held.similar, (n_similar + 1) / (n_similar + 2), 1 / (n_dissimilar + 2))
    weights = held.counts / held.counts.mean()
    scale = float(np.sqrt(np.mean(d**2))) or 1.0
    model = LogisticRegression(C=_HARDLY_ANY_PENALTY, max_iter=1000).fit(
        np.tile(d, 2)[:, np.newaxis] / scale,
        np.repeat([1, 0], len(d)),  # a soft label is two labels with weights
        sample_weight=np.concatenate([weights * soft, weights * (1 - soft)]),
    )
    slope, intercept = float(model.coef_[0, 0]) / scale, float(model.intercept_[0])
    if slope > 0.0:  # the distance is not better than chance
        slope, intercept = 0.0, float(logit(np.average(soft, weights=weights)))
    if base_rate is not None:  # Bayes: p / (1 - p) is the prior odds times what the distance says
        intercept += float(logit(base_rate) - logit(held.share))
    return slope, intercept


def warn_of_no_decision(held: HeldOut, decision: Decision) -> None:
    """Warn if the distance is no better than chance, or if only identical points are alike."""
    d = decision.distances(held.features)
    auc = roc_auc_score(held.similar, -d, sample_weight=held.counts)
    sizes = [_count_independent(held.only(kind)) for kind in (held.similar, ~held.similar)]
    # The standard error of an AUC of 0.5, and the normal quantile of a one-sided 5 %.
    if auc - 0.5 <= 1.645 * np.sqrt(sum(1.0 / n for n in sizes) / 12.0):
        p = float(expit(decision.intercept))
        same = "" if decision.slope else f" Every pair is alike with probability {p:.2g}."
        warn(
            "The learned distance does not tell similar pairs from dissimilar ones better than "
            f"chance would: their AUC is {auc:.2f} on held-out pairs.{same} Check the marks, mark "
            "more pairs, or add features that tell them apart."
        )
    elif decision.threshold <= 0.0:
        warn(
            "predict calls no pair alike but identical points: similar pairs are too rare for "
            "this distance. Pass a larger base_rate; or decide by "
            'strategy="precision" or "recall", with a target.'
        )


def judge(held: HeldOut, decision: Decision, aim: Aim) -> dict[str, Any]:
    """Estimate the rates and the Brier score of such a decision on pairs of other points.

    For each fold another one is chosen on the other folds, so no pair is judged by a choice that
    it helped to make; a target that these do not reach leaves the threshold of `decision`. The
    intervals come from a bootstrap of the points, since pairs that share a point are not
    independent; they are no narrower than Wilson's for as many independent pairs as there are
    points. (If no pair is wrong, all replicates are equal.)
    """
    # Pairs of screens judge as the random pairs that they represent; all help to choose.
    every, held = held, held.as_random()
    accepted, p = np.zeros(len(held.similar), dtype=bool), np.empty(len(held.similar))
    for fold in np.unique(held.fold):
        inside = held.fold == fold
        others = every.only(every.fold != fold)
        judges = others if set(others.similar) == {True, False} else every
        chosen = Decision.choose(judges, aim, decision.threshold)
        accepted[inside] = chosen.accepts(held.features[inside])
        p[inside] = chosen.probabilities(held.features[inside])
    base = held.share if aim.base_rate is None else aim.base_rate
    brier = np.average((p - held.similar) ** 2, weights=held.weights(aim.base_rate))
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
        "brier_score": float(brier),
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
    # Wilson's interval: all rates p with (value - p)^2 <= z^2 p (1 - p) / n, for the normal
    # quantile z. It has a width also where no pair is wrong.
    z2 = 1.959963985**2
    center = (value + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(value * (1 - value) * z2 / n + (z2 / (2 * n)) ** 2) / (1 + z2 / n)
    low, high = max(0.0, min(low, center - half)), min(1.0, max(high, center + half))
    return value, float(low), float(high)
