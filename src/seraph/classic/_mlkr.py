"""MLKR: the metric for kernel regression of a numeric target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import RegressorTags, Tags, assert_all_finite, column_or_1d

from .._points import to_memory
from .._utils._typing import Array
from .._utils._validation import shown
from ._lbfgs import lbfgs
from ._learner import Learner, check_components
from ._points import add_laplacian, center_points, first_map, neighbor_weights


@dataclass(eq=False, repr=False, kw_only=True)
class MLKR(Learner):
    r"""Metric learning for kernel regression (Weinberger and Tesauro, 2007).

    The targets are numbers. Each is predicted by the mean of the others, weighted by their
    distance, and the metric minimizes the squared errors

    .. math:: \sum_i (y_i - \hat y_i)^2, \qquad
              \hat y_i = \frac{\sum_{j \neq i} e^{-d_{ij}^2} y_j}{\sum_{j \neq i} e^{-d_{ij}^2}}.

    Use it before a regression by nearest neighbors or by a Gaussian kernel. With n known targets,
    an iteration takes O(n^2 m) time and O(n m) memory. It starts at the scale of X: features of
    unit variance suit it.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    init : {"pca", "identity", "random"} or ndarray, default="pca"
        Where to start: the principal components of all points, the (first `n_components`)
        features as they are, normally distributed numbers, or a map of shape (n_components,
        n_features). Without `n_components`, "pca" is the same as "identity".
    max_iter : int, default=1000
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-5
        Stop where an iteration lowers the objective by less than this, relatively.
    random_state : int, RandomState instance or None, default=None
        Seed of ``init="random"``; nothing else is random.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``P``; the metric is ``P'P``.
    objective_ : float
        Sum of the squared errors.
    converged_, n_iter_ : bool and int
        Whether L-BFGS stopped before `max_iter`, and the number of iterations.

    References
    ----------
    K. Q. Weinberger, G. Tesauro. Metric learning for kernel regression. AISTATS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from seraph.classic import MLKR
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> learner = MLKR().fit(X, X[:, 0] ** 2)  # only the first feature matters
    >>> weights = np.diag(learner.get_mahalanobis_matrix())
    >>> bool(weights[0] > 10 * weights[1:].max())
    True
    """

    n_components: int | None = None
    init: Literal["pca", "identity", "random"] | Array = "pca"
    max_iter: int = 1000
    tol: float = 1e-5
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn the metric from the numbers that belong to some or all of the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Target of each point, a number; NaN where it is unknown.
        """
        self._check_parameters()
        points = self._check_points(X)
        targets = _targets(y, len(points))
        return self._fit_points(X, points, partial(self._learn, points, targets))

    def _learn(self, points: Array, targets: Array) -> tuple[Array, dict[str, Any]]:
        check_components(self.n_components, points.shape[1])
        Z = center_points(points)
        known = ~np.isnan(targets)
        error = _SquaredErrors(Z[known], targets[known])
        result = lbfgs(
            error,
            first_map(self.init, Z, self.n_components, self.random_state),
            max_iter=self.max_iter,
            ftol=float(self.tol),
        )
        value, converged = float(result.fun) * error.scale, result.nit < self.max_iter
        return result.x, self._certified(value, result.nit, converged=converged)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.regressor_tags = RegressorTags()  # its targets are numbers: -1 is one, too
        return tags


class _SquaredErrors:
    """The objective and its gradient, for targets scaled to unit variance."""

    def __init__(self, X: Array, y: Array) -> None:
        self.X = X
        self.scale = float(y.var())
        self.y = (y - y.mean()) / np.sqrt(self.scale)

    def __call__(self, P: Array) -> tuple[float, Array]:
        Z = self.X @ P.T
        value, product = 0.0, np.zeros_like(Z)
        for rows, weights in neighbor_weights(Z):
            predicted = weights @ self.y
            error = predicted - self.y[rows]
            value += float(error @ error)
            # d/d(d2_ij) of the sum is -2 error_i weights_ij (y_j - predicted_i).
            slopes = -2.0 * error[:, np.newaxis] * (self.y - predicted[:, np.newaxis])
            add_laplacian(product, Z, rows, weights * slopes)
        return value, 2.0 * product.T @ self.X  # d2_ij = ||P (x_i - x_j)||^2


def _targets(y: ArrayLike, n: int) -> Array:
    """Check the targets and return them as floats; NaN where unknown."""
    if y is None:
        raise ValueError(
            "MLKR requires y to be passed, but the target y is None: pass one number for each row "
            "of X, NaN where it is unknown."
        )
    try:
        targets = column_or_1d(to_memory(y), dtype=np.float64, warn=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must be a 1d array of numbers, one for each row of X; got {shown(y)}. For "
            "classes, use another learner, such as NCA."
        ) from error
    assert_all_finite(targets, allow_nan=True, input_name="y")
    if len(targets) != n:
        raise ValueError(
            f"y must hold one number for each of the {n} rows of X, NaN where it is unknown; got "
            f"{len(targets)}."
        )
    known = targets[~np.isnan(targets)]
    if len(known) < 3 or np.ptp(known) == 0.0:
        raise ValueError(
            "MLKR needs at least three labeled rows (with a target in y) whose targets differ; "
            f"got {len(known)}, with {len(np.unique(known))} different target(s)."
        )
    return targets
