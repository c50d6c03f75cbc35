"""Neighbourhood components analysis (Goldberger et al. 2004), which scikit-learn does."""

from __future__ import annotations

import warnings
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import euclidean_distances
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.utils import Tags

from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._validation import check_choice, check_number
from ._classes import labeled_classes

_STARTS = ("pca", "identity", "random")
# Gradients below this are zero; with tol=0 L-BFGS would divide by the squares of such steps.
_FLAT = 1e-100


class NCA(MahalanobisLearner):
    r"""Neighbourhood components analysis (Goldberger, Roweis, Hinton and Salakhutdinov, 2004).

    Each labelled point picks another one at random, the nearer the likelier. The metric
    maximises how many are expected to pick one of their own class,

    .. math:: \sum_i \sum_{j: y_j = y_i} p_{ij}, \qquad
              p_{ij} = \frac{e^{-d^2_{ij}}}{\sum_{k \neq i} e^{-d^2_{ik}}}.

    This is :class:`sklearn.neighbors.NeighborhoodComponentsAnalysis` on the labelled rows;
    the unlabelled ones have no influence. It learns from class labels alone, holds an array
    of the labelled rows by the labelled rows, and starts at the scale of X: features of unit
    variance suit it.

    Parameters
    ----------
    n_components : int, optional
        Number of rows of the learned map; by default that of the features.
    init : {"pca", "identity", "random"} or ndarray, default="pca"
        Where to start: the principal components of the labelled rows, the features as they
        are (the first `n_components` of them), normal numbers, or a map of shape
        (n_components, n_features). Without `n_components` "pca" is "identity", the Euclidean
        metric, which all the components would make too.
    max_iter : int, default=200
        Iterations of L-BFGS at most.
    tol : float, default=1e-5
        Tolerance of L-BFGS.
    random_state : int, RandomState instance or None, default=0
        Seed of ``init="random"``, and of the randomised decomposition that "pca" takes for
        large data. The default makes every fit give the same.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``P``; the metric is ``P'P``.
    objective_ : float
        Value of the objective: how many of the labelled points are expected to be right.
    converged_ : bool
        Whether L-BFGS stopped before `max_iter`.
    n_iter_ : int
        Iterations.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    References
    ----------
    J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov. Neighbourhood components
    analysis. NIPS 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import NCA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> learner = NCA(n_components=2).fit(X, y)
    >>> learner.transform(X).shape
    (178, 2)
    """

    def __init__(
        self,
        *,
        n_components: int | None = None,
        init: Literal["pca", "identity", "random"] | NDArray = "pca",
        max_iter: int = 200,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric from the labelled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Points.
        y : array-like of shape (n_samples,)
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs, pair_labels : array-like, optional
            Accepted only where they follow from `y`: the method needs classes.

        Returns
        -------
        NCA
            The fitted learner.
        """
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        if not isinstance(self.init, np.ndarray):
            check_choice("init", self.init, _STARTS)
        points = self._check_points(X)
        if self.n_components is not None and self.n_components > points.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is more than there can be: X has "
                f"{points.shape[1]} features."
            )
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        labeled, codes = labeled_classes(self, points, labels)
        found = NeighborhoodComponentsAnalysis(
            n_components=self.n_components,
            init=self._start(labeled),
            max_iter=self.max_iter,
            tol=max(self.tol, _FLAT),
            random_state=self.random_state,
        ).fit(labeled, codes)
        n_iter = found.n_iter_ - 1  # scikit-learn counts the first evaluation too
        if n_iter >= self.max_iter:
            warnings.warn(
                f"NCA has not converged ({n_iter} iterations). Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._learned(
            X,
            found.components_.astype(points.dtype),
            objective_=_expected_right(labeled @ found.components_.T, codes),
            converged_=n_iter < self.max_iter,
            n_iter_=max(1, n_iter),
        )

    def _start(self, labeled: NDArray) -> str | NDArray:
        """What scikit-learn should start from."""
        if isinstance(self.init, str) and self.init == "pca":
            all_of_them = min(labeled.shape)
            return "pca" if (self.n_components or all_of_them) < all_of_them else "identity"
        return self.init

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _expected_right(Z: NDArray, codes: NDArray) -> float:
    """Number of the points that are expected to pick one of their own class."""
    squared = euclidean_distances(Z, squared=True)
    np.fill_diagonal(squared, np.inf)
    picks = softmax(-squared, axis=1)
    return float(picks[codes[:, np.newaxis] == codes].sum())
