"""A factor with its certificate, and the stopping rule of the solvers over factors."""

from __future__ import annotations

from dataclasses import dataclass

from .._utils._typing import Array
from ._psd import optimality_gap
from ._result import MatrixFunction, Result, Step


@dataclass(frozen=True)
class CertifiedPoint:
    """A factor at which the objective and its gradient by the metric are known.

    Parameters
    ----------
    P : ndarray of shape (r, m)
        The factor.
    value : float
        The objective.
    gradient : ndarray of shape (m, m)
        Its gradient by the metric ``A = P'P``.
    gap : float
        `optimality_gap`.
    """

    P: Array
    value: float
    gradient: Array
    gap: float

    @classmethod
    def at(cls, objective: MatrixFunction, P: Array) -> CertifiedPoint:
        """Evaluate an objective at a factor: one sum over all of its terms."""
        value, gradient = objective.by_metric(P)
        return cls(P, value, gradient, optimality_gap(P, gradient, objective.scale))

    def result(self, steps: list[Step], *, converged: bool, stalled: bool = False) -> Result:
        """Return the result of a solver that stops at this point."""
        return Result(
            self.P,
            self.value,
            self.gap,
            converged,
            steps,
            stalled=stalled,
            gradient=self.gradient,
        )


@dataclass(frozen=True)
class StoppingRule:
    """When a solver over factors may stop.

    Parameters
    ----------
    tol : float
        Largest `optimality_gap`.
    max_rank : int
        Largest number of rows of a factor.
    n_features : int
        Order of the metric. A factor with `max_rank` rows, if these are fewer, has converged where
        it is stationary, whatever its gap.
    """

    tol: float
    max_rank: int
    n_features: int

    @classmethod
    def of(cls, objective: MatrixFunction, tol: float, max_rank: int | None) -> StoppingRule:
        """Make the rule for an objective and a cap on the rank, if any."""
        m = objective.n_features
        return cls(tol, min(max_rank or m, m), m)

    def is_at_cap(self, P: Array) -> bool:
        """Whether a factor has the largest rank allowed, below the number of features."""
        return len(P) == self.max_rank < self.n_features

    def is_met(self, here: CertifiedPoint, slope: float) -> bool:
        """Whether to stop at a point with this `relative_slope`."""
        return here.gap <= self.tol or (self.is_at_cap(here.P) and slope <= self.tol)
