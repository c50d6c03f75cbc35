"""Priors and starting points, as metric-learn names them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_spd_matrix
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_array, check_random_state

from ..._utils._eigen import eigh, eigvalsh
from ..._utils._typing import Array
from ..._utils._validation import shown
from ..._utils._warnings import warn
from .exceptions import NonPSDError


def metric_matrix(spec: Any, points: Array, random_state: Any, name: str, definite: bool) -> Array:
    """Return the matrix of a prior or a first metric.

    Parameters
    ----------
    spec : {"identity", "covariance", "random"} or ndarray
        What the user asked for.
    points : ndarray of shape (n, m)
        Points.
    random_state : int, RandomState instance or None
        Seed of "random".
    name : str
        Name of the parameter.
    definite : bool
        Whether to refuse a singular matrix.
    """
    m = points.shape[1]
    if isinstance(spec, np.ndarray):
        matrix = check_array(spec, input_name=name)
        if matrix.shape != (m, m):
            raise ValueError(
                f"{name} must have shape (n_features, n_features) = {(m, m)}; got {matrix.shape}."
            )
        if not np.allclose(matrix, matrix.T):
            raise ValueError(f"`{name}` is not symmetric.")
    elif spec == "identity":
        return np.eye(m)
    elif spec == "random":
        return make_spd_matrix(m, random_state=check_random_state(random_state))
    elif spec == "covariance":
        matrix = _covariance(points)
    else:
        raise ValueError(
            f"{name} must be 'identity', 'covariance', 'random' or an array of shape (n_features, "
            f"n_features); got {shown(spec)}."
        )
    values = eigvalsh(matrix)
    rounding = m * np.finfo(float).eps * np.abs(values).max()
    if values[0] < -rounding:
        raise NonPSDError(f"`{name}` is not positive semi-definite.")
    if definite and values[0] <= rounding:
        raise np.linalg.LinAlgError(
            f"The matrix of `{name}` is not positive definite, and has no inverse: pass another "
            f"`{name}`, or drop features that depend on others."
        )
    if isinstance(spec, str):
        if values[0] <= rounding:
            warn(
                "The covariance of the points has no inverse, and its pseudo-inverse is the "
                f"`{name}`: drop features that depend on others, or reduce their number."
            )
        return np.linalg.pinv(matrix, hermitian=True)
    return np.array(matrix, dtype=float)


def _covariance(points: Array) -> Array:
    """Return the covariance of the different points."""
    unique = np.unique(points, axis=0)
    if len(unique) < 2:
        raise ValueError("All points are equal, so they have no covariance: pass others.")
    with np.errstate(over="ignore", invalid="ignore"):  # it is said below
        matrix = np.atleast_2d(np.cov(unique, rowvar=False))
    if not np.isfinite(matrix).all():
        raise ValueError(
            "The squares of X are beyond the range of numbers, so it has no covariance: "
            "scale the features, with StandardScaler for example."
        )
    return matrix


def components_from_metric(matrix: Array) -> Array:
    """Return the factor of a metric that metric-learn returns: triangular if it is definite."""
    symmetric = (matrix + matrix.T) / 2.0
    if not np.any(symmetric - np.diag(np.diag(symmetric))):
        return np.sqrt(np.maximum(symmetric, 0.0))
    try:
        return np.asarray(np.linalg.cholesky(symmetric).T)
    except np.linalg.LinAlgError:
        values, vectors = eigh(symmetric)
        return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))).T)


def first_map(
    init: Any,
    points: Array,
    y: Array | None,
    n_components: Any,
    random_state: Any,
) -> Array:
    """Return the first map of a learner; `y` are classes, or None for a regression."""
    m = points.shape[1]
    n_components = checked_components(n_components, m)
    if isinstance(init, np.ndarray):
        first = check_array(init, input_name="init")
        if first.shape != (n_components, m):
            raise ValueError(
                f"init must have shape (n_components, n_features) = {(n_components, m)}; got "
                f"{first.shape}."
            )
        return np.array(first, dtype=float)
    allowed = ("auto", "pca", "identity", "random") + (("lda",) if y is not None else ())
    if not isinstance(init, str) or init not in allowed:
        raise ValueError(
            f"init must be one of {allowed}, or an array of shape (n_components, n_features); got "
            f"{shown(init)}."
        )
    if init == "auto":
        n_classes = 0 if y is None else len(np.unique(y))
        init = "pca" if n_components < min(points.shape) else "identity"
        if n_components <= min(m, n_classes - 1) and _has_discriminants(points, y):
            init = "lda"
    if init == "random":
        return np.asarray(check_random_state(random_state).randn(n_components, m))
    if init == "pca" and np.ptp(points, axis=0).any():
        pca = PCA(n_components, random_state=check_random_state(random_state)).fit(points)
        return np.asarray(pca.components_)
    if init == "lda":
        if not _has_discriminants(points, y):
            raise ValueError(
                "init='lda' needs points that differ, and more of them than there are classes. "
                "Choose another init."
            )
        found = LinearDiscriminantAnalysis().fit(points, y).scalings_.T[:n_components]
        return np.vstack([found, np.zeros((n_components - len(found), m))])
    return np.eye(n_components, m)


def _has_discriminants(points: Array, y: Array | None) -> bool:
    """Whether linear discriminant analysis can say anything about these points."""
    return y is not None and len(np.unique(y)) < len(points) and bool(np.ptp(points, axis=0).any())


def checked_components(n_components: Any, n_features: int) -> int:
    """Return the number of rows of the map: all features if None."""
    if n_components is None:
        return n_features
    if not isinstance(n_components, int | np.integer) or not 0 < n_components <= n_features:
        raise ValueError(
            f"Invalid n_components: it must be a whole number from 1 to {n_features}, the "
            f"number of features; got {shown(n_components)}."
        )
    return int(n_components)
