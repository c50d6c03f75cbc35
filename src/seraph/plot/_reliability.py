"""Draw whether stated probabilities come true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from .._marks import Marks, PairLabels, Rows
from .._utils._validation import check_number, check_seed
from ..metrics._probability import equal_bins
from ._data import Learner, needed
from ._figure import BLUE, Where, panels
from ._posterior import sample_labeled


@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay:
    """Share of similar pairs against the stated probability: a reliability diagram.

    Pairs are sorted by their probability and cut into bins of about equal size. Each bin is a
    point; bars are 95 % intervals for independent pairs. Well-calibrated probabilities lie on the
    diagonal.

    Parameters
    ----------
    probabilities : array-like of shape (n_pairs,)
        Stated probabilities that the pairs are similar.
    similar : array-like of bool of shape (n_pairs,)
        Which pairs are.
    n_bins : int, default=10
        Number of bins; fewer if there are fewer pairs.
    name : str, optional
        Name for the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the diagram.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from seraph.plot import ReliabilityDisplay
    >>> p = [0.1, 0.2, 0.7, 0.9]
    >>> display = ReliabilityDisplay(probabilities=p, similar=[0, 0, 1, 1], n_bins=2).plot()
    >>> display.ax_.get_xlabel()
    'stated probability that the pair is similar'
    """

    probabilities: ArrayLike
    similar: ArrayLike
    n_bins: int = 10
    name: str | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Learner,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        n_bins: int = 10,
        name: str | None = None,
        max_pairs: int = 20_000,
        random_state: int | np.random.RandomState | None = None,
        ax: Where = None,
    ) -> Self:
        """Compute the probabilities of labeled pairs that the learner has not seen, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            A :class:`seraph.PairClassifier`, whose probabilities are calibrated, or anything
            with ``pair_proba``.
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels, -1 where unknown. All pairs of labeled points count.
        marks : Marks, optional
            Marks of the rows of `X`.
        n_bins : int, default=10
            Number of bins.
        name : str, optional
            Name for the legend. None is the name of the class.
        max_pairs : int, default=20_000
            If the classes imply more pairs, this many are sampled.
        random_state : int, RandomState instance or None, default=None
            Seed of the sample.
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.

        Returns
        -------
        ReliabilityDisplay
        """
        check_number("max_pairs", max_pairs, low=1, integer=True)
        check_seed(random_state)
        # (A classifier of rows has probabilities, too, but of classes.)
        calibrated = hasattr(estimator, "predict_proba") and hasattr(estimator, "pair_distance")
        method = "predict_proba" if calibrated else "pair_proba"
        hint = "pass a SERAPH or a PairClassifier."
        probability = needed(cls.__name__, estimator, method, hint)
        n = np.shape(X)[0]
        labels = PairLabels.of(X, n, y, marks)
        rows, similar = sample_labeled(labels, max_pairs, check_random_state(random_state))
        p = probability(Rows.of(X).called(rows), X)
        display = cls(
            probabilities=p[:, 1] if calibrated else p,
            similar=similar,
            n_bins=n_bins,
            name=name or type(estimator).__name__,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None, **line_kw: Any) -> Self:
        """Draw the bins as points with intervals, and the diagonal.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure. Several displays may share them.
        **line_kw : dict
            Properties of the points and their line.

        Returns
        -------
        ReliabilityDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        (panel,), figure = panels(ax)
        p = np.asarray(self.probabilities, dtype=np.float64)
        similar = np.asarray(self.similar, dtype=np.float64)
        bins = equal_bins(p, self.n_bins)
        stated = np.array([p[rows].mean() for rows in bins])
        share = np.array([similar[rows].mean() for rows in bins])
        sizes = np.array([len(rows) for rows in bins])
        error = 1.96 * np.sqrt(share * (1 - share) / sizes)
        if not panel.lines:
            panel.plot([0, 1], [0, 1], color="0.7", linestyle=":", zorder=0)
        style = {"color": BLUE, "marker": "o", "capsize": 2, "label": self.name, **line_kw}
        panel.errorbar(stated, share, yerr=error, **style)
        panel.set(
            xlim=(-0.02, 1.02),
            ylim=(-0.02, 1.02),
            aspect="equal",
            xlabel="stated probability that the pair is similar",
            ylabel="share of similar pairs",
        )
        if self.name:
            panel.legend(loc="upper left")
        self.ax_, self.figure_ = panel, figure
        return self
