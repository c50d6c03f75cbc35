"""The table of solvers and their abilities. No other code compares the name of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from .._utils._typing import Array
from ._low_rank import low_rank
from ._projected_gradient import first_factor, projected_gradient
from ._result import Result
from ._spg import spg


@dataclass(frozen=True)
class Solver:
    """A function that maximizes an objective, with its abilities.

    `maximize` takes ``(objective, P, *, max_iter, tol, callback)`` and returns a `Result`.

    - `adapts_rank`: it widens a narrow first factor as far as needed, and takes `max_rank`.
    - `rescales`: its points may be rotated and divided by their unit, which speeds up most.
    - `first_factor` takes the number of features and returns the factor to start from; by default
      it is fitted to the points.
    - `by_steps`: its steps define the metric, so that it need not converge.
    - `m_steps`: the largest number of M-steps, if the EM-like scheme runs around it.
    """

    maximize: Callable[..., Result]
    adapts_rank: bool = False
    rescales: bool = True
    first_factor: Callable[[int], Array] | None = None
    by_steps: bool = False
    m_steps: float = 0

    @property
    def finds_scale(self) -> bool:
        """Whether the search for the scale of the full model can use it.

        It needs converged metrics, and the EM-like scheme is for the simplified model only.
        """
        return not (self.by_steps or self.m_steps)


_LOW_RANK = Solver(low_rank, adapts_rank=True)
# The solvers by the values of the parameter `solver`.
SOLVERS = {
    "auto": _LOW_RANK,
    "low-rank": _LOW_RANK,
    "spg": Solver(spg),
    "projected-gradient": Solver(
        projected_gradient, rescales=False, first_factor=first_factor, by_steps=True
    ),
    "em": Solver(low_rank, adapts_rank=True, m_steps=inf),
}
