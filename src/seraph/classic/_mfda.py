"""MFDA: a projection that keeps dissimilar pairs apart and the manifold of all points intact.

Two scatter matrices of the labelled pairs, one of the points' reconstruction from their
neighbours, and the trace ratio of the three.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestNeighbors

from .._base import MahalanobisLearner
from .._pairs import PairLabels
from .._validation import check_number
from ._scatter import PairSums, centred

# What is added to the diagonal of a neighbourhood's Gram matrix, as a share of its trace:
# without it more neighbours than features leave the weights undetermined.
_RIDGE = 1e-3
# Eigenvalues below this share of the largest are zeros that were rounded.
_ROUNDING = 1e-12
# Numbers gathered at a time for the neighbours of some points.
_CHUNK = 1 << 18


class MFDA(MahalanobisLearner):
    r"""Manifold Fisher discriminant analysis (Baghshah and Shouraki, 2009).

    The metric is :math:`WW'`, for the :math:`W` with orthonormal columns that maximises

    .. math:: \rho(W) = \frac{\mathrm{tr}(W' S_b W)}
              {\mathrm{tr}(W' (S_w + \alpha X' E X) W)}.

    :math:`S_b` and :math:`S_w` are the sums of :math:`(x_i - x_j)(x_i - x_j)'` over the
    dissimilar and the similar pairs; :math:`E = (I - R)'(I - R)`, where :math:`R` has the
    weights by which locally linear embedding writes each point, labelled or not, as a mean of
    its neighbours. So dissimilar pairs are moved apart and similar ones together, along
    directions in which every point stays what its neighbours make of it.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of columns of `W`, at most. None takes half of the dimensions that the pairs
        and the neighbours span, rounded up: see the notes.
    n_neighbors : int, default=10
        Number of neighbours to write a point by; all the others where there are fewer.
    alpha : float or "auto", default="auto"
        Weight of the neighbours. "auto" is the paper's: 0.2, or 0.02 for 5 features or less.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-10
        Where to stop: at this relative rise of the ratio.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The learned map ``W'``: orthonormal rows.
    alpha_ : float
        The weight of the neighbours that was used.
    objective_ : float
        The ratio; infinity where its denominator can be zero.
    converged_ : bool
        Whether the ratio came to rest.
    n_iter_ : int
        Number of iterations.
    history_ : dict of ndarray
        "objective": the ratio of the whole space, and after each iteration. It never falls.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the features, where X has them.

    Notes
    -----
    The best `W` for a given :math:`\rho` are the top eigenvectors of
    :math:`S_b - \rho\,(S_w + \alpha X'EX)`. Setting :math:`\rho` to what they reach and
    repeating is Newton's method for a convex function of :math:`\rho`: it rises to the global
    maximum, and about ten iterations are enough.

    Directions in which neither labelled points nor neighbours differ are left out. Where the
    denominator is zero in as many of the others as are asked for (few similar pairs and
    ``alpha=0``, say), the ratio is infinite there, and `W` is the part of them that has the
    largest numerator, as Xiang, Nie and Zhang (2008) propose for such ratios.

    The fewer the columns, the larger the ratio: it cannot tell how many to take, and a number
    should be chosen by its use, in a grid search for instance. With as many columns as
    features the metric is the Euclidean one; with the number of classes less one, as in
    Fisher's discriminant, it loses much of what tells many classes apart, since the columns
    are not scaled by how well they do so. Half of the dimensions stays clear of both.

    References
    ----------
    M. S. Baghshah, S. B. Shouraki. Semi-supervised metric learning using pairwise
    constraints. IJCAI 2009.

    S. Xiang, F. Nie, C. Zhang. Learning a Mahalanobis distance metric for data clustering
    and classification. Pattern Recognition 41, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from seraph.classic import MFDA
    >>> X, y = load_wine(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> some = np.full(len(y), -1)
    >>> some[::6] = y[::6]  # 30 labels, 148 unlabelled rows
    >>> MFDA(n_components=2).fit(X, some).transform(X).shape
    (178, 2)
    """

    def __init__(
        self,
        *,
        n_components: int | None = None,
        n_neighbors: int = 10,
        alpha: float | Literal["auto"] = "auto",
        max_iter: int = 100,
        tol: float = 1e-10,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        pairs: ArrayLike | None = None,
        pair_labels: ArrayLike | None = None,
    ) -> Self:
        """Learn the metric.

        Class labels, marked pairs, or both can be given; they are merged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            All points, labelled or not.
        y : array-like of shape (n_samples,), optional
            Class labels of any type; -1, NaN, None or pandas.NA where unknown.
        pairs : array-like of int of shape (n_pairs, 2), optional
            Row numbers of pairs of points that are known to be alike or not.
        pair_labels : array-like of shape (n_pairs,), optional
            +1 or True for pairs that are alike, -1 or False for those that are not.

        Returns
        -------
        MFDA
            The fitted learner.
        """
        check_number("n_components", self.n_components, low=1, integer=True, instead=None)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("alpha", self.alpha, low=0, instead="auto")
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0)
        points = self._check_points(X)
        labels = PairLabels.make(len(points), y, pairs, pair_labels)
        auto = 0.02 if points.shape[1] <= 5 else 0.2
        alpha = auto if self.alpha == "auto" else float(self.alpha)

        size = float(np.max(np.abs(points), initial=0.0)) or 1.0
        Z = centred(points / points.dtype.type(size))  # keeps the squares finite
        basis = np.eye(Z.shape[1])
        if Z.shape[1] > len(Z):  # the span of the points is all there is to choose from
            left, lengths, basis = np.linalg.svd(Z, full_matrices=False)
            Z = left * lengths
        apart, together = self._scatters(Z, labels, alpha)
        kept = _range(apart + together)
        apart, together = kept.T @ apart @ kept, kept.T @ together @ kept
        d = min(self.n_components or (len(apart) + 1) // 2, len(apart))
        found = trace_ratio(apart, together, d, self.max_iter, self.tol)
        if not found.converged:
            warnings.warn(
                f"MFDA has not converged: the ratio still rises after {len(found.history) - 1} "
                "iterations. Raise max_iter, or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._learned(
            X,
            (found.W.T @ kept.T @ basis).astype(points.dtype),
            alpha_=alpha,
            objective_=found.history[-1],
            converged_=found.converged,
            n_iter_=len(found.history) - 1,
            history_={"objective": np.array(found.history)},
        )

    def _scatters(self, Z: NDArray, labels: PairLabels, alpha: float) -> tuple[NDArray, NDArray]:
        """Numerator and denominator of the ratio, before the trace."""
        if labels.n_dissimilar == 0:
            raise ValueError(
                f"All {labels.n_similar} labelled pairs are similar: there is nothing to move "
                "apart. Add labels of another class, or dissimilar pairs."
            )
        if labels.n_similar == 0 and alpha == 0.0:
            raise ValueError(
                f"All {labels.n_dissimilar} labelled pairs are dissimilar and alpha is 0: there "
                "is nothing to hold together. Add a second label of some class, or similar "
                "pairs, or set alpha > 0."
            )
        sums = PairSums(labels)
        together, apart = sums.scatters(Z[sums.rows])
        if not np.trace(apart) > _ROUNDING * np.einsum("ij,ij->", Z, Z):
            raise ValueError(
                f"The points of all {labels.n_dissimilar} dissimilar pairs coincide: no metric "
                "can tell them apart. Check X and the labels."
            )
        if alpha > 0.0:
            rest = Z - reconstruction(Z, self.n_neighbors) @ Z
            together = together + alpha * (rest.T @ rest)
        return apart, together


def reconstruction(X: NDArray, n_neighbors: int) -> csr_array:
    """Weights ``R`` that write each point as a mean of its neighbours, ``x_i = sum_j R_ij x_j``.

    ``min ||x_i - sum_j R_ij x_j||^2 + ridge_i sum_j R_ij^2``, with ``sum_j R_ij = 1``

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Points.
    n_neighbors : int
        Number k of neighbours; n - 1 if that is less.

    Returns
    -------
    csr_array of shape (n, n)
        k weights a row, which add up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> reconstruction(np.array([[0.0], [1.0], [2.0]]), 2).toarray()[1]
    array([0.5, 0. , 0.5])
    """
    n, k = len(X), min(n_neighbors, len(X) - 1)
    neighbors = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    weights = np.empty((n, k))
    diagonal = np.arange(k)
    size = max(1, _CHUNK // (k * max(k, X.shape[1])))
    for start in range(0, n, size):
        part = slice(start, start + size)
        offsets = X[neighbors[part]] - X[part, np.newaxis]
        gram = offsets @ offsets.transpose(0, 2, 1)
        trace = np.einsum("ijj->i", gram)
        trace[trace == 0.0] = 1.0  # a point on top of its neighbours: their plain mean
        gram[:, diagonal, diagonal] += _RIDGE * trace[:, np.newaxis]
        weights[part] = np.linalg.solve(gram, np.ones((len(gram), k, 1)))[:, :, 0]
    weights /= weights.sum(axis=1, keepdims=True)
    starts = np.arange(0, n * k + 1, k)
    return csr_array((weights.reshape(-1), neighbors.reshape(-1), starts), shape=(n, n))


def _range(matrix: NDArray) -> NDArray:
    """Orthonormal basis of the range of a positive semi-definite matrix, as columns."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors[:, values > _ROUNDING * values[-1]]


@dataclass(frozen=True)
class Found:
    """Where `trace_ratio` stopped: W, the ratio at each iteration, whether it came to rest."""

    W: NDArray
    history: list[float]
    converged: bool


def trace_ratio(
    numerator: NDArray, denominator: NDArray, d: int, max_iter: int = 100, tol: float = 1e-10
) -> Found:
    """Maximise ``tr(W' numerator W) / tr(W' denominator W)`` over W of d orthonormal columns.

    Parameters
    ----------
    numerator, denominator : ndarray of shape (m, m)
        Positive semi-definite matrices, of which the sum is positive definite.
    d : int
        Number of columns of W.
    max_iter : int, default=100
        Iterations at most.
    tol : float, default=1e-10
        Relative rise of the ratio at which to stop.

    Returns
    -------
    Found

    Examples
    --------
    >>> import numpy as np
    >>> found = trace_ratio(np.diag([3.0, 1.0, 8.0]), np.diag([1.0, 1.0, 2.0]), d=2)
    >>> found.history[-1]  # (3 + 8) / (1 + 2)
    3.66...
    """
    with np.errstate(divide="ignore", over="ignore"):  # infinity is the right answer
        ratio = float(np.trace(numerator) / np.trace(denominator))
    history = [ratio]
    values, vectors = np.linalg.eigh(denominator)
    null = vectors[:, values <= _ROUNDING * np.trace(numerator + denominator)]
    if null.shape[1] >= d:
        _, inner = np.linalg.eigh(null.T @ numerator @ null)
        return Found(null @ inner[:, ::-1][:, :d], [*history, np.inf], True)
    converged = False
    while not converged and len(history) <= max_iter:
        _, vectors = np.linalg.eigh(numerator - ratio * denominator)
        W = vectors[:, ::-1][:, :d]
        above = float(np.einsum("ij,ij->", W, numerator @ W))
        ratio = max(ratio, above / float(np.einsum("ij,ij->", W, denominator @ W)))
        converged = ratio - history[-1] <= tol * ratio
        history.append(ratio)
    return Found(W, history, converged)
