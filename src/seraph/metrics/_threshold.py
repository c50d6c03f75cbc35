"""Choose the distance up to which pairs are called similar."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array

# A rate that differs from its target by less than this reaches it: sums of weights are rounded.
_ROUNDING = 1e-12


def choose_threshold(
    distances: ArrayLike,
    similar: ArrayLike,
    weights: ArrayLike | None = None,
    strategy: str = "accuracy",
    target: float | None = None,
    *,
    beta: float = 1.0,
    between: bool = True,
) -> float:
    """Choose the distance up to which to call pairs similar.

    Parameters
    ----------
    distances, similar : array-like of shape (k,)
        Distances of pairs, and which of them are similar.
    weights : array-like of shape (k,), optional
        Weights of the pairs; 1 by default.
    strategy : str, default="accuracy"
        A strategy of :class:`seraph.PairClassifier`. Also "f_beta", the F-score; "max_tpr", the
        largest recall with a specificity of at least `target`; and "max_tnr", the largest
        specificity with a recall of at least `target`.
    target : float, optional
        The precision, recall, specificity or false-accept rate to reach.
    beta : float, default=1.0
        Weight of recall in "f_beta".
    between : bool, default=True
        Whether the threshold is half-way between two distances, or equal to one of them.

    Returns
    -------
    float
        The threshold; the smallest one of equals, but for a false-accept rate or a precision the
        largest.

    Examples
    --------
    >>> from seraph.metrics import choose_threshold
    >>> d, similar = [1.0, 2.0, 4.0], [True, True, False]
    >>> choose_threshold(d, similar), choose_threshold(d, similar, between=False)
    (3.0, 2.0)
    """
    values, place = np.unique(distances, return_inverse=True)
    alike = np.asarray(similar, dtype=bool)
    counts = np.ones(len(place)) if weights is None else np.asarray(weights)
    hits, false_hits = (
        np.append(0.0, np.cumsum(np.bincount(place, counts * kind, minlength=len(values))))
        for kind in (alike, ~alike)
    )
    at = _cut(hits, false_hits, strategy, float(target or 0.0), beta)
    if not between:
        return float(values[at - 1] if at else values[0] - 1.0)
    if at == 0:
        return float(values[0] / 2 or -1e-300)
    return float(0.5 * (values[at - 1] + values[min(at, len(values) - 1)]))


def _cut(hits: Array, false_hits: Array, strategy: str, target: float, beta: float) -> int:
    """Return how many of the distinct distances to call similar, the smallest first.

    `hits` and `false_hits` are the weights of the similar and the dissimilar pairs among them.
    """
    recall = hits / (hits[-1] or 1.0)
    accepts = false_hits / (false_hits[-1] or 1.0)
    if strategy == "accuracy":
        return int(np.argmax(hits - false_hits))
    if strategy == "f_beta":
        total = beta**2 * hits[-1] + hits + false_hits
        f = np.divide((1.0 + beta**2) * hits, total, out=np.zeros(len(hits)), where=total > 0)
        return int(np.argmax(f))
    if strategy == "equal_error_rate":
        return int(np.argmin(np.abs(accepts - (1.0 - recall))))
    if strategy in ("recall", "max_tnr"):  # the first cut has the largest specificity
        return int(np.argmax(recall >= target - _ROUNDING))
    if strategy == "max_tpr":
        return int(np.argmax(np.where(accepts <= 1.0 - target + _ROUNDING, recall, -1.0)))
    if strategy == "false_accept_rate":
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
