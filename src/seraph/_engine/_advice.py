"""Warnings about the data and the result, each with a remedy."""

from __future__ import annotations

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._marks import PairLabels
from .._solvers import SCALES
from .._utils._warnings import warn
from ._learn import Fit
from ._settings import Settings

# Above this mu, the rounding errors of a float32 sum of entropies (a relative 1e-7) can exceed the
# terms of the labels.
_LARGE_MU = 1e6
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


def warn_of_rank_zero(*, lam: float, manifold: float, shrunk: bool, chosen: bool = False) -> None:
    """Warn that the learned metric is zero: only a shrinkage target is left.

    A `lam` that was chosen from the data is not to blame.
    """
    blamed = (("lam", 0.0 if chosen else lam), ("manifold", manifold))
    weights = " or ".join(name for name, value in blamed if value > 0.0)
    cause, remedy = "the labels ask for a collapse", "Add dissimilar pairs"
    if weights:
        cause = f"{weights} is too large for these labels, or {cause}"
        remedy = f"Lower {weights}, add dissimilar pairs"
    elif chosen:
        cause = "the labels have little to do with the features, or nearly all say similar"
        remedy = "Check whether a class means unknown, add labels and dissimilar pairs"
    effect = "only the metric that it shrinks toward is left" if shrunk else "every distance is 0"
    warn(
        f"The learned metric is zero (rank 0): {effect}. Either {cause}, or all points are equal. "
        f"{remedy}, or give features that vary."
    )


def warn_of_fit(fit: Fit, settings: Settings, *, shrunk: bool) -> None:
    """Warn of a metric of rank zero, and of a fit that has not converged.

    `shrunk` says that there is a shrinkage target, which remains if the learned metric is zero.
    """
    if fit.kappa == 0.0:
        warn(
            f"The full model is best at kappa = 0: with gamma={settings.gamma:g} and this lam, no "
            "metric gains more than it costs, and every pair is as likely similar as not "
            "(p = 1/2). The learned metric is zero. Lower gamma or lam, or set gamma=None; or "
            "give features that vary, if all points are equal."
        )
    elif len(fit.averaged) == 0 and (fit.converged or fit.stopped):
        warn_of_rank_zero(
            lam=fit.lam,
            manifold=settings.manifold,
            shrunk=shrunk,
            chosen=settings.lam == "auto",
        )
    trouble = None if fit.stopped else _explain_no_convergence(fit, settings)
    if trouble is not None:
        warn(trouble, ConvergenceWarning)


def _explain_no_convergence(fit: Fit, settings: Settings) -> str | None:
    """Explain why a fit has not converged, or may not have, with a remedy; None if it has."""
    n_steps = len(fit.history["step"])
    iterations = f"{n_steps} iterations, optimality gap {fit.optimality_gap:.1e}"
    lowest, highest = SCALES
    if fit.lam == 0.0 and settings.lam != "auto" and not settings.method.by_steps:
        ending = "converged nevertheless" if fit.converged else "has not converged"
        return (
            "With lam=0 the objective may have no maximum: pairs that can be separated "
            f"drive the metric to infinity. The solver {ending} ({iterations}). Set "
            'lam > 0 or lam="auto"; or solver="projected-gradient", whose 200 steps are '
            "what the paper reports for lam=0."
        )
    if not fit.converged and fit.stalled:
        is_single = fit.components.dtype == np.float32
        remedy = "Pass X in float64, which goes further, or raise" if is_single else "Raise"
        if fit.mu > _LARGE_MU:
            lower = f", or lower mu={fit.mu:g}, beside which the labels hardly count"
        else:
            lower = ""
        return (
            f"{settings.name} has not converged to tol={settings.tol:g} ({iterations}): rounding "
            "errors hide what is left to gain, and more iterations do not help. "
            f"{remedy} tol{lower}."
        )
    if settings.gamma == 0.0 and (not fit.converged or fit.kappa < -_STEEP):
        return (
            "With gamma=0 the objective may have no maximum: pairs that can be separated drive "
            f"kappa to minus infinity. The search stopped at kappa = {fit.kappa:.3g} "
            f"({iterations}). Set gamma > 0."
        )
    if fit.converged:
        return None
    if settings.gamma is not None and not lowest < -fit.kappa < highest:
        return (
            f"kappa={fit.kappa:.1e} is at the end of the range that is searched, from "
            f"-{highest:g} to -{lowest:g}: the full model has not converged. lam, gamma and eta "
            "do not suit the units of these points. Scale the features, and leave lam at "
            '"auto"; or set gamma=None.'
        )
    return describe_early_stop(settings.name, iterations)


def describe_early_stop(name: str, iterations: str) -> str:
    """Say that the solver has not converged, and which parameters to raise."""
    return f"{name} has not converged ({iterations}). Raise max_iter, or tol, or lam."
