"""Triplets, "a is nearer to b than to c": their log-likelihood, a term of the objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import expit, log_expit

from .._sweep import to_memory
from .._utils._graph import times_laplacian
from .._utils._typing import Array
from ._settings import Settings
from ._terms import Data, Term


@dataclass(frozen=True)
class Triplets(Term):
    r"""Log-likelihood of triplets, by the logistic link of the model on differences.

    ``F(A) = sum ln p(u)``,  ``p(u) = 1 / (1 + exp(-u))``,  ``u = d2(a, c) - d2(a, b)``

    where ``d2`` is the squared distance under ``A = P'P``. Each ``u`` is linear in ``A``, and
    ``ln p`` is concave: ``d/du = 1 - p`` and ``d2/du2 = -p (1 - p)``. So F is concave, and::

        d / dA    X' Lap(W) X           W_ac = 1 - p,  W_ab = -(1 - p)
        d / dP    2 (Lap(W) Z)' X       Z = X P'

    with the Laplacian of `_sweep`. The threshold of the pairs cancels out of ``u``, and with the
    scale of the full model ``u`` is linear in ``B``.

    Parameters
    ----------
    points : ndarray of shape (k, m)
        The points that occur in some triplet, in the solvers' coordinates.
    rows : ndarray of int of shape (t, 3)
        Their rows a, b and c in each triplet.

    Examples
    --------
    >>> triplets = Triplets(np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1, 2]]))
    >>> value, gradient = triplets.by_metric(np.zeros((0, 1)))
    >>> bool(np.isclose(value, -np.log(2.0))), gradient
    (True, array([[4.]]))
    """

    points: Array
    rows: Array

    @classmethod
    def make(cls, data: Data, settings: Settings) -> Self | None:  # noqa: ARG003
        """Make the term of a fit; None without triplets."""
        rows = data.labels.triplets
        return cls.gather(data.coordinates.array, rows) if len(rows) else None

    @classmethod
    def gather(cls, array: Any, rows: Array) -> Self:
        """Take the points of some triplets from an array in memory or in chunks."""
        used, where = np.unique(rows, return_inverse=True)
        points = np.asarray(to_memory(array[used]), dtype=np.float64)
        return cls(points, where.reshape(rows.shape))

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        value, weights = self._sum_terms(P)
        gradient = self.points.T @ self._times_laplacian(weights, self.points)
        return value, (gradient + gradient.T) / 2.0

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``."""
        value, weights = self._sum_terms(P)
        return value, 2.0 * self._times_laplacian(weights, self.points @ P.T).T @ self.points

    def _sum_terms(self, P: Array) -> tuple[float, Array]:
        """Sum of the terms, and the derivative of each by its ``u``."""
        a, b, c = np.moveaxis((self.points @ P.T)[self.rows], 1, 0)
        near, far = a - b, a - c
        u = np.einsum("tr,tr->t", far, far) - np.einsum("tr,tr->t", near, near)
        return float(np.sum(log_expit(u))), expit(-u)

    def _times_laplacian(self, weights: Array, Y: Array) -> Array:
        """Compute ``Lap(W) Y``."""
        a, b, c = self.rows.T
        first, second = np.concatenate([a, a, c, b]), np.concatenate([c, b, a, a])
        signed = np.concatenate([weights, -weights, weights, -weights])
        W = sparse.csr_array((signed, (first, second)), shape=(len(Y), len(Y)))
        return times_laplacian(W, Y)
