"""Provide the axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._utils._optional import optional_module
from .._utils._typing import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as WholeFigure
    from matplotlib.figure import SubFigure


Figure: TypeAlias = "WholeFigure | SubFigure"
# Where a display draws: on given axes, or None for a new figure.
Where: TypeAlias = "Axes | Sequence[Axes] | Array | None"


def panels(ax: Where, n: int = 1) -> tuple[list[Axes], Figure]:
    """Return `n` axes to draw on, side by side, and their figure.

    `ax` is these axes; or one to split; or None for a new figure.
    """
    if ax is None:
        plt = optional_module("matplotlib.pyplot", "Pictures need matplotlib", "plot")
        size = (9.6, 4.4) if n > 1 else (6.4, 4.4)
        figure, axes = plt.subplots(1, n, squeeze=False, figsize=size, layout="constrained")
        return axes[0].tolist(), figure
    given: list[Any] = np.ravel(np.asarray(ax, dtype=object)).tolist()
    if len(given) == 1 and n > 1:
        return _split(given[0], n), given[0].figure
    if len(given) != n:
        raise ValueError(
            f"This display draws on {n} axes, but {len(given)} were given: pass {n} axes, or one "
            "to split."
        )
    return given, given[0].figure


def say(ax: Axes, text: str) -> None:
    """Write in the middle of empty axes why there is nothing to see."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.35")
    ax.set(xticks=[], yticks=[])


def _split(ax: Axes, n: int) -> list[Axes]:
    """Add `n` axes in the place of one, which becomes invisible."""
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            f"These axes are not part of a grid, so they cannot be split: pass {n} axes, or one "
            "made by plt.subplots or figure.add_subplot."
        )
    ax.set_axis_off()
    grid = spec.subgridspec(1, n)
    return [ax.figure.add_subplot(grid[k]) for k in range(n)]
