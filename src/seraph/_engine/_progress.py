"""A line per iteration for those who watch."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Protocol


class _Step(Protocol):
    objective: float
    rank: int
    gap: float | None


@dataclass
class Progress:
    """Print where a solver stands after each iteration.

    Parameters
    ----------
    name : str
        Whose progress it is.
    total : int
        Number of iterations at most; the time left is told as an upper bound from it.
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
