"""Draw the matrix of all distances, before and after learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist, squareform

from .._utils._tiles import spaced
from .._utils._typing import Array
from .._utils._validation import check_number
from ._data import Where, before_and_after, class_codes, panels, unwrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class DistanceDisplay:
    """Matrices of all distances before and after learning, with the points ordered by class.

    A good distance has dark blocks on the diagonal: small distances within the classes. The
    scale of a distance carries no meaning, so each matrix is divided by its mean. Both share one
    color scale, which ends at the 99th percentile.

    Parameters
    ----------
    before, after : array-like of shape (n_samples, n_samples)
        Distances, with the points in any order.
    classes : array-like of shape (n_samples,), optional
        Classes to order the points by; -1, NaN or None where unknown.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2,)
        Axes of the matrices before and after.
    colorbar_ : matplotlib Colorbar
        Their common color scale.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from seraph import SERAPH
    >>> from seraph.plot import DistanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = DistanceDisplay.from_estimator(SERAPH().fit(X, y), X, y, max_points=60)
    >>> display.before.shape
    (50, 50)
    """

    before: ArrayLike
    after: ArrayLike
    classes: ArrayLike | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        max_points: int = 400,
        ax: Where = None,
    ) -> Self:
        """Compute the Euclidean and the learned distances, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``transform``: a seraph learner, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Classes, -1 where unknown; you may know more of them than the learner. Points of
            unknown class are left out, unless no class is known at all.
        max_points : int, default=400
            If there are more points, evenly spaced ones are shown, at most so many.
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        check_number("max_points", max_points, low=1, integer=True)
        estimator, X, _ = unwrap(estimator, X)
        points, mapped = before_and_after(cls.__name__, estimator, X)
        codes, _ = class_codes(y, len(points))
        rows = np.flatnonzero(codes >= 0) if (codes >= 0).any() else np.arange(len(points))
        rows = rows[spaced(len(rows), max_points)]
        display = cls(
            before=squareform(pdist(points[rows])),
            after=squareform(pdist(mapped[rows])),
            classes=None if y is None else np.asarray(y, dtype=object)[rows],
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the matrices, before on the left and after on the right.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        sides = [_relative(side) for side in (self.before, self.after)]
        codes, names = class_codes(self.classes, len(sides[0]), "classes")
        axes, figure = panels(ax, 2)
        order = np.argsort(np.where(codes < 0, len(names), codes), kind="stable")
        largest = max(float(np.percentile(side, 99)) for side in sides) or 1.0
        titles = ("Before (Euclidean)", "After (learned)")
        for panel, side, title in zip(axes, sides, titles, strict=True):
            image = panel.imshow(side[np.ix_(order, order)], cmap="viridis", vmin=0, vmax=largest)
            panel.set(title=title, xticks=[], yticks=[])
            _blocks(panel, codes[order], names, named=panel is axes[0])
        self.colorbar_ = figure.colorbar(
            image, ax=axes, label="distance / mean distance", extend="max", shrink=0.85
        )
        self.axes_, self.figure_ = np.array(axes), figure
        return self


def _relative(distances: ArrayLike) -> Array:
    """Divide distances by their mean over pairs of different points."""
    matrix = np.asarray(distances, dtype=np.float64)
    mean = matrix.sum() / max(1, len(matrix) * (len(matrix) - 1))
    return matrix / mean if mean > 0.0 else matrix


def _blocks(ax: Axes, codes: Array, names: list[str], *, named: bool) -> None:
    """Draw lines between the classes, and their names."""
    if not names:
        return
    ends = np.flatnonzero(np.diff(codes)) + 1
    for end in ends:
        ax.axhline(end - 0.5, color="white", linewidth=1)
        ax.axvline(end - 0.5, color="white", linewidth=1)
    if named:
        starts, stops = np.append(0, ends), np.append(ends, len(codes))
        wide = stops - starts >= 0.03 * len(codes)  # names of smaller blocks would overlap
        labels = [names[code] if code >= 0 else "unknown" for code in codes[starts[wide]]]
        ax.set_yticks((starts + stops)[wide] / 2 - 0.5, labels, parse_math=False)
        ax.tick_params(axis="y", length=0)
