"""Draw the eigenvalues of a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ._data import Learner, needed, unwrapped
from ._figure import BLUE, Where, panels, say


@dataclass(kw_only=True, eq=False, repr=False)
class SpectrumDisplay:
    """Eigenvalues of the metric, its rank, and their cumulative share of its trace.

    Parameters
    ----------
    eigenvalues : array-like of shape (rank,)
        The positive eigenvalues, largest first.
    n_features : int, optional
        Number of features, shown beside the rank.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the eigenvalues; logarithmic if they differ by more than a factor of 100.
    share_ax_ : matplotlib Axes
        Axes of the share of the trace, on the right.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from seraph.plot import SpectrumDisplay
    >>> display = SpectrumDisplay(eigenvalues=[3.0, 1.0], n_features=13).plot()
    >>> display.ax_.get_title()
    'rank 2 of 13'
    """

    eigenvalues: ArrayLike
    n_features: int | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Learner,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        ax: Where = None,
    ) -> Self:
        """Compute the eigenvalues of a learned metric, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``components_``. The eigenvalues of ``KernelSERAPH`` are those of its
            metric on the kernel's feature space.
        X, y
            Not used; accepted so that all displays have the same signature.
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.

        Returns
        -------
        SpectrumDisplay
        """
        estimator, _, _ = unwrapped(estimator, None)
        estimator = getattr(estimator, "learner_", estimator)  # of a KernelSERAPH
        P = np.asarray(
            needed(cls.__name__, estimator, "components_", "pass a fitted metric learner.")
        )
        lengths = np.linalg.svd(P, compute_uv=False) if P.size else np.empty(0)
        # Drop singular values that are zero up to rounding.
        least = lengths.max(initial=0.0) * max(P.shape) * np.finfo(lengths.dtype).eps
        eigenvalues = lengths[lengths > least].astype(np.float64) ** 2
        isotropic = getattr(estimator, "isotropic_", 0.0)
        if isotropic:
            eigenvalues = np.pad(eigenvalues, (0, P.shape[1] - len(eigenvalues))) + isotropic**2
        return cls(eigenvalues=eigenvalues, n_features=P.shape[1]).plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the eigenvalues as points, and the cumulative share of the trace as a line.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.

        Returns
        -------
        SpectrumDisplay
            Itself, with ``ax_``, ``share_ax_`` and ``figure_``.
        """
        (panel,), figure = panels(ax)
        values = np.asarray(self.eigenvalues, dtype=np.float64)
        number = np.arange(1, len(values) + 1)
        order = "" if self.n_features is None else f" of {self.n_features}"
        panel.set(title=f"rank {len(values)}{order}", xlabel="eigenvalue number")
        panel.set_ylabel("eigenvalue of the metric", color=BLUE)
        share_panel = panel.twinx()
        share_panel.set(ylabel="cumulative share of the trace, % (gray)", ylim=(0, 105))
        if len(values) == 0:
            say(panel, "The metric is zero.")
        else:
            share = 100 * np.cumsum(values) / values.sum()
            many = len(values) > 30
            share_panel.plot(number, share, "--" if many else "s--", color="0.55", markersize=4)
            panel.plot(number, values, "o", color=BLUE, markersize=3 if many else 7)
            panel.set_xlim(0.6 - 0.02 * len(values), 1.02 * len(values) + 0.4)
            panel.locator_params(axis="x", integer=True)
            if values[0] > 100 * values[-1]:
                panel.set_yscale("log")
            else:
                panel.set_ylim(0, 1.05 * values[0])
        self.ax_, self.share_ax_, self.figure_ = panel, share_panel, figure
        return self
