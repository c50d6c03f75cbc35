"""The interface of the solvers: their objective, their iterations and their result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from .._utils._typing import AnyArray


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

    def value_and_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value and the gradient with respect to A."""

    def value_and_factor_gradient(self, P: AnyArray) -> tuple[float, AnyArray]:
        """Return the value and the gradient with respect to P."""


@dataclass(frozen=True)
class Step:
    """One iteration.

    Parameters
    ----------
    objective : float
        Value that it reached.
    rank : int
        Number of rows of the factor.
    step : float
        Length of the step.
    gap : float or None
        Estimate of the `optimality_gap`. It is at most the tolerance only where the solver
        stops.
    """

    objective: float
    rank: int
    step: float
    gap: float | None = None


Callback = Callable[[Step, Any], None]


def ignore(step: Step, P: AnyArray) -> None:
    """Do nothing after an iteration."""


@dataclass(frozen=True)
class Result:
    """What a solver returns.

    Parameters
    ----------
    P : array of shape (r, m)
        Factor of the metric.
    value : float
        The objective there.
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
    """

    P: AnyArray
    value: float
    gap: float
    converged: bool
    steps: list[Step]
    stopped: bool = False
    stalled: bool = False


# Maximizes an objective from a given factor.
Solve = Callable[[Any, AnyArray], Result]
