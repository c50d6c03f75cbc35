"""Draw how certain the model is about the pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from .._marks import Marks, PairLabels
from .._utils._tiles import row_slices
from .._utils._typing import Array
from .._utils._validation import as_numbers, check_number, check_seed
from ._colors import BLUE, RED
from ._data import Where, panels, require, unwrap

_BINS = 20
_CHUNK = 1000  # pairs per call: a kernel learner stores a row of kernel values per point


@dataclass(kw_only=True, eq=False, repr=False)
class PosteriorDisplay:
    """Histogram of the probability that a pair is similar: a picture of posterior sparsity.

    A confident model puts its pairs near 0 and 1; the entropy in SERAPH's objective, weighted by
    ``mu``, pushes the unlabeled pairs there too. Each bar is a share of the pairs of its kind,
    because unlabeled pairs far outnumber the others.

    Parameters
    ----------
    similar, dissimilar, unlabeled : array-like of shape (n_pairs,)
        Probabilities of the pairs of each kind, in any order; may be empty.
    largest : float, optional
        Probability of a pair at distance zero, the largest possible; marked if given. It is
        ``1 / (1 + exp(kappa eta))``, or 0.73 for ``eta=1`` in the simplified model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the histogram.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from seraph import SERAPH
    >>> from seraph.plot import PosteriorDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> y_partial = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # 15 labels
    >>> display = PosteriorDisplay.from_estimator(SERAPH().fit(X, y_partial), X, y_partial)
    >>> len(display.similar), len(display.dissimilar), len(display.unlabeled)
    (30, 75, 11070)
    """

    similar: ArrayLike
    dissimilar: ArrayLike
    unlabeled: ArrayLike
    largest: float | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        marks: Marks | None = None,
        max_pairs: int = 20_000,
        random_state: int | np.random.RandomState | None = None,
        ax: Where = None,
    ) -> Self:
        """Compute the probabilities of pairs with a fitted learner, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``pair_proba``: ``SERAPH``, ``KernelSERAPH``.
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels as in ``fit``, -1 where unknown.
        marks : Marks, optional
            Marks of the rows of `X`.
        max_pairs : int, default=20_000
            If there are more pairs, this many are sampled with replacement: once from the pairs
            of labeled points, once from all pairs. Each bar is then off by about a third of a
            percentage point.
        random_state : int, RandomState instance or None, default=None
            Seed of the sample.
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        check_number("max_pairs", max_pairs, low=1, integer=True)
        check_seed(random_state)
        table = X
        estimator, X, _ = unwrap(estimator, X)
        pair_proba = require(cls.__name__, estimator, "pair_proba", "pass a SERAPH.")
        with as_numbers("X", X):
            points = check_array(X, dtype=(np.float64, np.float32))
        n = len(points)
        labels = PairLabels.of(table, n, y, marks, required=False)
        codes, rng = labels.codes, check_random_state(random_state)
        known = np.flatnonzero(codes >= 0)
        labeled = known[sample_pairs(len(known), max_pairs, rng)]
        same = np.r_[codes[labeled[:, 0]] == codes[labeled[:, 1]], labels.similar]
        labeled = np.concatenate([labeled, labels.pairs])
        others = sample_pairs(n, max_pairs, rng)
        others = others[(codes[others] < 0).any(axis=1)]
        others = others[~np.isin(_keys(others, n), _keys(labels.pairs, n))]

        def probabilities(rows: Array) -> Array:
            parts = [pair_proba(points[rows[part]]) for part in row_slices(len(rows), _CHUNK)]
            return np.concatenate([np.empty(0), *parts])

        display = cls(
            similar=probabilities(labeled[same]),
            dissimilar=probabilities(labeled[~same]),
            unlabeled=probabilities(others),
            largest=float(probabilities(np.array([[0, 0]]))[0]),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the unlabeled pairs as gray bars, the labeled ones as outlines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        (panel,), figure = panels(ax)
        kinds: tuple[tuple[str, ArrayLike, dict[str, Any]], ...] = (
            ("unlabeled", self.unlabeled, {"fill": True, "color": "0.8"}),
            ("similar", self.similar, {"color": BLUE, "linewidth": 2}),
            ("dissimilar", self.dissimilar, {"color": RED, "linewidth": 2, "linestyle": "--"}),
        )
        for name, values, style in kinds:
            p = np.asarray(values, dtype=np.float64)
            if len(p):
                counts, edges = np.histogram(p, bins=_BINS, range=(0.0, 1.0))
                label = f"{name}, {len(p):,} pairs"
                panel.stairs(100 * counts / len(p), edges, label=label, **style)
        if self.largest is not None:
            style = {"color": "black", "linestyle": ":", "label": "pair at distance 0"}
            panel.axvline(self.largest, ymax=0.7, **style)
        panel.set(
            xlim=(-0.01, 1.01),
            xlabel="probability that the pair is similar",
            ylabel="share of the pairs of each kind, %",
        )
        # Leave room above the bars for the legend, without tick labels beyond 100 %.
        panel.margins(y=0.4)
        panel.yaxis.set_major_formatter(lambda share, _: f"{share:g}" if share <= 100 else "")
        panel.legend(loc="upper center")
        self.ax_, self.figure_ = panel, figure
        return self


def sample_pairs(n: int, size: int, rng: np.random.RandomState) -> Array:
    """Return all pairs of `n` rows; or, if there are more than `size`, a random sample."""
    if n * (n - 1) // 2 <= size:
        return np.column_stack(np.triu_indices(n, k=1))
    first, other = rng.randint(n, size=size), rng.randint(n - 1, size=size)
    return np.column_stack([first, other + (other >= first)])


def _keys(pairs: Array, n: int) -> Array:
    """Number the pairs of `n` rows, regardless of the order within a pair."""
    first, second = np.sort(pairs, axis=1).T
    return np.asarray(first * n + second)
