"""The objective, a sum of terms, which solvers maximize; those of pairs, and the trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._pairs import (
    BlockPairs,
    LogLikelihood,
    MStep,
    NegativeEntropy,
    PairFunction,
    library,
    like,
    sum_over_blocks,
    sum_over_list,
)
from .._utils._typing import AnyArray

_ENTROPY = NegativeEntropy()


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
        """Return the value and the r x m gradient with respect to ``P``, which is ``2 P G``."""
        value, gradient = self.value_and_gradient(P)
        return value, 2.0 * P @ gradient

    def at_scale(self, s: float) -> Self:  # noqa: ARG002
        """Return the term at the scale `s`, as a function of B."""
        return self

    def slope(self, P: AnyArray) -> float:  # noqa: ARG002
        """Return the derivative with respect to ``ln s`` at a fixed ``B = P'P``."""
        return 0.0

    def m_step(self, P: AnyArray | None) -> Self:  # noqa: ARG002
        """Return the term in the M-step (11) after the metric ``P'P``; None at the start."""
        return self


@dataclass(frozen=True)
class Trace(Term):
    """The penalty ``-lam tr(A)``."""

    lam: float

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        xp = library(P)
        place = {} if xp is np else {"device": P.device}
        return -self.lam * (P * P).sum(), -self.lam * xp.eye(P.shape[1], dtype=P.dtype, **place)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        return -self.lam * (P * P).sum(), -2.0 * self.lam * P

    def at_scale(self, s: float) -> Self:
        # -lam tr(A) = -lam / s tr(B)
        return replace(self, lam=self.lam / s)

    def slope(self, P: AnyArray) -> float:
        return self.lam * float((P * P).sum())


@dataclass(frozen=True)
class PairTerm(Term):
    """A sum over pairs of points, times a weight.

    The points X are in the solvers' coordinates, and `eta` is the threshold of their squared
    distances.
    """

    X: AnyArray
    eta: float
    weight: float

    @abstractmethod
    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        """Return the sum for the points `Z`, that of the derivatives, and ``Lap(W) Y``."""

    def value_and_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        value, _, product = self._sum(self._map(P), self.X)
        gradient = like(self.X.T @ product, P)
        return self.weight * value, 0.5 * self.weight * (gradient + gradient.T)

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[Any, AnyArray]:
        Z = self._map(P)
        value, _, product = self._sum(Z, Z)
        return self.weight * value, 2.0 * self.weight * like(product.T @ self.X, P)

    def at_scale(self, s: float) -> Self:
        return replace(self, eta=s * self.eta)

    def slope(self, P: AnyArray) -> float:
        Z = self._map(P)  # (the threshold is s eta)
        return -self.eta * self.weight * float(self._sum(Z, Z[:, :0])[1])

    def _map(self, P: AnyArray) -> AnyArray:
        return self.X @ like(P, self.X).T


@dataclass(frozen=True)
class EntropyTerm(PairTerm):
    """A sum with the entropy of unlabeled pairs in (7), or their term in an M-step (11).

    In an M-step, `frozen` is the factor of the metric whose E-step gives q, with the weight `mu`
    of the entropy; None at the start, where ``q = 0``.
    """

    pairs: Any
    mu: float
    function: PairFunction = _ENTROPY
    frozen: AnyArray | None = None

    def m_step(self, P: AnyArray | None) -> Self:
        """Return the term in the M-step after the metric ``P'P``."""
        return replace(self, function=LogLikelihood() if P is None else MStep(self.mu), frozen=P)


class UnlabeledPairs(EntropyTerm):
    """The sum over the unlabeled pairs, which are `BlockPairs`."""

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        frozen = None if self.frozen is None else self._map(self.frozen)
        return sum_over_blocks(Z, Y, self.pairs, self.function, self.eta, frozen=frozen)


class MarkedPairs(EntropyTerm):
    """The log-likelihood of `ListedPairs`, less what `UnlabeledPairs` has added for them.

    `mu` is 0 if these pairs are not among the unlabeled ones.
    """

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        terms: list[tuple[PairFunction, Any, Any]]
        terms = [(LogLikelihood(), self.pairs.q, self.pairs.weights)]
        if self.mu:
            q: Any = 0.0
            if self.frozen is not None:
                q = self.pairs.squared_distances(self._map(self.frozen)) - self.eta
            terms.append((self.function, q, -self.mu))
        return sum_over_list(Z, Y, self.pairs, *terms, eta=self.eta)


@dataclass(frozen=True)
class ClassPairs(PairTerm):
    """The log-likelihood of the pairs of points whose classes are known."""

    pairs: BlockPairs

    def _sum(self, Z: AnyArray, Y: AnyArray) -> tuple[Any, Any, AnyArray]:
        return sum_over_blocks(Z, Y, self.pairs, LogLikelihood(), self.eta)


@dataclass(frozen=True)
class Objective:
    """``F(A)``, a sum of terms, at ``A = P'P``.

    With the pairs of (7) and minus ``lam tr(A)`` this is (7); with an M-step's ``q``, (11).

    `n_features` is the order of the metric, `scale` the unit of the gradient's eigenvalues in the
    optimality gap, and `rounding` the relative error of a value.
    """

    terms: tuple[Term, ...]
    n_features: int
    scale: float = 1.0
    rounding: float = 1e-15

    def value_and_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value at ``P'P`` and the m x m gradient with respect to the metric."""
        values, gradients = zip(*(term.value_and_gradient(P) for term in self.terms), strict=True)
        return float(sum(values)), sum(gradients[1:], gradients[0])

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value at ``P'P`` and the gradient with respect to ``P``."""
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
