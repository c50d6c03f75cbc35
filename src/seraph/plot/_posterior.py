"""How sure the model is of the pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from ._figure import BLUE, RED, panels
from ._labels import class_codes
from ._learner import Learner, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from ._figure import Where

_BINS = 20
_CHUNK = 1000  # pairs to ask a learner about at a time: a kernel stores a row for each point


class PosteriorDisplay:
    """Histogram of the probability that a pair is similar: posterior sparsity, seen.

    A model that has decided puts its pairs near 0 and 1; the weight ``mu`` of SERAPH's
    entropy asks it to do so for the unlabelled ones, too. The bars are shares of the pairs of
    each kind: there are many more unlabelled pairs than others.

    Parameters
    ----------
    similar, dissimilar, unlabeled : array-like of shape (n_pairs,)
        Probabilities of the pairs of each kind, each in any order; any may be empty.
    largest : float, optional
        Probability of a pair at distance zero, than which there is none larger; marked if given.
        It is ``1 / (1 + exp(kappa eta))``, 0.73 for ``eta=1`` in the simplified model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the histogram.
    figure_ : matplotlib Figure
        The figure they are in.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from seraph import SERAPH, PosteriorDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> some = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # 15 labels
    >>> display = PosteriorDisplay.from_estimator(SERAPH().fit(X, some), X, some)
    >>> len(display.similar), len(display.dissimilar), len(display.unlabeled)
    (30, 75, 11070)
    """

    ax_: Axes
    figure_: Figure | SubFigure

    def __init__(
        self,
        *,
        similar: ArrayLike,
        dissimilar: ArrayLike,
        unlabeled: ArrayLike,
        largest: float | None = None,
    ) -> None:
        self.similar = similar
        self.dissimilar = dissimilar
        self.unlabeled = unlabeled
        self.largest = largest

    @classmethod
    def from_estimator(
        cls,
        estimator: Learner,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
        max_pairs: int = 20_000,
        random_state: int = 0,
        ax: Where = None,
    ) -> Self:
        """Ask a fitted learner about pairs, and draw what it says.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``pair_proba``: ``SERAPH``, ``SERAPHCV``, ``KernelSERAPH``.
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels as in ``fit``, -1 where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of marked pairs, as in ``fit``.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for those that are alike, -1 or False for those that are not.
        max_pairs : int, default=20_000
            Where there are more pairs than that, as many are drawn at random, with
            replacement: once from the pairs of labelled points, once from all pairs. A bar of the
            histogram is then off by a third of a percent, typically.
        random_state : int, default=0
            Seed of the draw.
        ax : matplotlib Axes, optional
            Where to draw; by default, in a new figure.

        Returns
        -------
        PosteriorDisplay
        """
        hint = "SERAPH, SERAPHCV and KernelSERAPH have a model of the pairs."
        pair_proba = needed(cls.__name__, estimator, "pair_proba", hint)
        points = check_array(X, dtype=(np.float64, np.float32))
        codes, _ = class_codes(y, len(points))
        marked, alike = _marked(pairs, pair_labels, codes)
        rng = np.random.default_rng(random_state)

        known = np.flatnonzero(codes >= 0)
        labeled = known[_draw(len(known), max_pairs, rng)]
        same = codes[labeled[:, 0]] == codes[labeled[:, 1]]
        labeled, same = np.concatenate([labeled, marked]), np.concatenate([same, alike])

        others = _draw(len(points), max_pairs, rng)
        others = others[(codes[others] < 0).any(axis=1)]
        others = others[~np.isin(_keys(others, len(points)), _keys(marked, len(points)))]

        def ask(rows: NDArray) -> NDArray:
            chunks = [rows[k : k + _CHUNK] for k in range(0, len(rows), _CHUNK)]
            return np.concatenate([np.empty(0), *(pair_proba(points[chunk]) for chunk in chunks)])

        display = cls(
            similar=ask(labeled[same]),
            dissimilar=ask(labeled[~same]),
            unlabeled=ask(others),
            largest=float(ask(np.array([[0, 0]]))[0]),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the unlabelled pairs as grey bars, the labelled ones as outlines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default, in a new figure.

        Returns
        -------
        PosteriorDisplay
            Itself, with ``ax_`` and ``figure_``.
        """
        (panel,), figure = panels(ax)
        kinds: tuple[tuple[str, ArrayLike, dict[str, Any]], ...] = (
            ("unlabelled", self.unlabeled, {"fill": True, "color": "0.8"}),
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
            style = {"color": "black", "linestyle": ":", "label": "at distance 0"}
            panel.axvline(self.largest, ymax=0.7, **style)
        panel.set(
            xlim=(-0.01, 1.01),
            xlabel="probability that the pair is similar",
            ylabel="share of the pairs of a kind, %",
        )
        # Above the bars there is room for the legend, and no share.
        panel.margins(y=0.4)
        panel.yaxis.set_major_formatter(lambda share, _: f"{share:g}" if share <= 100 else "")
        panel.legend(loc="upper center")
        self.ax_, self.figure_ = panel, figure
        return self


def _draw(n: int, size: int, rng: np.random.Generator) -> NDArray:
    """All pairs of `n` rows; or `size` of them, where there are more."""
    if n * (n - 1) // 2 <= size:
        return np.column_stack(np.triu_indices(n, k=1))
    first, other = rng.integers(n, size=size), rng.integers(n - 1, size=size)
    return np.column_stack([first, other + (other >= first)])


def _marked(
    pairs: ArrayLike | None, pair_labels: ArrayLike | None, codes: NDArray
) -> tuple[NDArray, NDArray]:
    """Marked pairs that do not follow from the class codes, each once; and which are similar."""
    nothing = np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=bool)
    if pairs is None and pair_labels is None:
        return nothing
    rows, signs = np.asarray(pairs), np.asarray(pair_labels)
    if rows.size == signs.size == 0:
        return nothing
    if rows.ndim != 2 or rows.shape[1] != 2 or signs.shape != (len(rows),):
        raise ValueError(
            "pairs must have shape (n_pairs, 2) and pair_labels one label for each, as in fit; "
            f"got shapes {rows.shape} and {signs.shape}."
        )
    _, once = np.unique(_keys(rows, len(codes)), return_index=True)
    kept = np.sort(once[(codes[rows[once]] < 0).any(axis=1)])
    return rows[kept], signs[kept] > 0


def _keys(pairs: NDArray, n: int) -> NDArray:
    """A number for each pair of `n` rows, whichever comes first."""
    return pairs.min(axis=1) * n + pairs.max(axis=1)
