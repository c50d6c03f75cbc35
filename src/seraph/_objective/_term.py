"""The interface of a term of the objective, and the trace, which every objective has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

from .._pairs import library

# An ndarray or a Tensor.
AnyArray = Any


class Term(ABC):
    """A function of the metric ``A = P'P``, one summand of the objective.

    In the full model (6), solvers work with ``B = s A``, where ``s = -kappa`` is the scale. A
    term of A alone, ``g(A)``, becomes ``g(B / s)``: it overrides `at_scale` and `slope`. By
    default a term is a function of B alone.
    """

    @abstractmethod
    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the symmetric m x m gradient G by the metric.

        The value is a number, or a tensor with one number: a GPU need not wait for each term.
        """

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``, which is ``2 P G``."""
        value, gradient = self.value_and_gradient(P)
        return value, 2.0 * P @ gradient

    def at_scale(self, s: float) -> Self:  # noqa: ARG002
        """Return the term at the scale `s`, as a function of B."""
        return self

    def slope(self, P: AnyArray) -> float:  # noqa: ARG002
        """Return the derivative by ``ln s`` at a fixed ``B = P'P``."""
        return 0.0

    def m_step(self, P: AnyArray | None) -> Self:  # noqa: ARG002
        """Return the term in the M-step (11) after the metric ``P'P``; None at the start."""
        return self


@dataclass(frozen=True)
class Trace(Term):
    """The penalty ``-lam tr(A)``.

    Parameters
    ----------
    lam : float
        Weight of the trace.
    """

    lam: float

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the m x m gradient by the metric."""
        xp = library(P)
        place = {} if xp.__name__ == "numpy" else {"device": P.device}
        return self._value(P), -self.lam * xp.eye(P.shape[1], dtype=P.dtype, **place)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``."""
        return self._value(P), -2.0 * self.lam * P

    def at_scale(self, s: float) -> Self:
        """Return ``-lam / s tr(B)``."""
        return replace(self, lam=self.lam / s)

    def slope(self, P: AnyArray) -> float:
        """Return the derivative by ``ln s``."""
        return -float(self._value(P))

    def _value(self, P: AnyArray) -> Any:
        return -self.lam * (P * P).sum()
