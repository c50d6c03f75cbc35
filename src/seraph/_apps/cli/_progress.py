"""Move a progress bar within a fit, by how far its gap has closed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from ... import FitState


def done_share(gap: float | None, first: float | None, tol: float, iteration: int) -> float:
    """Estimate how much of a fit is done, from 0 to 1.

    The gap falls from its first value to the tolerance by about a factor per iteration, so its
    logarithm moves evenly. Where there is no gap, iterations count, and the rest is unknown.

    Examples
    --------
    >>> round(done_share(1e-2, 1.0, 1e-4, iteration=3), 3)
    0.5
    >>> done_share(None, None, 1e-4, iteration=0)
    0.0
    """
    if gap is None or first is None or not gap > 0.0 or not first > tol:
        return iteration / (iteration + 20.0)
    return min(1.0, max(0.0, math.log(first / gap) / math.log(first / tol)))


def progress_callbacks(
    progress: Progress, total: int, tol: float
) -> tuple[Callable[[FitState], None] | None, Callable[[], None]]:
    """Return what to call after each iteration and after each fit.

    They are functions, not methods, because a copy of the learner copies its callback.

    Parameters
    ----------
    progress : Progress
        The bar.
    total : int
        Number of fits.
    tol : float
        Gap at which a fit ends.
    """
    task = progress.add_task("learning", total=total)
    fits = 0
    first: float | None = None
    share = 0.0

    def after_iteration(state: FitState) -> None:
        nonlocal first, share
        if state.iteration <= 1:
            first, share = None, 0.0  # a new fit, perhaps within a search
        first = state.gap if first is None else first
        # It never moves backward, and the last hundredth belongs to the end of the fit.
        share = max(share, min(0.99, done_share(state.gap, first, tol, state.iteration)))
        gap = "" if state.gap is None else f", gap {state.gap:.0e}"
        what = "checking" if fits else "learning"
        progress.update(
            task,
            completed=min(total, fits + share),
            description=f"{what}, iteration {state.iteration}{gap}, rank {state.rank}",
        )

    def after_fit() -> None:
        nonlocal fits
        fits += 1
        progress.update(task, completed=min(total, fits))

    return None if progress.disable else after_iteration, after_fit
