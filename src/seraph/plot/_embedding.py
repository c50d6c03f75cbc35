"""Draw the points in the plane, before and after learning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._marks import Marks
from .._utils._typing import Array
from ._data import BLUE, Where, before_and_after, class_codes, panels, principal, say, unwrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colors that most color-blind people can distinguish: those of Okabe and Ito (2008) except
# yellow, which is hard to see on white, and three darker ones of Tol (2021). Each class also has
# its own marker.
_RED = "#D55E00"
_COLORS = (
    BLUE, "#E69F00", "#009E73", _RED, "#CC79A7", "#56B4E9", "black", "#882255", "#999933",
    "#332288",
)  # fmt: skip
_MARKERS = "os^DvPX<>p*"
_UNKNOWN = "0.6"  # gray, for points of unknown class
_LINES: dict[str, dict[str, Any]] = {
    "similar": {"color": BLUE},
    "dissimilar": {"color": _RED, "linestyle": "--"},
}
_EDGE: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.8}  # for labeled points


@dataclass(kw_only=True, eq=False, repr=False)
class EmbeddingDisplay:
    """Points in the plane, before and after the learned map.

    Both sides show the two leading principal components, so that distances in the plane come as
    close to the true ones as possible. (The first two coordinates of a learned map would not do:
    rotating the map changes no distance, and some learners leave the rotation to chance.) Labeled
    points are large with a black edge; the others are faint. Lines join marked pairs: blue ones
    are similar, dashed red ones dissimilar.

    Parameters
    ----------
    before : array-like of shape (n_samples, n_directions)
        Coordinates before, in up to two directions. With one direction, each class gets its own
        line; with none, all points coincide.
    after : array-like of shape (n_samples, n_directions)
        Coordinates after.
    classes : array-like of shape (n_samples,), optional
        Classes, shown by color and marker; -1, NaN or None where unknown.
    labeled : array-like of bool of shape (n_samples,), optional
        Which points were labeled for the learner. None means all points of known class.
    before_shares, after_shares : array-like of shape (n_directions,), optional
        Share of the variance in each direction, shown in the axis labels.
    marks : Marks, optional
        Pairs of points to join by lines.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2,)
        Axes of the points before and after.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from seraph import SERAPH
    >>> from seraph.plot import EmbeddingDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> y_partial = np.where(np.arange(len(y)) % 10 == 0, y, -1)  # 15 labels
    >>> learner = SERAPH().fit(X, y_partial)
    >>> display = EmbeddingDisplay.from_estimator(learner, X, y_partial, classes=y)
    >>> [ax.get_title() for ax in display.axes_]
    ['Before (Euclidean)', 'After (learned)']
    """

    before: ArrayLike
    after: ArrayLike
    classes: ArrayLike | None = None
    labeled: ArrayLike | None = None
    before_shares: ArrayLike | None = None
    after_shares: ArrayLike | None = None
    marks: Marks | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        classes: ArrayLike | None = None,
        marks: Marks | None = None,
        ax: Where = None,
    ) -> Self:
        """Map points with a fitted learner, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``transform``: a seraph learner, or a pipeline that ends in one.
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,), optional
            Class labels as in ``fit``, -1 where unknown.
        classes : array-like of shape (n_samples,), optional
            True classes for the colors, if you know more of them than the learner.
        marks : Marks, optional
            Marks of the rows of `X`.
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        estimator, X, _ = unwrap(estimator, X)
        points, mapped = before_and_after(cls.__name__, estimator, X)
        before, _, before_shares = principal(points, 2)
        after, _, after_shares = principal(mapped, 2)
        codes, _ = class_codes(y, len(points))
        display = cls(
            before=before,
            after=after,
            classes=y if classes is None else classes,
            labeled=codes >= 0,
            before_shares=before_shares,
            after_shares=after_shares,
            marks=marks,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Where = None) -> Self:
        """Draw the points, before on the left and after on the right.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        axes, figure = panels(ax)
        codes, names = class_codes(self.classes, len(np.asarray(self.before)), "classes")
        labeled = codes >= 0 if self.labeled is None else np.asarray(self.labeled, dtype=bool)
        sides = ((self.before, self.before_shares), (self.after, self.after_shares))
        titles = ("Before (Euclidean)", "After (learned)")
        for panel, (points, shares), title in zip(axes, sides, titles, strict=True):
            panel.set_title(title)
            flat = np.asarray(points, dtype=np.float64)[:, :2]
            if flat.shape[1] == 0:
                say(panel, "All points coincide:\nevery distance is zero.")
                continue
            if flat.shape[1] == 1:
                flat = _as_lines(panel, flat[:, 0], codes, names)
            else:
                panel.set(aspect="equal", adjustable="datalim", yticks=[])
                panel.set_ylabel(_axis_name(2, shares))
            panel.set(xticks=[], xlabel=_axis_name(1, shares))
            _scatter(panel, flat, codes, labeled)
            if self.marks is not None:
                _join(panel, flat, self.marks)
        # Outside the axes the legend hides no point, but only a layout engine makes room for it.
        beside = figure.get_layout_engine() is not None
        _legend(axes[1], names, labeled, beside=beside)
        self.axes_, self.figure_ = np.array(axes), figure
        return self


def _axis_name(number: int, shares: ArrayLike | None) -> str:
    share = "" if shares is None else f" ({100 * np.asarray(shares)[number - 1]:.0f} %)"
    return f"component {number}{share}"


def _as_lines(ax: Axes, points: Array, codes: Array, names: list[str]) -> Array:
    """Place one-dimensional points on one line per class, with random vertical offsets."""
    present = np.unique(codes)
    ax.set_ylim(present[0] - 0.7, present[-1] + 0.7)
    if names:
        ax.set_yticks(present, [names[code] if code >= 0 else "unknown" for code in present])
    else:
        ax.set(yticks=[], ylabel="(random vertical offsets)")
    jitter = np.random.default_rng(0).uniform(-0.3, 0.3, size=len(points))
    return np.column_stack([points, codes + jitter])


def _style(code: int) -> dict[str, Any]:
    if code < 0:
        return {"color": _UNKNOWN, "marker": "o"}
    return {"color": _COLORS[code % len(_COLORS)], "marker": _MARKERS[code % len(_MARKERS)]}


def _scatter(ax: Axes, flat: Array, codes: Array, labeled: Array) -> None:
    # Shrink many labeled points, so that they do not hide each other.
    size = float(np.clip(6000 / max(1, labeled.sum()), 16, 60))
    for code in np.unique(codes):
        rows = codes == code
        (x, y), (x_known, y_known) = flat[rows & ~labeled].T, flat[rows & labeled].T
        ax.scatter(x, y, s=14, alpha=0.4, linewidths=0, rasterized=True, **_style(code))
        ax.scatter(x_known, y_known, s=size, zorder=3, **_EDGE, **_style(code))


def _join(ax: Axes, flat: Array, marks: Marks) -> None:
    """Draw lines between the points of marked pairs."""
    for kind, style in _LINES.items():
        pairs = marks.pairs[np.asarray(marks.similar) == (kind == "similar")]
        if len(pairs):
            # One line that is interrupted after each pair.
            ends = np.insert(flat[pairs], 2, np.nan, axis=1).reshape(-1, 2)
            ax.plot(*ends.T, linewidth=1, alpha=0.6, zorder=2, label=kind, **style)


def _legend(ax: Axes, names: list[str], labeled: Array, *, beside: bool) -> None:
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if beside else {}
    handles: list[Any] = [
        ax.scatter([], [], s=40, label=name, **_style(code)) for code, name in enumerate(names)
    ]
    if labeled.any() and not labeled.all():
        handles.append(ax.scatter([], [], s=50, color="white", label="labeled", **_EDGE))
        handles.append(ax.scatter([], [], s=14, color=_UNKNOWN, linewidths=0, label="unlabeled"))
    handles += ax.lines
    if handles:
        legend = ax.legend(handles=handles, frameon=not beside, **place)
        for text in legend.get_texts():
            text.set_parse_math(False)  # a $ in the name of a class begins no formula
