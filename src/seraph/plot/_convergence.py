"""Draw the progress of a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._colors import BLUE
from ._data import Learner, needed, unwrap
from ._figure import Where, panels, rank_axes, say


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay:
    """Objective and rank after each iteration, and the gap to the final objective.

    Parameters
    ----------
    objective : array-like of shape (n_iterations,)
        Objective after each iteration.
    rank : array-like of shape (n_iterations,), optional
        Rank of the metric after each iteration.
    final : float, optional
        Objective of the final metric. None means that of the last iteration.
    first : int, default=1
        Number of the first iteration; 0 if the history starts with the initial objective.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2,)
        Axes of the objective, and of its gap to the final objective.
    rank_ax_ : matplotlib Axes or None
        Axes of the rank, to the right of the objective; None without a rank.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from seraph.plot import ConvergenceDisplay
    >>> display = ConvergenceDisplay(objective=[-9.0, -5.0, -4.1, -4.0], rank=[5, 3, 2, 2])
    >>> [ax.get_yscale() for ax in display.plot().axes_]
    ['linear', 'log']
    """

    objective: ArrayLike
    rank: ArrayLike | None = None
    final: float | None = None
    first: int = 1

    @classmethod
    def from_estimator(
        cls,
        estimator: Learner,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        ax: Where = None,
    ) -> Self:
        """Draw how the solver of a fitted learner progressed.

        A learner may solve several problems in turn: the M-steps of ``solver="em"``, the
        scales of the full model. Each has its own objective, so the line jumps between them. The
        low-rank solver records the width of its factor, an upper bound on the rank; the last
        value shown is the rank of the metric.

        Parameters
        ----------
        estimator : fitted learner
            Any learner with ``history_``: ``SERAPH``, ``SERAPHCV``, ``KernelSERAPH``, and the
            classic ``LDM`` and ``MFDA``.
        X, y
            Not used; accepted so that all displays have the same signature.
        ax : matplotlib Axes, or two of them, optional
            Axes to draw on; by default, those of a new figure. A single one is split in two.

        Returns
        -------
        ConvergenceDisplay
        """
        estimator, _, _ = unwrap(estimator, None)
        estimator = getattr(estimator, "learner_", estimator)  # of a KernelSERAPH
        hint = "SERAPH, SERAPHCV, KernelSERAPH, LDM and MFDA record their iterations."
        history = needed(cls.__name__, estimator, "history_", hint)
        objective = np.asarray(history["objective"])
        rank = np.array(history["rank"]) if "rank" in history else None
        if rank is not None and len(rank):
            rank[-1] = len(needed(cls.__name__, estimator, "learned_components_", hint))
        n_iter = getattr(estimator, "n_iter_", len(objective))
        display = cls(
            objective=objective,
            rank=rank,
            final=getattr(estimator, "objective_", None),
            first=n_iter - len(objective) + 1,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the objective and the rank on the left, the gap to the final one on the right.

        Parameters
        ----------
        ax : matplotlib Axes, or two of them, optional
            Axes to draw on; by default, those of a new figure. A single one is split in two.

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
        right.set(title="Gap to the final objective", xlabel="iteration", yscale="log")
        right.set_ylabel("|objective - final objective|", color=BLUE)
        self.rank_ax_ = None
        self.axes_, self.figure_ = np.array([left, right]), figure
        if len(values) == 0:
            for panel in (left, right):
                say(panel, "The solver took no iterations:\nthe initial metric is final.")
            return self
        if self.rank is not None:
            rank = np.asarray(self.rank)
            self.rank_ax_ = rank_axes(left, number, rank)
            self.rank_ax_.plot(number[-1], rank[-1], "o", color="0.6", markersize=5)
        seen = np.isfinite(values)
        left.plot(number[seen], values[seen], **style)
        final = values[-1] if self.final is None else float(self.final)
        with np.errstate(invalid="ignore"):  # a ratio of traces may end at infinity
            gap = np.abs(values - final)
        seen = np.isfinite(gap) & (gap > 0.0)
        margin = max(0.5, 0.02 * len(values))
        for panel in (left, right):
            panel.locator_params(axis="x", integer=True)
            panel.set_xlim(number[0] - margin, number[-1] + margin)
        right.plot(number[seen], gap[seen], **style)
        if not seen.any():
            say(right, "No iteration has a finite gap above 0.")
        return self
