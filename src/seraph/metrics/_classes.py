"""The probability that two rows are of different classes, in the place of a distance."""

from __future__ import annotations

import numpy as np

from .._utils._typing import Array


class ClassDistances:
    """Function of two arrays of row numbers: the probabilities that their classes differ.

    It stands where :class:`SquaredDistances` does. The classes of two rows count as independent;
    `chances`, of shape (n, n_classes), has their probabilities.

    Examples
    --------
    >>> differ = ClassDistances(np.array([[1.0, 0.0], [0.5, 0.5]]))
    >>> differ(np.array([0]), np.array([0, 1]))
    array([[0. , 0.5]])
    """

    tie = 1 << 8  # units in the last place, as the sum over the classes is rounded

    def __init__(self, chances: Array) -> None:
        self._chances = np.asarray(chances, dtype=np.float64)

    def __call__(self, a: Array, b: Array) -> Array:
        """Compute the probabilities for the rows `a` and the rows `b`."""
        found: Array = np.clip(1.0 - self._chances[a] @ self._chances[b].T, 0.0, 1.0)
        return found

    def of_pairs(self, first: Array, second: Array) -> Array:
        """Compute the probability of each pair of rows."""
        agree = np.einsum("kc,kc->k", self._chances[first], self._chances[second])
        found: Array = np.clip(1.0 - agree, 0.0, 1.0)
        return found
