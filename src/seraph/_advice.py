"""Warnings about the data and the result of a fit, each with a remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._marks import PairLabels
from ._points import Frame
from ._solvers import SCALES, SOLVERS, Result
from ._utils._warnings import warn

# Warn if the standard deviations of two features differ by more than this factor, or if one
# exceeds _ABOVE_MEDIAN times the (lower) median of all. On eight tables with factors spread from 1
# to R over the features, so that the largest is sqrt(R) times the median, the nearest-neighbor
# error rose from 19.6 % (R = 1) to 21.8, 23.4, 24.4 and 28.5 % (R = 10, 30, 100, 1000). The median
# spares pixels, some of which hardly vary.
_SCALES_APART = 1e3
_ABOVE_MEDIAN = 10.0
# Below this share of its mean, or of the median, a standard deviation is that of a constant with
# rounding errors, as embeddings have: it says nothing of units, and scaling would raise the noise.
_STEADY = 1e-6
# Correlations below this are zero up to rounding. (Of n independent points of uncorrelated
# features, they are about 1 / sqrt(n).)
_UNCORRELATED = 1e-5
# Rows whose mean squared length is one within this (rounded to float32) have been normalized.
_UNIT_LENGTH = 1e-5
# Without a prior, kappa is taken to diverge below minus this: at -1e3, probabilities of pairs are
# 0 or 1 unless a squared distance is within 0.01 of the threshold.
_STEEP = 1e3


def warn_of_labels(labels: PairLabels) -> None:
    """Warn if all labeled pairs are of one kind."""
    if labels.dissimilar_weight == 0.0:
        warn(
            f"All {labels.n_similar} labeled pairs are similar: nothing keeps points apart, "
            "and the metric may collapse to zero. Add labels of another class, or "
            "dissimilar pairs."
        )
    if labels.similar_weight == 0.0:
        warn(
            f"All {labels.n_dissimilar} labeled pairs are dissimilar: nothing keeps points "
            "together, and the metric may diverge as far as lam allows. Add a second label of "
            "some class, or similar pairs."
        )


def warn_of_scales(frame: Frame, names: Any = None) -> None:
    """Warn if the features' standard deviations differ widely.

    Not if rows have unit length, as those of embeddings should, or features are principal
    components.

    The message has the `names` of the features, or else their numbers.
    """
    scales = frame.std
    if abs(np.vdot(scales, scales) + np.vdot(frame.mean, frame.mean) - 1.0) < _UNIT_LENGTH:
        return
    varying = np.flatnonzero(scales > 1e-12 * scales.max(initial=0.0))
    if len(varying) == 0:
        return
    middle = np.sort(scales[varying])[(len(varying) - 1) // 2]
    steady = scales < _STEADY * np.maximum(np.abs(frame.mean), middle)
    telling = varying[~steady[varying]]
    if len(telling) == 0:
        return
    narrow = telling[np.argmin(scales[telling])]
    wide = varying[np.argmax(scales[varying])]
    low, high = scales[narrow], scales[wide]
    if high / _SCALES_APART <= low and high / _ABOVE_MEDIAN <= middle:
        return
    # Principal components are uncorrelated. Scaled to unit variance, the last ones, mostly noise,
    # would count as much as the first.
    if frame.basis is None:
        correlations = frame.covariance[wide] * frame.unit**2 / np.maximum(scales, 1e-300) / high
        if np.median(np.abs(correlations[varying[varying != wide]])) < _UNCORRELATED:
            return
    first, last = (f"column {k}" if names is None else repr(names[k]) for k in (narrow, wide))
    warn(
        f"The standard deviations of the features range from {low:.3g} ({first}) to "
        f"{high:.3g} ({last}): the largest will dominate the metric. Scale columns of a table "
        "with sklearn.preprocessing.StandardScaler, and rows of an embedding to unit length with "
        "Normalizer."
    )


def warn_of_fit(learner: Any, result: Result, attributes: dict[str, Any]) -> None:
    """Warn of a metric of rank zero, and of a fit that has not converged."""
    lam, manifold = attributes["lam_"], float(learner.manifold)
    if attributes["kappa_"] == 0.0:
        warn(
            f"The full model is best at kappa = 0: with gamma={learner.gamma:g} and this lam, no "
            "metric gains more than it costs, and every pair is as likely similar as not "
            "(p = 1/2). The learned metric is zero. Lower gamma or lam, or set gamma=None; or "
            "give features that vary, if all points are equal."
        )
    elif len(result.P) == 0 and (result.converged or result.stopped):
        warn_of_rank_zero(lam=lam, manifold=manifold, chosen=learner.lam == "auto")
    trouble = None if result.stopped else _explain_no_convergence(learner, result, attributes)
    if trouble is not None:
        warn(trouble, ConvergenceWarning)


def warn_of_rank_zero(*, lam: float, manifold: float, chosen: bool) -> None:
    """Warn that the learned metric is zero; a `lam` `chosen` from the data is not to blame."""
    weights = [("manifold", manifold)] if chosen else [("lam", lam), ("manifold", manifold)]
    blamed = " or ".join(name for name, value in weights if value > 0.0)
    cause = "the labels have little to do with the features"
    remedy = "Check whether a class means unknown"
    if blamed:
        cause, remedy = f"{blamed} is too large for these labels", f"Lower {blamed}"
    warn(
        f"The learned metric is zero (rank 0): every distance is 0. Either {cause}, or all points "
        f"are equal. {remedy}, add dissimilar pairs, or give features that vary."
    )


def _explain_no_convergence(
    learner: Any, result: Result, attributes: dict[str, Any]
) -> str | None:
    """Explain why a fit has not converged, or may not have, with a remedy; None if it has."""
    name, kappa = type(learner).__name__, attributes["kappa_"]
    iterations = f"{len(result.steps)} iterations, optimality gap {result.gap:.1e}"
    lowest, highest = SCALES
    if (
        attributes["lam_"] == 0.0
        and learner.lam != "auto"
        and not SOLVERS[learner.solver].by_steps
    ):
        ending = "converged nevertheless" if result.converged else "has not converged"
        return (
            "With lam=0 the objective may have no maximum: pairs that can be separated "
            f"drive the metric to infinity. The solver {ending} ({iterations}). Set "
            'lam > 0 or lam="auto"; or solver="projected-gradient", whose 200 steps are '
            "what the paper reports for lam=0."
        )
    if not result.converged and result.stalled:
        return (
            f"{name} has not converged to tol={learner.tol:g} ({iterations}): rounding "
            "errors hide what is left to gain, and more iterations do not help. Raise tol, or "
            "pass X in float64 if it is not."
        )
    at_bound = learner.gamma is not None and not lowest < -kappa < highest
    is_steep = learner.gamma == 0.0 and (not result.converged or kappa < -_STEEP)
    if is_steep or (at_bound and not result.converged):
        return (
            f"The search for kappa stopped at {kappa:.3g} ({iterations}): the full model may have "
            "no maximum with this gamma, as with gamma=0 if pairs can be separated. Raise gamma "
            "and scale the features, or set gamma=None."
        )
    if result.converged:
        return None
    return f"{name} has not converged ({iterations}). Raise max_iter, or tol, or lam."
