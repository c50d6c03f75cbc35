"""Triplets, "a is nearer to b than to c": their log-likelihood, a term of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._pairs import library, probability
from .._pairs._lists import ListedPairs
from .._utils._typing import Array
from ._objective import AnyArray, Term
from ._pair_terms import cast


@dataclass(frozen=True)
class Triplets(Term):
    r"""Log-likelihood of triplets, by the logistic link of the model on differences.

    ``F(A) = sum ln p(u)``,  ``p(u) = 1 / (1 + exp(-u))``,  ``u = d2(a, c) - d2(a, b)``

    where ``d2`` is the squared distance under ``A = P'P``. Each ``u`` is linear in ``A``, and
    ``ln p`` is concave, with the derivative ``w = 1 - p``. So F is concave, and its gradient is
    ``sum w ((a - c)(a - c)' - (a - b)(a - b)')``. The threshold of the pairs cancels out of
    ``u``, and with the scale of the full model ``u`` is linear in ``B``.

    Parameters
    ----------
    X : array of shape (k, m)
        The points that occur in some triplet, in the solvers' coordinates.
    near, far : ListedPairs
        The pairs (a, b) and (a, c) of each triplet.

    Examples
    --------
    >>> triplets = Triplets.make(np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1, 2]]))
    >>> value, gradient = triplets.value_and_gradient(np.zeros((0, 1)))
    >>> bool(np.isclose(value, -np.log(2.0))), gradient
    (True, array([[4.]]))
    """

    X: AnyArray
    near: ListedPairs
    far: ListedPairs

    @classmethod
    def make(cls, X: AnyArray, rows: Array) -> Triplets:
        """Make the term of triplets of rows of `X`."""
        ones = np.ones(len(rows))
        near, far = (
            ListedPairs.make(rows[:, [0, other]], ones, ones, len(X), like=X) for other in (1, 2)
        )
        return cls(X, near, far)

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the m x m gradient by the metric."""
        value, w = self._value_and_weights(self.X @ cast(P, self.X).T)
        return value, cast(self.X.T @ self._times_laplacian(w, self.X), P)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``."""
        Z = self.X @ cast(P, self.X).T
        value, w = self._value_and_weights(Z)
        return value, 2.0 * cast(self._times_laplacian(w, Z).T @ self.X, P)

    def _value_and_weights(self, Z: AnyArray) -> tuple[Any, AnyArray]:
        far, near = self.far.incidence @ Z, self.near.incidence @ Z
        u = (far * far).sum(-1) - (near * near).sum(-1)
        xp = library(u)
        log_p = xp.clip(u, None, 0.0) - xp.log1p(xp.exp(-xp.abs(u)))
        return log_p.sum(), probability(u)

    def _times_laplacian(self, w: AnyArray, Y: AnyArray) -> AnyArray:
        far = self.far.transposed @ (w[:, None] * (self.far.incidence @ Y))
        return far - self.near.transposed @ (w[:, None] * (self.near.incidence @ Y))
