"""The objective, a sum of terms, which solvers maximize; the interface of a term; the trace."""

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
        return -self.lam * (P * P).sum(), -self.lam * xp.eye(P.shape[1], dtype=P.dtype, **place)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        """Return the value at ``P'P`` and the r x m gradient by ``P``."""
        return -self.lam * (P * P).sum(), -2.0 * self.lam * P

    def at_scale(self, s: float) -> Self:
        """Return ``-lam / s tr(B)``."""
        return replace(self, lam=self.lam / s)

    def slope(self, P: AnyArray) -> float:
        """Return the derivative by ``ln s``."""
        return self.lam * float((P * P).sum())


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
