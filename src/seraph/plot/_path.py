"""Draw the metric along the regularization path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array
from ._figure import panels, rank_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class _Path(Protocol):
    """The attributes of a regularization path that the display needs."""

    lams: Array
    auto_lam: float

    @property
    def eigenvalues(self) -> Array: ...

    @property
    def ranks(self) -> Array: ...


@dataclass(kw_only=True, eq=False, repr=False)
class RegularizationPathDisplay:
    """Eigenvalues and rank of the metric as functions of the weight of the trace.

    Parameters
    ----------
    lams : array-like of shape (n_lams,)
        Weights of the trace.
    eigenvalues : array-like of shape (n_lams, max_rank)
        Eigenvalues of the metric at each weight.
    ranks : array-like of shape (n_lams,)
        Rank of the metric at each weight.
    auto_lam : float, optional
        The value of ``lam="auto"``; marked if given.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the eigenvalues.
    rank_ax_ : matplotlib Axes
        Axes of the rank, on the right.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from seraph.plot import RegularizationPathDisplay
    >>> display = RegularizationPathDisplay(
    ...     lams=[10.0, 5.0, 1.0], eigenvalues=[[0, 0], [1, 0], [2, 1]], ranks=[0, 1, 2]
    ... )
    >>> display.plot().ax_.get_xlabel()
    'weight of the trace, lam'
    """

    lams: ArrayLike
    eigenvalues: ArrayLike
    ranks: ArrayLike
    auto_lam: float | None = None

    @classmethod
    def from_path(cls, path: _Path, *, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Draw a path returned by `seraph_path`.

        Parameters
        ----------
        path : RegularizationPath
            The path.
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        **line_kw : dict
            Properties of the lines of the eigenvalues.

        Returns
        -------
        RegularizationPathDisplay
        """
        display = cls(
            lams=path.lams,
            eigenvalues=path.eigenvalues,
            ranks=path.ranks,
            auto_lam=path.auto_lam,
        )
        return display.plot(ax=ax, **line_kw)

    def plot(self, *, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Draw each eigenvalue as a line, and the rank as steps.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        **line_kw : dict
            Properties of the lines of the eigenvalues.

        Returns
        -------
        RegularizationPathDisplay
            Itself, with ``ax_``, ``rank_ax_`` and ``figure_``.
        """
        (ax,), figure = panels(ax)
        lams, ranks = np.asarray(self.lams), np.asarray(self.ranks)
        eigenvalues = np.asarray(self.eigenvalues, dtype=np.float64)
        for k, values in enumerate(eigenvalues.T):
            # Start each line at its last zero, so that it is seen to leave zero.
            shown = values > 0.0
            shown[:-1] |= shown[1:]
            ax.plot(lams[shown], values[shown], **{"color": f"C{k}", **line_kw})
        ax.set(
            xscale="log",
            xlabel="weight of the trace, lam",
            ylabel="eigenvalues of the metric",
        )
        ax.invert_xaxis()
        if self.auto_lam is not None and lams.min() <= self.auto_lam <= lams.max():
            ax.axvline(self.auto_lam, color="black", linestyle=":", linewidth=1)
            ax.annotate(
                'lam="auto"',
                (self.auto_lam, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(-3, -4),
                textcoords="offset points",
                ha="right",
                va="top",
                rotation=90,
            )
        rank_ax = rank_axes(ax, lams, ranks)
        self.ax_, self.rank_ax_, self.figure_ = ax, rank_ax, figure
        return self
