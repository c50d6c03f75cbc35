"""Neighborhood components analysis (Goldberger et al. 2004), as scikit-learn implements it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from .._marks import PairLabels
from .._points import subtract_mean
from .._utils._typing import Array
from ._learner import ClassLabelLearner, check_components
from ._points import extend_map, first_map, neighbor_weights, project_to_span

# With tol=0, L-BFGS would go on until the squared steps that it divides by underflow to 0.
_SMALLEST_TOL = 1e-100


@dataclass(eq=False, repr=False, kw_only=True)
class NCA(ClassLabelLearner):
    r"""Neighborhood components analysis (Goldberger, Roweis, Hinton and Salakhutdinov, 2004).

    Each labeled point picks another one at random, the closer the likelier. The metric
    maximizes the number of points that are expected to pick one of their own class,

    .. math:: \sum_i \sum_{j: y_j = y_i} p_{ij}, \qquad
              p_{ij} = \frac{e^{-d^2_{ij}}}{\sum_{k \neq i} e^{-d^2_{ik}}}.

    This is :class:`sklearn.neighbors.NeighborhoodComponentsAnalysis` on the labeled rows;
    unlabeled rows have no influence. It learns from class labels alone, holds an array with an
    entry for every pair of labeled rows, and starts at the scale of X: features of unit variance
    suit it.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; the number of features if None.
    init : {"pca", "identity", "random"} or ndarray, default="pca"
        Where to start: the principal components of the labeled rows, the (first
        `n_components`) features as they are, normally distributed numbers, or a map of shape
        (n_components, n_features). Without `n_components`, "pca" is the same as "identity":
        all components together make the Euclidean metric.
    max_iter : int, default=200
        Maximum number of iterations of L-BFGS.
    tol : float, default=1e-5
        Tolerance of L-BFGS.
    random_state : int, RandomState instance or None, default=None
        Seed of ``init="random"``; nothing else is random.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``P``; the metric is ``P'P``.
    objective_ : float
        Value of the objective: the expected number of labeled points that pick their own class.
    converged_, n_iter_ : bool and int
        Whether L-BFGS stopped before `max_iter`, and the number of iterations.

    References
    ----------
    J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov. Neighbourhood components
    analysis. NIPS 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from seraph.classic import NCA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> learner = NCA(n_components=2).fit(X, y)
    >>> learner.transform(X).shape
    (178, 2)
    """

    n_components: int | None = None
    init: Literal["pca", "identity", "random"] | Array = "pca"
    max_iter: int = 200
    tol: float = 1e-5
    random_state: int | np.random.RandomState | None = None

    def _learn(self, points: Array, labels: PairLabels) -> tuple[Array, dict[str, Any]]:
        check_components(self.n_components, points.shape[1])
        rows = np.flatnonzero(labels.codes >= 0)
        # scikit-learn computes distances from squares, which are inexact far from the origin.
        labeled = subtract_mean(self._labeled_points(points, labels, rows))
        codes, basis = labels.codes[rows], None
        if self.n_components is None and isinstance(self.init, str) and self.init != "random":
            # From the identity, the map changes in the span of the points only.
            labeled, basis = project_to_span(labeled)
        nca = NeighborhoodComponentsAnalysis(
            init=first_map(self.init, labeled, self.n_components, self.random_state),
            max_iter=self.max_iter,
            tol=max(self.tol, _SMALLEST_TOL),
        ).fit(labeled, codes)
        n_iter = nca.n_iter_ - 1  # scikit-learn counts the first evaluation too
        picks_of = neighbor_weights(labeled @ nca.components_.T)
        value = sum(float(p[codes[rows, np.newaxis] == codes].sum()) for rows, p in picks_of)
        solved = self._certified(value, n_iter, converged=n_iter < self.max_iter)
        return extend_map(nca.components_, basis), solved
