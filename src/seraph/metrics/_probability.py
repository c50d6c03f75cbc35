"""Figures of merit of the probabilities of pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._pairs import pair_signs
from .._validation import check_number


def expected_calibration_error(
    pair_labels: ArrayLike, probabilities: ArrayLike, *, n_bins: int = 10
) -> float:
    """Compute how far stated probabilities are from the shares that came true.

    The pairs are sorted by their probability and cut into bins of equal size. In each bin the
    mean probability is compared with the share of similar pairs; the result is the mean absolute
    difference, weighted by the size of the bins.

    Parameters
    ----------
    pair_labels : array-like of shape (n_pairs,)
        +1 or True for pairs that are alike, -1 or False for pairs that are not.
    probabilities : array-like of shape (n_pairs,)
        Stated probabilities that they are alike.
    n_bins : int, default=10
        Number of bins; fewer if there are fewer pairs.

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
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not np.all((p >= 0.0) & (p <= 1.0)):
        raise ValueError(
            "probabilities must hold one number from 0 to 1 per pair; got shape "
            f"{p.shape}" + (f", from {p.min():g} to {p.max():g}." if p.size else ".")
        )
    similar = pair_signs(pair_labels, len(p))
    order = np.argsort(p, kind="stable")
    bins = np.array_split(order, min(n_bins, len(p)))
    gaps = [abs(p[rows].sum() - similar[rows].sum()) for rows in bins]
    return float(sum(gaps) / len(p))
