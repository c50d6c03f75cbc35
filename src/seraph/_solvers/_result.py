"""The interface of the solvers: their objective, their stopping rule and their result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._utils._typing import Array
from ._psd import optimality_gap


class MatrixFunction(Protocol):
    """A function of a positive semi-definite matrix ``A = P'P``, to be maximized."""

    @property
    def n_features(self) -> int:
        """Order of the matrix."""

    @property
    def scale(self) -> float:
        """Unit of the gradient's eigenvalues in the gap."""

    @property
    def rounding(self) -> float:
        """Relative error of a value."""

    def by_metric(self, P: Array) -> tuple[float, Array]:
        """Compute the value and the gradient by A."""

    def by_factor(self, P: Array) -> tuple[float, Array]:
        """Compute the value and the gradient by P."""


@dataclass(frozen=True)
class Step:
    """One iteration.

    Parameters
    ----------
    objective : float
        Value that it reached.
    rank : int
        Rank of the metric.
    step : float
        Length of the step.
    gap : float or None
        Estimate of the `optimality_gap`. It is at most the tolerance only where the solver
        stops.
    share : float
        Share of the objective's terms that were summed.
    """

    objective: float
    rank: int
    step: float
    gap: float | None = None
    share: float = 1.0


# Called after each iteration with the factor it reached.
Callback = Callable[[Step, Array], None]


def ignore(step: Step, P: Array) -> None:
    """Ignore an iteration: the callback of a search within another."""


@dataclass(frozen=True)
class Result:
    """Where a solver stopped.

    Parameters
    ----------
    P : ndarray of shape (r, m)
        Factor of the metric; r is its rank.
    value : float
        Value of the objective there.
    gap : float
        `optimality_gap` there.
    converged : bool
        Whether the solver met its own stopping rule.
    steps : list of Step
        The iterations.
    stopped : bool, default=False
        Whether a callback ended it.
    stalled : bool, default=False
        Whether rounding errors prevented further progress.
    gradient : ndarray of shape (m, m), optional
        Gradient by the metric there, from a solver that knows it.
    """

    P: Array
    value: float
    gap: float
    converged: bool
    steps: list[Step]
    stopped: bool = False
    stalled: bool = False
    gradient: Array | None = None

    @property
    def history(self) -> dict[str, Array]:
        """Objective, rank, step and share of each iteration, as arrays."""
        return {
            "objective": np.array([step.objective for step in self.steps], dtype=float),
            "rank": np.array([step.rank for step in self.steps], dtype=int),
            "step": np.array([step.step for step in self.steps], dtype=float),
            "share": np.array([step.share for step in self.steps], dtype=float),
        }


# Maximizes an objective from a given factor.
Solve = Callable[[Any, Array], Result]


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
