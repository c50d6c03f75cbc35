"""The terms of the objective: their interface, and the two that every fit has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._marks import PairLabels
from .._sweep import Coordinates, PairTerms, Points, Posterior, Sweep
from .._utils._typing import Array


@dataclass(frozen=True)
class Data:
    """The data that terms are made from.

    Parameters
    ----------
    points : Points
        The points.
    coordinates : Coordinates
        The same points, in the solvers' coordinates.
    labels : PairLabels
        Labels of their pairs, and triplets.
    graph : sparse matrix of shape (n, n) or None
        The user's graph, checked.
    """

    points: Points
    coordinates: Coordinates
    labels: PairLabels
    graph: Any = None


class Term(ABC):
    """A function of the metric ``A = P'P``, one summand of the objective.

    In the full model (6), solvers work with ``B = s A``, where ``s = -kappa`` is the scale. A
    term of A alone, ``g(A)``, becomes ``g(B / s)``: it overrides `at` and `slope`. By default a
    term is a function of B alone.
    """

    @abstractmethod
    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the symmetric m x m gradient G by the metric."""

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``, which is ``2 P G``."""
        value, gradient = self.by_metric(P)
        return value, 2.0 * P @ gradient

    def at(self, s: float) -> Self:  # noqa: ARG002
        """Return the term at the scale `s`, as a function of B."""
        return self

    def slope(self, P: Array) -> float:  # noqa: ARG002
        """Compute the derivative by ``ln s`` at a fixed ``B = P'P``."""
        return 0.0


@dataclass(frozen=True)
class PairSum(Term):
    """The sum of the pair terms of (7), or of an M-step.

    Parameters
    ----------
    sweep : Sweep
        Sums over the pairs of the points.
    terms : PairTerms
        The term of each pair.
    """

    sweep: Sweep
    terms: PairTerms

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        return self.sweep(P, self.terms, "metric")

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``."""
        return self.sweep(P, self.terms, "factor")

    def at(self, s: float) -> Self:
        """Return the sum with the threshold ``s eta``."""
        return replace(self, terms=replace(self.terms, eta=s * self.terms.eta))

    def slope(self, P: Array) -> float:
        """Compute the derivative by ``ln s``: the threshold is ``s eta``."""
        return self.terms.eta * float(self.sweep(P, self.terms, "threshold")[1])

    def m_step(self, P: Array | None) -> Self:
        """Return the sum in (11), whose ``q`` comes from the metric ``P'P``.

        None stands for the start, where every unlabeled pair counts as dissimilar.
        """
        return replace(self, terms=replace(self.terms, q=Posterior(P)))

    def samples(self, *, near: bool) -> list[tuple[float, Self]]:
        """Return estimates from shares of the pairs, the smallest first: see `Plan.samples`."""
        samples = self.terms.samples(self.sweep.shape, near=near)
        return [(share, replace(self, terms=terms)) for share, terms in samples]


@dataclass(frozen=True)
class Trace(Term):
    """The penalty ``-lam tr(A)``.

    Parameters
    ----------
    lam : float
        Weight of the trace.
    """

    lam: float

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the m x m gradient by the metric."""
        return self._value(P), np.diag(np.full(P.shape[1], -self.lam))

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value at ``P'P`` and the r x m gradient by ``P``."""
        return self._value(P), -2.0 * self.lam * P

    def at(self, s: float) -> Self:
        """Return ``-lam / s tr(B)``."""
        return replace(self, lam=self.lam / s)

    def slope(self, P: Array) -> float:
        """Compute the derivative by ``ln s``."""
        return -self._value(P)

    def _value(self, P: Array) -> float:
        return -self.lam * float(np.vdot(P, P))
