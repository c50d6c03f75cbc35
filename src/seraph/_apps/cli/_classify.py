"""The class of a row from the labeled rows near it, with a probability."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from ..._utils._typing import FloatArray, IntArray

# Squared distances from some rows to the labeled ones, the codes of those, and their own codes.
HeldOut = tuple[FloatArray, IntArray, IntArray]


def class_shares(
    squared: FloatArray, codes: IntArray, n_classes: int, temperature: float
) -> FloatArray:
    r"""Return the probability of each class for each row.

    Each labeled row i votes for its class with the weight :math:`\exp(-d_i^2 / \tau)`, as in
    neighborhood components analysis. With n labeled rows, a share of 1 / (n + 1) is spread
    over all classes: few labels allow no certainty.

    Parameters
    ----------
    squared : ndarray of shape (n_rows, n_labeled)
        Squared distances to the labeled rows.
    codes : ndarray of int of shape (n_labeled,)
        Their classes.
    n_classes : int
        Number of classes.
    temperature : float
        The temperature tau.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Probabilities.

    Examples
    --------
    >>> class_shares(np.array([[0.0, 4.0]]), np.array([0, 1]), 2, temperature=1.0).round(3)
    array([[0.821, 0.179]])
    """
    least = squared.min(axis=1, keepdims=True)
    weights = np.exp(-(squared - least) / temperature)
    votes = np.zeros((len(squared), n_classes))
    for code in range(n_classes):
        votes[:, code] = weights[:, codes == code].sum(axis=1)
    shares = votes / votes.sum(axis=1, keepdims=True)
    doubt = 1.0 / (len(codes) + 1.0)
    return (1.0 - doubt) * shares + doubt / n_classes


def best_temperature(held_out: Sequence[HeldOut]) -> float | None:
    """Return the temperature under which held-out labels are most probable.

    Parameters
    ----------
    held_out : sequence of tuples
        For each fold: squared distances from its rows to the labeled ones, the classes of
        those, and the classes of its rows.

    Returns
    -------
    float or None
        None if all distances are 0.
    """
    nearest = np.concatenate([squared.min(axis=1) for squared, _, _ in held_out])
    scale = float(np.median(nearest[nearest > 0.0])) if np.any(nearest > 0.0) else 0.0
    if not scale:
        return None
    n_classes = 1 + max(int(max(codes.max(), own.max())) for _, codes, own in held_out)
    best, found = -np.inf, scale
    for temperature in scale * np.geomspace(1e-2, 1e3, 51):
        score = sum(
            float(np.log(class_shares(squared, codes, n_classes, temperature)[
                np.arange(len(own)), own
            ]).sum())
            for squared, codes, own in held_out
        )  # fmt: skip
        if score > best:
            best, found = score, float(temperature)
    return found


def leave_one_out(mapped: FloatArray, codes: IntArray) -> list[HeldOut]:
    """Return each labeled row as a fold of its own, by the distances of one metric.

    The metric has seen all labels, so temperatures chosen by this are a little too sure.
    """
    squared = cdist(mapped, mapped, "sqeuclidean")
    every = np.arange(len(codes))
    return [(squared[[row]][:, every != row], codes[every != row], codes[[row]]) for row in every]
