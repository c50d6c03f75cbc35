"""The terms of pairs: unlabeled ones, those of two classified points, and marked ones."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._pairs import BlockPairs, ListedPairs, library, sum_over_blocks, sum_over_list
from ._objective import AnyArray, Term


def cast(a: AnyArray, like: AnyArray) -> AnyArray:
    """Return an array in the precision of another one of the same library."""
    return a.astype(like.dtype, copy=False) if library(a) is np else a.to(like.dtype)


@dataclass(frozen=True)
class PairTerm(Term):
    """A sum over pairs of points, times a weight.

    Parameters
    ----------
    X : array of shape (n, m)
        Points, in the solvers' coordinates.
    eta : float
        Threshold of the squared distances.
    weight : float
        Weight of the sum.
    """

    X: AnyArray
    eta: float
    weight: float

    @abstractmethod
    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        """Return the sum for the points `Z`, that of the derivatives, and ``Lap(W) Y``."""

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the m x m gradient by the metric."""
        value, _, product = self._sum(self._map(P), self.X)
        gradient = cast(self.X.T @ product, P)
        return self.weight * value, 0.5 * self.weight * (gradient + gradient.T)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``."""
        Z = self._map(P)
        value, _, product = self._sum(Z, Z)
        return self.weight * value, 2.0 * self.weight * cast(product.T @ self.X, P)

    def at_scale(self, s: float) -> Self:
        """Return the sum with the threshold ``s eta``."""
        return replace(self, eta=s * self.eta)

    def slope(self, P: AnyArray) -> float:
        """Return the derivative by ``ln s``: the threshold is ``s eta``."""
        Z = self._map(P)
        return -self.eta * self.weight * float(self._sum(Z, Z[:, :0])[1])

    def _map(self, P: AnyArray) -> AnyArray:
        return self.X @ cast(P, self.X).T


@dataclass(frozen=True)
class UnlabeledPairs(PairTerm):
    """The entropy of the unlabeled pairs in (7), or their term in an M-step (11).

    Parameters
    ----------
    pairs : BlockPairs
        The pairs: all, or a sample.
    mu : float
        Weight of the entropy in an E-step.
    frozen : array of shape (r, m) or None
        Factor of the metric whose E-step gives q; None at the start, where ``q = 0``.
    """

    pairs: BlockPairs
    mu: float
    frozen: AnyArray | None = None

    def m_step(self, P: AnyArray | None) -> Self:
        """Return the term in the M-step after the metric ``P'P``."""
        return replace(self, pairs=replace(self.pairs, kind="m-step"), frozen=P)

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        frozen = None if self.frozen is None else self._map(self.frozen)
        return sum_over_blocks(Z, Y, self.pairs, self.eta, frozen=frozen, mu=self.mu)


@dataclass(frozen=True)
class ClassPairs(PairTerm):
    """The log-likelihood of the pairs of points whose classes are known.

    Parameters
    ----------
    pairs : BlockPairs
        All pairs of these points.
    """

    pairs: BlockPairs

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        return sum_over_blocks(Z, Y, self.pairs, self.eta)


@dataclass(frozen=True)
class MarkedPairs(PairTerm):
    """The log-likelihood of listed pairs, less what `UnlabeledPairs` has added for them.

    Parameters
    ----------
    pairs : ListedPairs
        The pairs, with labels and weights.
    mu : float
        Weight of the unlabeled pairs; 0 if these pairs are not among them.
    is_m_step : bool
        Whether the unlabeled pairs have the term of an M-step.
    frozen : array of shape (r, m) or None
        As in `UnlabeledPairs`.
    """

    pairs: ListedPairs
    mu: float
    is_m_step: bool = False
    frozen: AnyArray | None = None

    def m_step(self, P: AnyArray | None) -> Self:
        """Return the term in the M-step after the metric ``P'P``."""
        return replace(self, is_m_step=True, frozen=P)

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        frozen: AnyArray | bool | None = False if self.is_m_step else None
        if self.frozen is not None:
            frozen = self._map(self.frozen)
        return sum_over_list(
            Z, Y, self.pairs, self.eta, unlabeled=-self.mu, frozen=frozen, mu=self.mu
        )
