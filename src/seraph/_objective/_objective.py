"""The objective, a sum of terms with gradients, which solvers maximize; and the full model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from ._term import AnyArray, Term


@dataclass(frozen=True)
class Objective:
    """``F(A)``, a sum of terms, at ``A = P'P``.

    With the pairs of (7) and minus ``lam tr(A)`` this is (7); with an M-step's ``q``, (11).

    Parameters
    ----------
    terms : tuple of Term
        The terms.
    n_features : int
        Order of the metric.
    scale : float
        Unit of the gradient's eigenvalues in the optimality gap.
    rounding : float
        Relative error of a value.
    """

    terms: tuple[Term, ...]
    n_features: int
    scale: float = 1.0
    rounding: float = 1e-15

    def value_and_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value at ``P'P`` and the m x m gradient by the metric."""
        values, gradients = zip(*(term.value_and_gradient(P) for term in self.terms), strict=True)
        return float(sum(values)), sum(gradients[1:], gradients[0])

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``."""
        parts = (term.value_and_factor_gradient(P) for term in self.terms)
        values, gradients = zip(*parts, strict=True)
        return float(sum(values)), sum(gradients[1:], gradients[0])

    def m_step(self, P: AnyArray | None) -> Self:
        """Return the concave objective (11), whose q comes from ``P'P``; ``q = 0`` for None."""
        return replace(self, terms=tuple(term.m_step(P) for term in self.terms))

    def at_scale(self, s: float) -> Self:
        """Return the function of ``B = s A`` at the scale `s` of the full model."""
        terms = tuple(term.at_scale(s) for term in self.terms)
        return replace(self, terms=terms, scale=self.scale / s if s else self.scale)


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

    def at_scale(self, s: float) -> Objective:
        """Return F at the scale `s`, a function of ``B``."""
        return self.simplified.at_scale(s)

    def prior(self, s: float) -> float:
        """Return the penalty of the prior on kappa, ``gamma s^2 / 2``."""
        return 0.5 * self.gamma * s * s

    def slope(self, s: float, P: AnyArray) -> float:
        """Return the derivative of L by ``ln s`` at a fixed ``B = P'P``.

        At the best B for this s it is also the derivative of the best value.
        """
        return sum(term.slope(P) for term in self.at_scale(s).terms) - 2.0 * self.prior(s)

    def value_at_zero(self, P: AnyArray) -> float:
        """Return the value of L at ``kappa = 0``, where every pair is as likely similar as not.

        There ``B = 0``. `P` is any factor; only its type matters.
        """
        tiny = 1e-100  # a threshold of 0, without dividing other terms of A = 0 by it
        return self.at_scale(tiny).value_and_factor_gradient(P[:0])[0]
