"""The way a solver went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._figure import BLUE, panels, say
from ._learner import Learner, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from ._figure import Where


class ConvergenceDisplay:
    """Objective and rank in each iteration, and how far the end was.

    Parameters
    ----------
    objective : array-like of shape (n_iterations,)
        Objective after each iteration.
    rank : array-like of shape (n_iterations,), optional
        Rank of the metric after each.
    final : float, optional
        Objective of the metric in the end. None is that of the last iteration.
    first : int, default=1
        Number of the first iteration; 0 where the objective begins before it.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2,)
        Axes of the objective, and of its distance to the final one.
    rank_ax_ : matplotlib Axes or None
        Axes of the rank, on the right of the first; None where the rank is not told.
    figure_ : matplotlib Figure
        The figure they are in.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from seraph import ConvergenceDisplay
    >>> display = ConvergenceDisplay(objective=[-9.0, -5.0, -4.1, -4.0], rank=[5, 3, 2, 2])
    >>> [ax.get_yscale() for ax in display.plot().axes_]
    ['linear', 'log']
    """

    axes_: NDArray
    rank_ax_: Axes | None
    figure_: Figure | SubFigure

    def __init__(
        self,
        *,
        objective: ArrayLike,
        rank: ArrayLike | None = None,
        final: float | None = None,
        first: int = 1,
    ) -> None:
        self.objective = objective
        self.rank = rank
        self.final = final
        self.first = first

    @classmethod
    def from_estimator(
        cls,
        estimator: Learner,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        ax: Where = None,
    ) -> Self:
        """Draw the way that the solver of a fitted learner went.

        Where several problems were solved in turn (the M-steps of ``algorithm="em"``, the scales
        of the full model) each has an objective of its own: the line jumps from one to the next.
        The low-rank solver tells the width of its factor, which is the rank at most; the rank in
        the end is that of the metric.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``history_``: ``SERAPH``, ``SERAPHCV``, ``KernelSERAPH``, and of the
            classic learners ``LDM`` and ``MFDA``.
        X, y
            Not used; all displays are called alike.
        ax : matplotlib Axes, or two of them, optional
            Where to draw; by default, in a new figure. The place of one is divided.

        Returns
        -------
        ConvergenceDisplay
        """
        hint = "SERAPH, SERAPHCV, KernelSERAPH, LDM and MFDA remember their iterations."
        history = needed(cls.__name__, estimator, "history_", hint)
        objective = np.asarray(history["objective"])
        rank = np.array(history["rank"]) if "rank" in history else None
        if rank is not None and len(rank):
            rank[-1] = len(needed(cls.__name__, estimator, "components_", hint))
        n_iter = getattr(estimator, "n_iter_", len(objective))
        display = cls(
            objective=objective,
            rank=rank,
            final=getattr(estimator, "objective_", None),
            first=n_iter - len(objective) + 1,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the objective and the rank on the left, the distance to the end on the right.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            Where to draw; by default, in a new figure. The place of one is divided.

        Returns
        -------
        ConvergenceDisplay
            Itself, with ``axes_``, ``rank_ax_`` and ``figure_``.
        """
        (left, right), figure = panels(ax, 2)
        values = np.asarray(self.objective, dtype=np.float64)
        number = self.first + np.arange(len(values))
        style: dict[str, Any] = {"color": BLUE, "marker": "." if len(values) < 50 else None}
        left.set(title="Objective", xlabel="iteration")
        left.set_ylabel("objective", color=BLUE)
        right.set(title="Distance to the end", xlabel="iteration", yscale="log")
        right.set_ylabel("distance to the final objective", color=BLUE)
        self.rank_ax_ = None
        self.axes_, self.figure_ = np.array([left, right]), figure
        if len(values) == 0:
            for panel in (left, right):
                say(panel, "There was nothing to iterate:\nthe first metric was the last.")
            return self
        if self.rank is not None:
            self.rank_ax_ = _steps(left, number, np.asarray(self.rank))
        seen = np.isfinite(values)
        left.plot(number[seen], values[seen], **style)
        final = values[-1] if self.final is None else float(self.final)
        with np.errstate(invalid="ignore"):  # a ratio of traces may be infinite in the end
            away = np.abs(values - final)
        seen = np.isfinite(away) & (away > 0.0)
        beside = max(0.5, 0.02 * len(values))
        for panel in (left, right):
            panel.locator_params(axis="x", integer=True)
            panel.set_xlim(number[0] - beside, number[-1] + beside)
        right.plot(number[seen], away[seen], **style)
        if not seen.any():
            say(right, "No iteration is away from the end.")
        return self


def _steps(ax: Axes, number: NDArray, rank: NDArray) -> Axes:
    """The rank as grey steps behind the line, on axes of its own."""
    rank_ax = ax.twinx()
    rank_ax.step(number, rank, where="post", color="0.6", linewidth=1)
    rank_ax.plot(number[-1], rank[-1], "o", color="0.6", markersize=5)
    rank_ax.set_ylabel("rank (grey)")
    rank_ax.set_ylim(0, max(1, int(rank.max())) * 1.1)
    rank_ax.locator_params(axis="y", integer=True)
    ax.set_zorder(rank_ax.get_zorder() + 1)
    ax.patch.set_visible(False)
    return rank_ax
