"""The objective, a sum of terms with gradients, which solvers maximize."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._utils._typing import Array
from ._terms import PairSum, Term


@dataclass(frozen=True)
class Objective:
    """``F(A)``, the pair terms plus other terms, at ``A = P'P``.

    With the entropy of the unlabeled pairs and minus ``lam tr(A)`` this is (7); with an M-step's
    ``q``, (11).

    Parameters
    ----------
    pairs : PairSum
        The sum of the pair terms.
    others : tuple of Term
        The other terms.
    scale : float
        Unit of the gradient's eigenvalues in the optimality gap.
    """

    pairs: PairSum
    others: tuple[Term, ...] = ()
    scale: float = 1.0

    @property
    def terms(self) -> tuple[Term, ...]:
        """All terms."""
        return self.pairs, *self.others

    @property
    def n_features(self) -> int:
        """Number of columns of the points."""
        return self.pairs.sweep.shape[1]

    @property
    def rounding(self) -> float:
        """Relative error of a value."""
        return self.pairs.sweep.rounding

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        return _add(term.by_metric(P) for term in self.terms)

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``."""
        return _add(term.by_factor(P) for term in self.terms)

    def m_step(self, P: Array | None) -> Self:
        """Return the concave objective (11): see `PairSum.m_step`."""
        return replace(self, pairs=self.pairs.m_step(P))

    def samples(self, *, near: bool = False) -> list[tuple[float, Self]]:
        """Return estimates from shares of the pairs: see `PairSum.samples`."""
        samples = self.pairs.samples(near=near)
        return [(share, replace(self, pairs=pairs)) for share, pairs in samples]


def _add(parts: Iterable[tuple[float, Array]]) -> tuple[float, Array]:
    """Add values and gradients."""
    values, gradients = zip(*parts, strict=True)
    gradient = gradients[0]
    for slope in gradients[1:]:
        gradient = gradient + slope
    return sum(values[1:], values[0]), gradient


@dataclass(frozen=True)
class FullModel:
    """The full model (6) in terms of the scale ``s = -kappa`` and ``B = s A``.

    ``L(A, kappa) = F(B) - gamma s^2 / 2``, where the terms of F are those at the scale s. As
    Theorem 2 says, F is (7) with the threshold ``s eta`` and the weight ``lam / s``.

    Parameters
    ----------
    simplified : Objective
        F at ``s = 1``.
    gamma : float
        Weight of the prior on kappa.
    """

    simplified: Objective
    gamma: float

    def at(self, s: float) -> Objective:
        """Return F at the scale `s`, a function of ``B``."""
        F = self.simplified
        others = tuple(term.at(s) for term in F.others)
        return replace(F, pairs=F.pairs.at(s), others=others, scale=F.scale / s)

    def prior(self, s: float) -> float:
        """Compute the penalty of the prior on kappa, ``gamma s^2 / 2``."""
        return 0.5 * self.gamma * s * s

    def slope(self, s: float, P: Array) -> float:
        """Compute the derivative of L by ``ln s`` at a fixed ``B = P'P``.

        At the best B for this s it is also the derivative of the best value.
        """
        return sum(term.slope(P) for term in self.at(s).terms) - 2.0 * self.prior(s)

    @property
    def value_at_zero(self) -> float:
        """Value of L at ``kappa = 0``, where every pair is as likely similar as not.

        There ``B = 0``, and only the pair terms depend on s.
        """
        F = self.simplified
        at_zero = replace(F, pairs=F.pairs.at(0.0))
        return at_zero.by_factor(np.zeros((0, F.n_features)))[0]
