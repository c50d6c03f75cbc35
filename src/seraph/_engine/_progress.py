"""One printed line per iteration, for ``verbose=1``."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol


class _Step(Protocol):
    @property
    def objective(self) -> float: ...
    @property
    def rank(self) -> int: ...
    @property
    def gap(self) -> float | None: ...


@dataclass
class Progress:
    """Print the state of a solver after each iteration.

    Parameters
    ----------
    name : str
        Name to print in front.
    total : int
        Largest number of iterations, which bounds the time left.
    """

    name: str
    total: int
    done: int = 0
    started: float = field(default_factory=time.perf_counter)

    def __call__(self, step: _Step) -> None:
        """Print the line of one iteration."""
        self.done += 1
        elapsed = time.perf_counter() - self.started
        left = elapsed / self.done * max(0, self.total - self.done)
        gap = "" if step.gap is None else f"gap {step.gap:.1e}  "
        print(
            f"[{self.name}] {self.done}/{self.total}  objective {step.objective:.6g}  "
            f"rank {step.rank}  {gap}{elapsed:.1f} s, at most {left:.1f} s left",
            flush=True,
        )
