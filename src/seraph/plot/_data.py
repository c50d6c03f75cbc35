"""What displays share: points, features and classes of a fitted learner, and axes to draw on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from .._marks import read_classes
from .._utils._optional import optional_module
from .._utils._typing import Array
from .._utils._validation import as_numbers, blame_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

BLUE = "#0072B2"
# Where a display draws: on given axes, or None for a new figure.
Where: TypeAlias = "Axes | Sequence[Axes] | Array | None"


def unwrap(estimator: Any, X: Any) -> tuple[Any, Any, Any]:
    """Return the learner in a pipeline or classifier, its points, and the names of its features.

    The points are mapped by the steps before it; the names are None where they are unknown.
    """
    while hasattr(estimator, "estimator_"):  # a classifier of pairs may hold one of rows
        estimator = estimator.estimator_
    pipeline = estimator
    steps = getattr(pipeline, "steps", None)
    if steps is None:
        return estimator, X, getattr(estimator, "feature_names_in_", None)
    check_is_fitted(pipeline)
    before, learner = pipeline[:-1], steps[-1][1]
    if X is not None and len(before):
        with blame_step(before.steps[0][1] if len(before) == 1 else before):
            X = before.transform(X)
    inner, X, names = unwrap(learner, X)
    if names is None and inner is learner and len(before):
        with suppress(AttributeError, ValueError):  # a step that does not name its features
            names = before.get_feature_names_out()
    return inner, X, names


def require(display: str, estimator: Any, name: str, hint: str) -> Any:
    """Return an attribute of a fitted learner, or raise an error that names the display."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        raise TypeError(
            f"{display} needs a learner with `{name}`, which {type(estimator).__name__} does not "
            f"have: {hint}"
        )
    return getattr(estimator, name)


def before_and_after(display: str, estimator: Any, X: ArrayLike) -> tuple[Array, Array]:
    """Return the points, and the points mapped so that the learned distance is Euclidean."""
    transform = require(display, estimator, "transform", "pass a fitted metric learner.")
    mapped = np.asarray(transform(X), dtype=np.float64)
    with as_numbers("X", X):
        return check_array(X, dtype=np.float64), mapped


def principal(points: Array, k: int) -> tuple[Array, Array, Array]:
    """Return coordinates, directions and shares of variance of the `k` principal components.

    There may be fewer than `k`. The directions have deterministic signs.
    """
    n, m = points.shape
    if m == 0 or not np.ptp(points, axis=0).any():
        return np.empty((n, 0)), np.empty((0, m)), np.empty(0)
    pca = PCA(min(k, n, m), random_state=0).fit(points)
    shares = pca.explained_variance_ratio_
    real = shares > 1e-12  # the rest is rounding
    return pca.transform(points)[:, real], pca.components_[real], shares[real]


def class_codes(labels: ArrayLike | None, n: int, name: str = "y") -> tuple[Array, list[str]]:
    """Return the class codes 0, 1, ..., -1 where unknown, and the names of the classes.

    `name` is that of the labels in error messages.
    """
    codes = np.full(n, -1, dtype=np.intp)
    if labels is None:
        return codes, []
    values, is_known = read_classes(labels, n, name)
    known = values[is_known].tolist()
    ordered = sorted(set(known), key=lambda label: (type(label).__name__, label))
    number = {label: code for code, label in enumerate(ordered)}
    codes[is_known] = [number[label] for label in known]
    return codes, [str(label) for label in ordered]


def panels(ax: Where) -> tuple[list[Axes], Figure | SubFigure]:
    """Return two axes to draw on, and their figure: those in `ax`, or of a new figure if None."""
    if ax is None:
        plt = optional_module("matplotlib.pyplot", "Pictures need matplotlib", "plot")
        figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained")
        return axes.tolist(), figure
    chosen: list[Any] = np.ravel(np.asarray(ax, dtype=object)).tolist()
    if len(chosen) != 2:
        raise ValueError(f"This display draws on 2 axes; got {len(chosen)}: pass 2 axes.")
    return chosen, chosen[0].figure


def say(ax: Axes, text: str) -> None:
    """Write in the middle of empty axes why there is nothing to see."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color="0.35")
    ax.set(xticks=[], yticks=[])
