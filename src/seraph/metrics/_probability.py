"""Figures of merit of the probabilities of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._marks import mark_weights, pair_signs
from .._points import to_memory
from .._utils._typing import Array
from .._utils._validation import check_number, shown


def expected_calibration_error(
    labels: ArrayLike,
    probabilities: ArrayLike,
    *,
    n_bins: int = 10,
    weights: ArrayLike | None = None,
) -> float:
    """Compute how far stated probabilities are from the shares that came true.

    The pairs are sorted by their probability and cut into bins of about equal size; pairs of
    equal probability stay together. In each bin the
    mean probability is compared with the share of similar pairs; the result is the mean absolute
    difference, weighted by the size of the bins.

    Parameters
    ----------
    labels : array-like of shape (n_pairs,)
        +1 or True for pairs that are alike, -1 or False for pairs that are not.
    probabilities : array-like of shape (n_pairs,)
        Stated probabilities that they are alike.
    n_bins : int, default=10
        Number of bins; fewer if there are fewer pairs.
    weights : array-like of shape (n_pairs,), optional
        How much each pair counts in the means and shares.

    Returns
    -------
    float
        From 0, best, to 1.

    References
    ----------
    M. P. Naeini, G. F. Cooper, M. Hauskrecht. Obtaining well calibrated probabilities using
    Bayesian binning. AAAI 2015. (There the bins have equal width.)

    Examples
    --------
    >>> from seraph.metrics import expected_calibration_error
    >>> expected_calibration_error([1, 1, -1, -1], [0.9, 0.9, 0.1, 0.1], n_bins=2).__round__(3)
    0.1
    """
    check_number("n_bins", n_bins, low=1, integer=True)
    p = _numbers(probabilities)
    if p.ndim != 1 or not len(p) or not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError(
            "probabilities must hold one number from 0 to 1 per pair; got shape "
            f"{p.shape}" + (f", from {p.min():g} to {p.max():g}." if p.size else ".")
        )
    similar = pair_signs(labels, len(p))
    counts = mark_weights(weights, len(p))
    if not counts.any():
        raise ValueError("weights must have a weight above 0; all are 0.")
    excess = counts * (p - similar)
    gaps = [abs(excess[rows].sum()) for rows in equal_bins(p, n_bins)]
    return float(sum(gaps) / counts.sum())


def _numbers(probabilities: ArrayLike) -> Array:
    try:
        return np.asarray(to_memory(probabilities), dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"probabilities must hold one number from 0 to 1 per pair; got {shown(probabilities)}."
        ) from error


def equal_bins(p: Array, n_bins: int) -> list[Array]:
    """Cut values into at most `n_bins` bins of about equal size; equal values stay together.

    Returns the places of the values of each bin, in ascending order of the values.

    Examples
    --------
    >>> [rows.tolist() for rows in equal_bins(np.array([0.5, 0.1, 0.5, 0.5, 0.9]), 3)]
    [[1, 0, 2, 3], [4]]
    """
    order = np.argsort(p, kind="stable")
    ordered = p[order]
    cuts = np.linspace(0, len(p), min(n_bins, len(p)) + 1).round().astype(int)[1:-1]
    ends = np.unique(np.searchsorted(ordered, ordered[cuts - 1], side="right"))
    return [rows for rows in np.split(order, ends) if len(rows)]
