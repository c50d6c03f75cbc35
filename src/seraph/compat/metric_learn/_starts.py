"""Priors and starting points, as metric-learn names them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import make_spd_matrix
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils import check_array, check_random_state

from ..._utils._eigen import eigh, eigvalsh
from ..._utils._typing import Array
from ..._utils._validation import check_choice, check_number
from ..._utils._warnings import warn
from ...classic._definite import power
from ...classic._points import first_map as classic_map
from ...classic._points import subtract_group_means
from ._base import NonPSDError

# The tolerance of SciPy's L-BFGS, which metric-learn uses by default.
SCIPY_TOL = 2.2e-9
# Share of the mean variance that makes a singular scatter invertible.
RIDGE = 1e-6


def metric_matrix(spec: Any, points: Array, random_state: Any, name: str, definite: bool) -> Array:
    """Return the matrix of a prior or a first metric; `name` is that of the parameter.

    A singular matrix is refused if it must be `definite`.
    """
    m = points.shape[1]
    if not isinstance(spec, np.ndarray):
        check_choice(name, spec, ("identity", "covariance", "random"))
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
    else:
        matrix = np.atleast_2d(np.cov(np.unique(points, axis=0), rowvar=False))
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


def prior_root(learner: Any, points: Array) -> Array:
    """Return the root of the prior metric: of points mapped by it, the prior is the identity."""
    seed = learner.random_state
    return power(metric_matrix(learner.prior, points, seed, "prior", definite=True), 0.5)


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
    init: Any, points: Array, y: Array | None, n_components: Any, random_state: Any
) -> Array:
    """Return the first map of a learner; `y` are numbered classes, or None for a regression."""
    m = points.shape[1]
    d = checked_components(n_components, m)
    allowed = ("auto", "pca", "identity", "random") + (("lda",) if y is not None else ())
    if not isinstance(init, np.ndarray):
        check_choice("init", init, allowed)
    n_classes = len(points) if y is None else len(np.unique(y))
    if isinstance(init, str) and init == "auto":
        init = "pca" if d < min(points.shape) else "identity"
        if d < n_classes < len(points):
            init = "lda"
    if y is not None and isinstance(init, str) and init == "lda":
        rows = LinearDiscriminantAnalysis().fit(points, y).scalings_.T[:d]
        # To a variance of 1 within classes, as scikit-learn scaled them up to version 1.8.
        within = subtract_group_means(points.astype(float) @ rows.T, y)
        rows /= np.sqrt(np.sum(within**2, axis=0) / (len(points) - n_classes))[:, np.newaxis]
        return np.vstack([rows, np.zeros((d - len(rows), m))])
    return classic_map(init, points.astype(float) - points.mean(axis=0), d, random_state)


def checked_components(n_components: Any, n_features: int) -> int:
    """Return the number of rows of the map: all features if None."""
    check_number("n_components", n_components, low=1, high=n_features, integer=True, instead=None)
    return n_features if n_components is None else int(n_components)
