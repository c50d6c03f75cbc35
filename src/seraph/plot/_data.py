"""The content of displays: the points, features and classes of a fitted learner."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA
from sklearn.utils import check_array, get_tags
from sklearn.utils.validation import check_is_fitted

from .._marks import read_classes
from .._utils._typing import Array
from .._utils._validation import as_numbers, blame_step


class Learner(Protocol):
    """Anything with ``fit``; each display documents what else it needs."""

    def fit(self, X: Any, y: Any = None) -> Any: ...


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
    found, X, names = unwrap(learner, X)
    if names is None and found is learner and len(before):
        with suppress(AttributeError, ValueError):  # a step that does not name its features
            names = before.get_feature_names_out()
    return found, X, names


def require(display: str, estimator: Learner, name: str, hint: str) -> Any:
    """Return an attribute of a fitted learner, or raise an error that names the display."""
    check_is_fitted(estimator)
    if not hasattr(estimator, name):
        raise TypeError(
            f"{display} needs a learner with `{name}`, which {type(estimator).__name__} does not "
            f"have: {hint}"
        )
    return getattr(estimator, name)


def before_and_after(display: str, estimator: Learner, X: ArrayLike) -> tuple[Array, Array]:
    """Return the points, and the points mapped so that the learned distance is Euclidean."""
    transform = require(display, estimator, "transform", "pass a fitted metric learner.")
    if get_tags(estimator).input_tags.pairwise:
        raise TypeError(
            f"{display} compares the learned distance with the Euclidean one, but this "
            f"{type(estimator).__name__} takes kernel values: there are no points."
        )
    mapped = np.asarray(transform(X), dtype=np.float64)
    with as_numbers("X", X):
        return check_array(X, dtype=np.float64), mapped


def principal(points: Array, k: int) -> tuple[Array, Array, Array]:
    """Return the `k` leading principal components, or fewer if there are no more.

    Returns
    -------
    coordinates : ndarray of shape (n, k)
        Of the points.
    directions : ndarray of shape (k, m)
        The components, with deterministic signs.
    shares : ndarray of shape (k,)
        Of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> coordinates, directions, _ = principal(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]), 2)
    >>> coordinates.shape, directions
    ((3, 1), array([[1., 0.]]))
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

    Examples
    --------
    >>> class_codes(["b", "a", None, "b", -1], 5)
    (array([ 1,  0, -1,  1, -1]), ['a', 'b'])
    """
    codes = np.full(n, -1, dtype=np.intp)
    if labels is None:
        return codes, []
    values, is_known = read_classes(labels, n, name)
    known = values[is_known].tolist()
    try:
        ordered = sorted(set(known))
    except TypeError:  # labels of different types cannot be compared
        ordered = sorted(set(known), key=str)
    number = {label: code for code, label in enumerate(ordered)}
    codes[is_known] = [number[label] for label in known]
    return codes, [str(label) for label in ordered]
