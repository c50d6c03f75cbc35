"""What a user should be told of the data and of the result, in words that help."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from .._pairs import PairLabels
from .._sweep._chunks import ChunkedPoints

# Features whose standard deviations differ by more deserve a word.
_SCALES_APART = 1e3


def warn_of_labels(labels: PairLabels, stacklevel: int = 3) -> None:
    """Say so where all labelled pairs are of one kind."""
    if labels.n_dissimilar == 0:
        warnings.warn(
            f"All {labels.n_similar} labelled pairs are similar: nothing holds points apart, "
            "and the metric may collapse to zero. Add labels of another class, or "
            "dissimilar pairs.",
            stacklevel=stacklevel,
        )
    if labels.n_similar == 0:
        warnings.warn(
            f"All {labels.n_dissimilar} labelled pairs are dissimilar: nothing holds points "
            "together, and the metric may diverge, held back by lam alone. Add a second "
            "label of some class, or similar pairs.",
            stacklevel=stacklevel,
        )


def warn_of_scales(points: NDArray | ChunkedPoints, stacklevel: int = 3) -> None:
    """Say so where the features' standard deviations are worlds apart."""
    scales = points.std(axis=0, dtype=np.float64)
    varying = scales > 1e-12 * scales.max(initial=0.0)
    if varying.any():
        low, high = scales[varying].min(), scales[varying].max()
        if high > _SCALES_APART * low:
            warnings.warn(
                f"The standard deviations of the features lie between {low:.3g} and "
                f"{high:.3g}: the largest will rule the metric. Scale the features first, "
                "for example with sklearn.preprocessing.StandardScaler.",
                stacklevel=stacklevel,
            )


def warn_of_rank_zero(stacklevel: int = 4) -> None:
    """Say that the learned metric is zero."""
    warnings.warn(
        "The learned metric is zero (rank 0): every distance is 0. lam is too large "
        "for these labels, or they ask for a collapse; lower lam or add dissimilar "
        "pairs.",
        stacklevel=stacklevel,
    )


def warn_of_kappa_zero(gamma: float, stacklevel: int = 4) -> None:
    """Say that the full model has nothing to gain from the labels."""
    warnings.warn(
        f"The optimum of the full model is at kappa = 0: with gamma={gamma:g} and this lam, no "
        "metric is worth its price, and every pair is as likely similar as not (p = 1/2). "
        "The learned metric is zero. Lower gamma or lam, or take gamma=None.",
        stacklevel=stacklevel,
    )


def warn_of_no_maximum(*, converged: bool, iterations: str, stacklevel: int = 4) -> None:
    """Say that without a trace penalty there may be no maximum."""
    ending = "has come to rest all the same" if converged else "has not converged"
    warnings.warn(
        "With lam=0 the objective may have no maximum: pairs that can be separated "
        f"drive the metric to infinity. The solver {ending} ({iterations}). Set "
        'lam > 0 or lam="auto"; or solver="projected-gradient", whose 200 steps are '
        "what the paper reports for lam=0.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def warn_of_no_prior(*, kappa: float, iterations: str, stacklevel: int = 4) -> None:
    """Say that without a prior on kappa there may be no maximum."""
    warnings.warn(
        "With gamma=0 the objective may have no maximum: pairs that can be separated drive kappa "
        f"to minus infinity. The search stopped at kappa = {kappa:.3g} ({iterations}). Set "
        "gamma > 0.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )


def warn_of_early_stop(*, iterations: str, remedy: str, stacklevel: int = 4) -> None:
    """Say that the solver has not converged, and what to raise."""
    warnings.warn(
        f"SERAPH has not converged ({iterations}). Raise {remedy}, or tol, or lam.",
        ConvergenceWarning,
        stacklevel=stacklevel,
    )
