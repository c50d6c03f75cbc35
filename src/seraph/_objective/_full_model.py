"""The full model (6), by the simplified one at a scale."""

from __future__ import annotations

from dataclasses import dataclass

from .._utils._typing import AnyArray
from ._objective import Objective


@dataclass(frozen=True)
class FullModel:
    """The full model (6) in terms of the scale ``s = -kappa`` and ``B = s A``.

    ``L(A, kappa) = F(B) - gamma s^2 / 2``, where the terms of F are those at the scale s. By
    Theorem 2, F is (7) with the threshold ``s eta`` and the weight ``lam / s``.

    `simplified` is F at ``s = 1``, and `gamma` the weight of the prior on kappa.
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
