"""Triplets, "a is nearer to b than to c": their log-likelihood, a term of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._pairs import ListedPairs, library, probability
from .._utils._typing import AnyArray, Array
from ._objective import PairTerm


@dataclass(frozen=True)
class Triplets(PairTerm):
    r"""Log-likelihood of triplets, by the logistic link of the model on differences.

    ``F(A) = sum ln p(u)``,  ``p(u) = 1 / (1 + exp(-u))``,  ``u = d2(a, c) - d2(a, b)``

    where ``d2`` is the squared distance under ``A = P'P``. Each ``u`` is linear in ``A``, and
    ``ln p`` is concave, with the derivative ``w = 1 - p``. So F is concave, and its gradient is
    ``sum w ((a - c)(a - c)' - (a - b)(a - b)')``. The threshold of the pairs cancels out of
    ``u``, and with the scale of the full model ``u`` is linear in ``B``.

    `near` and `far` are the pairs (a, b) and (a, c) of each triplet.
    """

    near: ListedPairs
    far: ListedPairs

    @classmethod
    def make(cls, X: AnyArray, rows: Array) -> Triplets:
        """Make the term of triplets of rows of `X`."""
        ones = np.ones(len(rows))
        near, far = (
            ListedPairs.make(rows[:, [0, other]], ones, ones, len(X), like=X) for other in (1, 2)
        )
        return cls(X, 0.0, 1.0, near, far)

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        u = self.far.squared_distances(Z) - self.near.squared_distances(Z)
        xp = library(u)
        log_p = xp.clip(u, None, 0.0) - xp.log1p(xp.exp(-xp.abs(u)))
        w = probability(u)
        product = self.far.times_laplacian(w, Y) - self.near.times_laplacian(w, Y)
        return log_p.sum(), 0.0, product
