"""Where to draw, and in which colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    Where = Axes | Sequence[Axes] | NDArray | None

# Colours that most colour-blind people tell apart: those of Okabe and Ito (2008) but for their
# yellow, which is lost on white; then three darker ones of Tol (2021). Markers tell the rest.
BLUE, RED = "#0072B2", "#D55E00"
COLOURS = (
    BLUE, "#E69F00", "#009E73", RED, "#CC79A7", "#56B4E9", "black", "#882255", "#999933", "#332288"
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*")


def panels(ax: Where, n: int = 1) -> tuple[list[Axes], Figure | SubFigure]:
    """`n` axes to draw on, side by side, and the figure they are in.

    Parameters
    ----------
    ax : matplotlib Axes, sequence of them, or None
        The axes; or one, whose place is divided; or None, for a new figure.
    n : int, default=1
        How many are needed.

    Returns
    -------
    list of matplotlib Axes, matplotlib Figure
        The axes and their figure.
    """
    if ax is None:
        figure = _new_figure(n)
        found = [figure.add_subplot(1, n, k + 1) for k in range(n)]
        return found, figure
    given: list[Any] = np.ravel(np.asarray(ax, dtype=object)).tolist()
    if len(given) == 1 and n > 1:
        return _divided(given[0], n), given[0].figure
    if len(given) != n:
        raise ValueError(
            f"This display draws on {n} axes, and {len(given)} were given: pass {n}, or one, "
            "whose place is divided if need be."
        )
    return given, given[0].figure


def say(ax: Axes, text: str) -> None:
    """Say in the middle of empty axes why there is nothing to see."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.35")
    ax.set(xticks=[], yticks=[])


def _new_figure(n: int) -> Figure:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'seraph-learn[plot]'.") from error
    return plt.figure(figsize=(9.6, 4.4) if n > 1 else (6.4, 4.4), layout="constrained")


def _divided(ax: Axes, n: int) -> list[Axes]:
    """`n` axes in the place of one, which stays there, empty."""
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError(
            f"These axes stand outside of any grid, so their place cannot be divided: pass {n} "
            "axes, or one that plt.subplots or figure.add_subplot has made."
        )
    ax.set_axis_off()
    grid = spec.subgridspec(1, n)
    return [ax.figure.add_subplot(grid[k]) for k in range(n)]
