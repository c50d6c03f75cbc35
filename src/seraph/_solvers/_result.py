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

    It reached the value `objective` with a factor of `rank` rows, by a step of length `step`. The
    `gap` estimates the `optimality_gap`; it is at most the tolerance only where the solver stops.
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
    """What a solver returns: the factor `P`, the objective and the `optimality_gap` there.

    It has `converged` if it met its own stopping rule, was `stopped` by a callback, or `stalled`
    where rounding errors prevented further progress.
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
