"""Draw the importance of each feature in a metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from .._utils._typing import Array
from .._utils._validation import check_number
from ._data import BLUE, Where, before_and_after, panels, principal, require, say, unwrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureImportanceDisplay:
    r"""How much each feature contributes to the learned distance, and in which direction.

    The importance of feature f is :math:`2 A_{ff} \mathrm{Var}(x_f)`: the mean squared distance
    that a point moves when its value of f is replaced by that of a random point. The diagonal of
    the metric A alone would depend on the units: measuring in meters instead of millimeters
    multiplies :math:`A_{ff}` by a million but changes no distance. Correlated features share
    their importance.

    The loadings say how far one standard deviation of a feature moves a point along each
    principal component of the mapped points, the axes of `EmbeddingDisplay`.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Importance of each feature.
    loadings : array-like of shape (n_components, n_features)
        Loadings of the leading components; may be empty.
    feature_names : sequence of str, optional
        Names of the features. None means "x0", "x1", ...

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes of shape (2,)
        Axes of the importances and of the loadings; their rows are the same features.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from seraph import SERAPH
    >>> from seraph.plot import FeatureImportanceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = FeatureImportanceDisplay.from_estimator(SERAPH().fit(X, y), X)
    >>> display.importances.shape
    (4,)
    """

    importances: ArrayLike
    loadings: ArrayLike
    feature_names: Sequence[str] | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 12,
        ax: Where = None,
    ) -> Self:
        """Compute the importances and loadings of a learned metric, and draw them.

        Parameters
        ----------
        estimator : fitted learner
            Anything with ``components_`` and ``transform``.
        X : array-like of shape (n_samples, n_features)
            Points, used for the variance of the features.
        y : array-like of shape (n_samples,), optional
            Not used; accepted so that all displays have the same signature.
        feature_names : sequence of str, optional
            Names of the features. None means ``feature_names_in_``, or "x0", "x1", ...
        max_features : int, default=12
            Number of features to show, the most important first.
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        estimator, X, names = unwrap(estimator, X)
        hint = "pass a learner whose metric acts on the features of X."
        P = np.asarray(require(cls.__name__, estimator, "components_", hint), dtype=np.float64)
        points, mapped = before_and_after(cls.__name__, estimator, X)
        deviations = points.std(axis=0)
        importances = np.sum((P * deviations) ** 2, axis=0)
        _, directions, _ = principal(mapped, 3)
        loadings = directions @ P
        display = cls(
            importances=2.0 * importances,
            loadings=loadings * deviations,
            feature_names=names if feature_names is None else feature_names,
        )
        return display.plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int = 12, ax: Where = None) -> Self:
        """Draw the importances as bars and the loadings as a colored table.

        Parameters
        ----------
        max_features : int, default=12
            Number of features to show, the most important first.
        ax : sequence of two matplotlib Axes, optional
            Axes to draw on; by default, those of a new figure.
        """
        importances = np.asarray(self.importances, dtype=np.float64)
        loadings = np.asarray(self.loadings, dtype=np.float64)
        check_number("max_features", max_features, low=1, integer=True)
        names = self.feature_names
        if names is None:
            names = [f"x{k}" for k in range(len(importances))]
        if len(names) != len(importances):
            raise ValueError(
                f"feature_names has {len(names)} names, but there are {len(importances)} features."
            )
        (left, right), figure = panels(ax)
        top = np.argsort(-importances, kind="stable")[:max_features]
        rows = np.arange(len(top))
        left.barh(rows, importances[top], color=BLUE)
        # Names are shown as they are: a $ in one begins no formula.
        left.set_yticks(rows, [str(names[k]) for k in top], parse_math=False)
        left.set(xlabel="mean squared distance", ylim=(len(top) - 0.5, -0.5))
        left.set_xlim(left=0)
        rest = f" (top {len(top)})" if len(top) < len(importances) else ""
        left.set_title(f"Importance{rest}")
        right.set_title("Loadings")
        if loadings.size:
            _draw_numbers(right, loadings[:, top].T)
        else:
            say(right, "The metric is zero.")
        self.axes_, self.figure_ = np.array([left, right]), figure
        return self


def _draw_numbers(ax: Axes, values: Array) -> None:
    """Draw numbers on colors, orange if positive and violet if negative."""
    largest = np.abs(values).max(initial=0.0) or 1.0
    ax.imshow(values, cmap="PuOr_r", vmin=-largest, vmax=largest, aspect="auto")
    for (row, column), value in np.ndenumerate(values):
        color = "white" if abs(value) > 0.65 * largest else "black"
        ax.text(column, row, f"{value:z.2f}", ha="center", va="center", color=color, fontsize=8)
    ax.set_xticks(range(values.shape[1]), [f"component {k + 1}" for k in range(values.shape[1])])
    ax.set_yticks([])
